-- schema 40: the tables of an empty record, as its migrations make them. Written by
-- go test ./internal/store/sqlite -run TestFreshSchema -update

CREATE TABLE meta (
    name  text not null primary key,
    value text not null
) strict, without rowid;

CREATE TABLE spaces (
    id         text    not null primary key,
    kind       text    not null check (kind in ('room', 'inner')),
    name       text    not null,
    circle     text    not null,
    wake       text    not null,
    direct     integer not null,
    closed     integer not null,
    agent_run  integer not null default 0,
    readers    integer not null default 0, -- the set that can read it now
    config_key text,                       -- the entry of the configuration it comes from
    created_at integer not null
) strict, without rowid;

CREATE UNIQUE INDEX spaces_config_key on spaces (config_key) where config_key is not null;

CREATE TABLE branches (
    space       text    not null references spaces (id),
    id          text    not null,
    from_branch text    not null default '',
    fork_seq    integer not null default 0,
    head        text    not null default '',
    head_seq    integer not null default 0,
    chain       blob    not null,           -- running hash up to the head
    last_at     integer not null default 0, -- when the head was recorded
    primary key (space, id)
) strict, without rowid;

CREATE TABLE events (
    n        integer not null primary key, -- the order of recording over all spaces
    space    text    not null,
    branch   text    not null,
    seq      integer not null,
    id       text    not null,
    parents  text    not null, -- JSON array of ids
    object   text    not null,
    thread   text    not null,
    reply_to text    not null,
    kind     text    not null,
    actor    text    not null,
    at       integer not null,
    recv_at  integer not null,
    source   text,             -- identity of the content on its platform
    readers  integer not null,
    cause    text    not null,
    root     text    not null,
    depth    integer not null,
    body     blob    not null,
    chain    blob    not null, -- running hash of the branch after this event
    unique (space, branch, seq)
) strict;

CREATE UNIQUE INDEX events_id on events (id);

CREATE UNIQUE INDEX events_source on events (space, source) where source is not null;

CREATE INDEX events_self on events (space, branch, seq)
    where kind = 'noted' or kind = 'goal' or kind = 'remembered' or kind = 'forgot' or kind = 'bookmarked';

CREATE TABLE strays (
    n       integer not null primary key,
    account text    not null,
    space   text    not null,
    source  text    not null,
    reason  text    not null,
    at      integer not null,
    body    blob    not null
) strict;

CREATE TABLE mappings (
    account text    not null,
    chat    text    not null,
    space   text    not null references spaces (id),
    object  text    not null,
    title   text    not null,
    relay   integer not null,
    live    integer not null,
    n       integer not null, -- order of mapping
    primary key (account, chat, space)
) strict, without rowid;

CREATE INDEX mappings_space on mappings (space);

CREATE TABLE messages (
    account text    not null,
    chat    text    not null,
    message text    not null,
    space   text    not null, -- empty for what the process itself said, and so is event
    event   text    not null,
    part    integer not null, -- from 0
    own     integer not null, -- 1: sent by one of our actions
    primary key (account, chat, message, space)
) strict, without rowid;

CREATE INDEX messages_event on messages (event, account, chat, part);

CREATE TABLE entities (
    id     text not null primary key,
    kind   text not null,
    name   text not null,
    handle text not null
, portrait text not null default '') strict, without rowid;

CREATE TABLE identities (
    platform text not null,
    scope    text not null,
    user_id  text not null,
    entity   text not null references entities (id),
    primary key (platform, scope, user_id)
) strict, without rowid;

CREATE INDEX identities_entity on identities (entity);

CREATE TABLE members (
    space  text    not null references spaces (id),
    entity text    not null,
    since  integer not null,
    primary key (space, entity)
) strict, without rowid;

CREATE INDEX members_since on members (space, since, entity);

CREATE TABLE readers (
    id     integer not null primary key,
    space  text    not null references spaces (id),
    hash   blob    not null, -- of the members, in no order
    base   integer not null,
    entity text    not null,
    added  integer not null,
    size   integer not null,
    unique (space, hash)
) strict;

CREATE TABLE uplinks (
    agent     text    not null,
    circle    text    not null,
    space     text    not null references spaces (id),
    cursor    integer not null,
    cursor_id text    not null,
    live      integer not null,
    muted     integer not null default 0,
    opened_at integer not null,
    n         integer not null, fresh integer not null default 0, fresh_at integer not null default 0, -- order of opening within the agent
    primary key (agent, circle, space)
) strict, without rowid;

