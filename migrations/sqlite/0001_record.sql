-- +goose Up

-- Times are milliseconds since 1970 UTC, 0 where there is none. Flags are 0 or 1.
-- Bodies are opaque bytes: nothing here looks into them.
-- Conditions on more than two values are written with or: the engine would build
-- a table for every list each time a row is written.

create table meta (
    name  text not null primary key,
    value text not null
) strict, without rowid;

create table spaces (
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

create unique index spaces_config_key on spaces (config_key) where config_key is not null;

create table branches (
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

create table events (
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

create unique index events_id on events (id);
create unique index events_source on events (space, source) where source is not null;
create index events_self on events (space, branch, seq)
    where kind = 'noted' or kind = 'goal' or kind = 'remembered' or kind = 'forgot' or kind = 'bookmarked';

-- Updates whose space does not exist: there is no log that could hold them.
create table strays (
    n       integer not null primary key,
    account text    not null,
    space   text    not null,
    source  text    not null,
    reason  text    not null,
    at      integer not null,
    body    blob    not null
) strict;

create table mappings (
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

create index mappings_space on mappings (space);

-- Where messages stand on platforms, both ways.
create table messages (
    account text    not null,
    chat    text    not null,
    message text    not null,
    space   text    not null, -- empty for what the process itself said, and so is event
    event   text    not null,
    part    integer not null, -- from 0
    own     integer not null, -- 1: sent by one of our actions
    primary key (account, chat, message, space)
) strict, without rowid;

create index messages_event on messages (event, account, chat, part);

create table entities (
    id     text not null primary key,
    kind   text not null,
    name   text not null,
    handle text not null
) strict, without rowid;

create table identities (
    platform text not null,
    scope    text not null,
    user_id  text not null,
    entity   text not null references entities (id),
    primary key (platform, scope, user_id)
) strict, without rowid;

create index identities_entity on identities (entity);

create table members (
    space  text    not null references spaces (id),
    entity text    not null,
    since  integer not null,
    primary key (space, entity)
) strict, without rowid;

create index members_since on members (space, since, entity);

-- A set of readers is an earlier set with one entity more or less. Set 0 is empty.
create table readers (
    id     integer not null primary key,
    space  text    not null references spaces (id),
    hash   blob    not null, -- of the members, in no order
    base   integer not null,
    entity text    not null,
    added  integer not null,
    size   integer not null,
    unique (space, hash)
) strict;

create table uplinks (
    agent     text    not null,
    circle    text    not null,
    space     text    not null references spaces (id),
    cursor    integer not null,
    cursor_id text    not null,
    live      integer not null,
    muted     integer not null default 0,
    opened_at integer not null,
    n         integer not null, -- order of opening within the agent
    primary key (agent, circle, space)
) strict, without rowid;

create index uplinks_space on uplinks (space);

create table spans (
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

create index spans_uplink on spans (agent, circle, space, id);
create unique index spans_open on spans (space, agent, circle) where closed_at = 0;

create table inbox (
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

create index inbox_ready on inbox (agent, circle, space, seq, at, not_before) where state = 'ready';
create index inbox_cycle on inbox (cycle, seq) where cycle <> '';

create table leases (
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

create table cycles (
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
    inner_to   integer not null default 0,
    check (state = 'open' or stop is not null),
    check ((state = 'closed') = (n is not null))
) strict, without rowid;

create unique index cycles_open on cycles (agent, circle, space) where state = 'open';
create unique index cycles_number on cycles (agent, circle, n);
create index cycles_started on cycles (started);

create table steps (
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
    frame     blob,
    primary key (cycle, n)
) strict, without rowid;

create table turns (
    cycle  text    not null references cycles (id),
    n      integer not null,
    refs   text    not null, -- JSON array of the remote events whose words it shows
    tokens integer not null,
    body   blob    not null,
    primary key (cycle, n)
) strict, without rowid;

create table keyframes (
    agent  text    not null,
    circle text    not null,
    n      integer not null,
    refs   text    not null,
    tokens integer not null,
    upto   integer not null,
    cause  text    not null,
    at     integer not null,
    body   blob    not null,
    primary key (agent, circle, n)
) strict, without rowid;

create table outbox (
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
) strict;

create unique index outbox_ordinal on outbox (cycle, ordinal) where cycle <> '';
create index outbox_waiting on outbox (account, chat, thread, n) where state in ('ready', 'sending');
create index outbox_failed on outbox (agent, settled)
    where state = 'unknown' or state = 'failed' or state = 'expired' or state = 'cancelled';

create table timers (
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
) strict, without rowid;

create index timers_due on timers (due) where fired_by = '';
create index timers_mind on timers (agent, circle, kind) where fired_by = '';

-- Runs that wait for somebody's answer.
create table waits (
    cycle   text    not null primary key references cycles (id),
    space   text    not null references spaces (id),
    message text    not null,             -- the event that asks
    call    text    not null,             -- the call that waits
    who     text    not null,             -- JSON array of entities
    started integer not null,
    due     integer not null,
    epoch   integer not null,
    state   text    not null,
    outcome text    not null default '',
    matched text    not null default '[]' -- JSON array of events
) strict, without rowid;

create index waits_due on waits (due) where outcome = '';

create table denials (
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

create index denials_cycle on denials (cycle);

create table usage (
    day    integer not null, -- days since 1970 UTC
    agent  text    not null,
    space  text    not null,
    prompt integer not null,
    cached integer not null,
    output integer not null,
    calls  integer not null,
    primary key (day, agent, space)
) strict, without rowid;

create table roots (
    root     text    not null primary key,
    messages integer not null default 0,
    tokens   integer not null default 0,
    stopped  integer not null default 0
) strict, without rowid;

create table cursors (
    account text    not null primary key,
    data    blob    not null,
    at      integer not null
) strict, without rowid;