CREATE INDEX uplinks_space on uplinks (space);

CREATE TABLE spans (
    id        integer not null primary key,
    agent     text    not null,
    circle    text    not null,
    space     text    not null references spaces (id),
    from_seq  integer not null,
    from_id   text    not null,
    to_seq    integer not null default 0,
    to_id     text    not null default '',
    opened_at integer not null,
    closed_at integer not null default 0,
    opener    text    not null,
    closer    text    not null default '',
    checked   integer not null default 0,
    check (closed_at = 0 or closer <> '')
) strict;

CREATE INDEX spans_uplink on spans (agent, circle, space, id);

CREATE UNIQUE INDEX spans_open on spans (space, agent, circle) where closed_at = 0;

CREATE TABLE inbox (
    agent      text    not null,
    circle     text    not null,
    space      text    not null references spaces (id),
    seq        integer not null,
    event      text    not null,
    root       text    not null,
    depth      integer not null,
    state      text    not null check (state = 'ready' or state = 'claimed' or state = 'consumed' or state = 'ignored' or state = 'dead'),
    reason     text    not null default '',
    attempts   integer not null default 0,
    crashes    integer not null default 0,
    cycle      text    not null default '',
    not_before integer not null default 0,
    at         integer not null,
    primary key (agent, circle, space, seq),
    check ((state in ('claimed', 'consumed')) = (cycle <> '')),
    check (reason <> '' or (state <> 'ignored' and state <> 'dead'))
) strict, without rowid;

CREATE INDEX inbox_ready on inbox (agent, circle, space, seq, at, not_before) where state = 'ready';

CREATE INDEX inbox_cycle on inbox (cycle, seq) where cycle <> '';

CREATE TABLE leases (
    agent   text    not null,
    circle  text    not null,
    space   text    not null, -- empty for wakes without one
    holder  text    not null,
    epoch   integer not null,
    ttl     integer not null, -- how long it lasts from each commit on
    expires integer not null, -- 0 once it is given back
    refused integer not null default 0, -- writes turned away for an old epoch
    primary key (agent, circle, space)
) strict, without rowid;

CREATE TABLE cycles (
    id        text    not null primary key,
    agent     text    not null,
    circle    text    not null,
    space     text    not null, -- empty for a wake without one
    epoch     integer not null,
    state     text    not null check (state = 'open' or state = 'closed' or state = 'abandoned'),
    wake      text    not null,
    active    text    not null,
    upto      integer not null,
    base      integer not null,
    n         integer,          -- its number among the closed cycles of the mind
    stop      text,
    detail    text    not null default '',
    rest      text    not null default '',
    derived   integer not null default 0,
    prompt    integer not null default 0,
    cached    integer not null default 0,
    output    integer not null default 0,
    estimated integer not null default 0,
    calls     integer not null default 0,
    denials   integer not null default 0,
    manifest  text    not null default '',
    plan      blob,
    started   integer not null,
    ended     integer not null default 0,
    crashes   integer not null default 0,
    turns     integer not null default 0, -- how many it has
    tokens    integer not null default 0, -- of its turns
    actions   integer not null default 0, -- next ordinal
    timer     text    not null default '', -- the timer that woke it
    inner_from integer not null,           -- its part of the inner log
    inner_to   integer not null default 0, halted integer not null default 0, authority integer not null default 1,
    check (state = 'open' or stop is not null),
    check ((state = 'closed') = (n is not null))
) strict, without rowid;

CREATE UNIQUE INDEX cycles_open on cycles (agent, circle, space) where state = 'open';

CREATE UNIQUE INDEX cycles_number on cycles (agent, circle, n);

CREATE TABLE steps (
    cycle     text    not null references cycles (id),
    n         integer not null,
    phase     text    not null,
    state     text    not null check (state = 'started' or state = 'done' or state = 'unknown'),
    request   text    not null default '',
    finish    text    not null default '',
    prompt    integer not null default 0,
    cached    integer not null default 0,
    output    integer not null default 0,
    estimated integer not null default 0,
    calls     integer not null default 0,
    at        integer not null,
    frame     blob, shown blob, refs text not null default '[]', system text not null default '',
    primary key (cycle, n)
) strict, without rowid;

CREATE TABLE turns (
    cycle  text    not null references cycles (id),
    n      integer not null,
    refs   text    not null, -- JSON array of the remote events whose words it shows
    tokens integer not null,
    body   blob    not null,
    primary key (cycle, n)
) strict, without rowid;

CREATE TABLE keyframes (
    agent  text    not null,
    circle text    not null,
    n      integer not null,
    refs   text    not null,
    tokens integer not null,
    upto   integer not null,
    cause  text    not null,
    at     integer not null,
    body   blob    not null, plan blob,
    primary key (agent, circle, n)
) strict, without rowid;

CREATE TABLE outbox (
    n          integer not null primary key, -- the order in which actions were decided
    id         text    not null unique,
    cycle      text    not null, -- empty for what the process itself says, and so are space, event and agent
    ordinal    integer not null,
    kind       text    not null check (kind = 'send' or kind = 'edit' or kind = 'delete' or kind = 'react'),
    space      text    not null,
    thread     text    not null,
    event      text    not null,
    root       text    not null,
    depth      integer not null,
    account    text    not null,
    chat       text    not null,
    agent      text    not null,
    text       blob    not null,
    target     text    not null,
    policy     text    not null,
    state      text    not null check (state = 'ready' or state = 'sending' or state = 'unknown' or state = 'sent'
                                    or state = 'failed' or state = 'expired' or state = 'cancelled'),
    part       integer not null default 0,
    attempts   integer not null default 0,
    not_before integer not null default 0,
    expires    integer not null,
    created    integer not null,
    refs       text    not null default '[]', -- JSON, one a part
    resent     integer not null default 0,
    code       text    not null default '',
    reason     text    not null default '',
    settled    integer not null default 0,
    cut        integer not null default 0 -- sent in another form than asked
, voice text not null default '', via text not null default '', files text not null default '[]', room_thread text not null default '', portrait text not null default '', draft text not null default '') strict;

CREATE UNIQUE INDEX outbox_ordinal on outbox (cycle, ordinal) where cycle <> '';

CREATE INDEX outbox_waiting on outbox (account, chat, thread, n) where state in ('ready', 'sending');

CREATE INDEX outbox_failed on outbox (agent, settled)
    where state = 'unknown' or state = 'failed' or state = 'expired' or state = 'cancelled';

CREATE TABLE timers (
    id       text    not null primary key,
    agent    text    not null,
    circle   text    not null,
    kind     text    not null,
    space    text    not null,
    note     text    not null,
    due      integer not null,
    cycle    text    not null,            -- that set it
    fired_by text    not null default '', -- the cycle it woke; empty until it fires
    fired_at integer not null default 0
, plan text not null default '', cron text not null default '') strict, without rowid;

CREATE INDEX timers_due on timers (due) where fired_by = '';

CREATE INDEX timers_mind on timers (agent, circle, kind) where fired_by = '';

CREATE TABLE denials (
    n      integer not null primary key,
    agent  text    not null,
    circle text    not null,
    act    text    not null,
    code   text    not null,
    reason text    not null,
    hint   text    not null,
    space  text    not null,
    cycle  text    not null,
    phase  text    not null,
    tier   text    not null,
    risk   text    not null,
    at     integer not null
) strict;

CREATE INDEX denials_cycle on denials (cycle);

CREATE TABLE usage (
    day    integer not null, -- days since 1970 UTC
    agent  text    not null,
    space  text    not null,
    prompt integer not null,
    cached integer not null,
    output integer not null,
    calls  integer not null,
    primary key (day, agent, space)
) strict, without rowid;

CREATE TABLE roots (
    root     text    not null primary key,
    messages integer not null default 0,
    tokens   integer not null default 0,
    stopped  integer not null default 0
) strict, without rowid;

CREATE TABLE cursors (
    account text    not null primary key,
    data    blob    not null,
    at      integer not null
) strict, without rowid;

CREATE TABLE problems (
    id       integer not null primary key,
    code     text    not null,
    severity text    not null check (severity = 'warn' or severity = 'fail'),
    subject  text    not null,
    evidence text    not null,
    opened   integer not null,
    seen     integer not null,
    count    integer not null,
    well     integer not null default 0, -- since when it has not been seen
    closed   integer not null default 0,
    acked    integer not null default 0, -- nobody is told before this
    told     integer not null default 0, -- how often somebody was told that it is there
    over     integer not null default 0, -- 1: somebody was told that it is over
    check (closed = 0 or well <> 0)
) strict;

CREATE UNIQUE INDEX problems_open on problems (code, subject) where closed = 0;

CREATE INDEX problems_closed on problems (closed);

CREATE INDEX denials_at on denials (at);

CREATE INDEX outbox_unknown on outbox (settled) where state = 'unknown';

CREATE TABLE systems (
    hash text not null primary key,
    text text not null
) strict, without rowid;

CREATE TABLE keys (
    id      text    not null primary key,
    kind    text    not null check (kind = 'token' or kind = 'session' or kind = 'link'),
    name    text    not null,
    hash    text    not null,
    parent  text    not null default '', -- what a session was opened with
    created integer not null,
    expires integer not null default 0,
    used    integer not null default 0 -- when last; a link is good until then
) strict, without rowid;

CREATE UNIQUE INDEX keys_hash on keys (hash);

CREATE INDEX cycles_newest on cycles (started, id);

CREATE INDEX cycles_space on cycles (space, started, id);

CREATE INDEX cycles_agent on cycles (agent, circle, started, id);

CREATE INDEX cycles_stop on cycles (stop, started, id) where stop is not null;

CREATE INDEX denials_agent on denials (agent, n);

CREATE INDEX spans_closed on spans (closed_at, opened_at);

CREATE INDEX keys_parent on keys (parent);

CREATE TABLE jobs (
    id      integer not null primary key,
    kind    text    not null,
    subject text    not null,
    args    blob    not null,
    state   text    not null check (state = 'ready' or state = 'running' or state = 'paused' or state = 'done'
                                 or state = 'failed' or state = 'cancelled'),
    want    text    not null default '' check (want = '' or (state = 'running' and (want = 'paused' or want = 'cancelled'))),
    done    integer not null default 0,
    total   integer not null default 0, -- 0: not known
    unit    text    not null default '',
    rate    real    not null default 0,
    cursor  blob    not null default x'',
    note    text    not null default '',
    until   integer not null default 0,
    error   text    not null default '',
    holder  text    not null default '',
    epoch   integer not null default 0,
    expires integer not null default 0, -- of the lease
    created integer not null,
    started integer not null default 0,
    updated integer not null,
    ended   integer not null default 0,
    check ((state = 'running') = (holder <> ''))
) strict;

CREATE INDEX jobs_waiting on jobs (id) where state = 'ready' or state = 'running';

CREATE TABLE attachments (
    account text    not null,
    file    text    not null, -- the platform's own name for it
    space   text    not null,
    event   text    not null, -- the first message it was seen on
    kind    text    not null,
    name    text    not null,
    size    integer not null, -- bytes as the platform says; 0 when it does not
    state   text    not null check (state in ('wanted', 'stored', 'missing')),
    tries   integer not null default 0,
    due     integer not null,
    hash    text    not null default '', -- SHA-256 of the bytes, in hex
    bytes   integer not null default 0,
    media   text    not null default '', -- what the bytes look like
    reason  text    not null default '', -- why it was not fetched, the last time
    primary key (account, file)
) strict, without rowid;

CREATE INDEX attachments_hash on attachments (hash) where hash <> '';

CREATE INDEX attachments_due on attachments (account, due) where state = 'wanted';

CREATE TABLE roles (
    platform text    not null,
    scope    text    not null,
    user_id  text    not null,
    source   text    not null check (source = 'config' or source = 'pairing'),
    role     integer not null,
    primary key (platform, scope, user_id, source)
) strict, without rowid;

CREATE TABLE refusals (
    account  text    not null,
    chat     text    not null,
    scope    text    not null,
    user_id  text    not null,
    kind     text    not null,
    n        integer not null,
    first_at integer not null,
    last_at  integer not null,
    primary key (account, chat, scope, user_id, kind)
) strict, without rowid;

CREATE INDEX refusals_last on refusals (last_at);

CREATE TABLE senders (
    day    integer not null,
    entity text    not null,
    tokens integer not null,
    primary key (day, entity)
) strict, without rowid;

CREATE TABLE file_relays (
    account text    not null,
    file    text    not null, -- the platform's own name for it
    event   text    not null, -- the message that shows it
    n       integer not null, -- which of its files it is, from 0
    primary key (account, file, event, n)
) strict, without rowid;

CREATE INDEX file_relays_event on file_relays (event);

CREATE TABLE voices (
    account text    not null,
    file    text    not null, -- the platform's own name for it
    at      integer not null, -- when it was stored
    due     integer not null,
    tries   integer not null default 0,
    state   text    not null check (state in ('wanted', 'heard', 'unheard')),
    primary key (account, file)
) strict, without rowid;

CREATE INDEX voices_due on voices (due) where state = 'wanted';

CREATE TABLE redacted (
    agent  text not null,
    circle text not null,
    event  text not null,
    primary key (agent, circle, event)
) strict, without rowid;

CREATE INDEX members_entity on members (entity, space);

CREATE TABLE sightings (
    space   text    not null,
    account text    not null,
    source  text    not null, -- the account's own name for the fact
    alike   text    not null, -- what all of them know it by
    n       integer not null,
    at      integer not null,
    primary key (space, account, source)
) strict, without rowid;

CREATE INDEX sightings_alike on sightings (space, account, alike);

CREATE INDEX sightings_at on sightings (at);

CREATE TABLE threads (
    space    text    not null,
    thread   text    not null, -- as the room calls it: as the chat does in which it began
    platform text    not null,
    chat     text    not null,
    there    text    not null, -- as this chat calls it
    root     text    not null,
    title    text    not null, -- may be empty
    began    integer not null, -- 1: in this chat
    primary key (space, platform, chat, there)
) strict, without rowid;

CREATE INDEX threads_thread on threads (space, thread);

CREATE INDEX threads_root on threads (space, root);

CREATE INDEX events_thread on events (space, thread, seq) where thread <> '';

CREATE TABLE showings (
    account text not null,
    file    text not null, -- the platform's own name for it
    event   text not null,
    primary key (account, file, event)
) strict, without rowid;

CREATE INDEX showings_event on showings (event);

CREATE TABLE digests (
    agent   text    not null,
    circle  text    not null,
    first   integer not null, -- numbers of cycles
    last    integer not null,
    body    text    not null,
    sources text    not null, -- events, JSON
    readers text    not null, -- entities, JSON
    model   text    not null,
    at      integer not null,
    primary key (agent, circle, first)
) strict, without rowid;

CREATE TABLE line_spans (
    line    text    not null, -- entry of the configuration
    began   integer not null,
    seen    integer not null,
    account text    not null, -- empty before the first connection
    state   text    not null,
    reason  text    not null,
    primary key (line, began)
) strict, without rowid;

CREATE INDEX line_spans_seen on line_spans (seen);

CREATE TABLE waits (
    cycle    text not null primary key references cycles (id), -- that asked
    agent    text not null,
    circle   text not null,
    space    text not null references spaces (id),
    thread   text not null,
    message  text not null,             -- the event that asks
    seq      integer not null,             -- of it
    call     text not null,             -- the call that asked
    who      text not null,             -- JSON array of entities; all of them are to answer
    people   integer not null,             -- with nobody named: only people's words count
    root     text not null,
    depth    integer not null,
    started  integer not null,
    due      integer not null,             -- its time is up, or it may be told
    state    text not null,             -- open, over, told
    outcome  text not null default '',
    answers  text not null default '[]', -- JSON array
    woke     text not null default '',  -- the cycle it woke
    attempts integer not null default 0
) strict, without rowid;

CREATE INDEX waits_due on waits (due) where state <> 'told';

CREATE INDEX waits_space on waits (space) where state <> 'told';

CREATE INDEX waits_mind on waits (agent, circle) where state <> 'told';

CREATE INDEX waits_woke on waits (woke) where woke <> '';

CREATE TABLE meanings (
    event  text    not null primary key,
    space  text    not null,
    seq    integer not null, -- of the event in its space
    model  text    not null,
    vector blob    not null  -- one signed byte a number
) strict, without rowid;

CREATE INDEX meanings_space on meanings (space, seq);

CREATE TABLE drafts (
    id      text    not null primary key,
    cycle   text    not null,
    step    integer not null,
    agent   text    not null,
    space   text    not null,
    account text    not null,
    chat    text    not null,
    thread  text    not null,
    target  text    not null, -- event answered
    text    blob    not null, -- as it was first posted
    message text    not null default '', -- empty: nobody knows yet whether it was posted
    at      integer not null
) strict, without rowid;

CREATE INDEX drafts_account on drafts (account);

CREATE TABLE seen (
    event text not null,
    cycle text not null,
    primary key (event, cycle)
) strict, without rowid;

CREATE TABLE unseen (
    cycle text not null primary key
) strict, without rowid;
