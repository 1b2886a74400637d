-- +goose Up

-- Times are milliseconds since 1970 UTC, 0 for none. Flags are 0 or 1. Bodies are
-- encoded by the program; SQL does not look into them.
--
-- Conditions on more than two values are written with "or": for "in" SQLite would build
-- a temporary table on every write.

-- Single values of the database by name.
create table meta (
    name  text not null primary key,
    value text not null
) strict, without rowid;

-- Rooms, and the inner log of each mind.
create table spaces (
    id         text    not null primary key,
    kind       text    not null check (kind in ('room', 'inner')),
    name       text    not null,
    circle     text    not null,
    wake       text    not null,
    direct     integer not null,
    closed     integer not null,
    guest      integer not null default 0, -- the account is no member of its chat
    agent_run  integer not null default 0,
    readers    integer not null default 0, -- current set of readers
    config_key text, -- the entry of the configuration it comes from
    created_at integer not null
) strict, without rowid;

create unique index spaces_config_key on spaces (config_key) where config_key is not null;

-- The branches of each space and the last event of each.
create table branches (
    space       text    not null references spaces (id),
    id          text    not null,
    from_branch text    not null default '',
    fork_seq    integer not null default 0,
    head        text    not null default '',
    head_seq    integer not null default 0,
    chain       blob    not null, -- running hash up to the head
    last_at     integer not null default 0, -- when the head was recorded
    primary key (space, id)
) strict, without rowid;

-- The event log.
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
    source   text, -- identity of the content on its platform
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
create index events_reactions on events (space, branch, seq) where kind = 'reacted' or kind = 'unreacted';
create index events_migrated on events (space, branch, seq) where kind = 'migrated';
create index events_thread on events (space, thread, seq) where thread <> '';

-- Updates whose space does not exist, so that no log could hold them.
create table strays (
    n       integer not null primary key,
    account text    not null,
    space   text    not null,
    source  text    not null,
    reason  text    not null,
    at      integer not null,
    body    blob    not null
) strict;

-- Which chats of which accounts belong to which space.
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

-- The platform message of each event and the event of each platform message.
create table messages (
    account text    not null,
    chat    text    not null,
    message text    not null,
    space   text    not null, -- empty, like event, for messages of the process itself
    event   text    not null,
    part    integer not null, -- from 0
    own     integer not null, -- 1: sent by one of our actions
    primary key (account, chat, message, space)
) strict, without rowid;

create index messages_event on messages (event, account, chat, part);

-- People and agents.
create table entities (
    id       text not null primary key,
    kind     text not null,
    name     text not null,
    handle   text not null,
    portrait text not null default '', -- URL of the avatar for relayed messages
    zone     text not null default '', -- name of the time zone; empty is unknown
    zone_from integer not null default 0 -- who gave the time zone: 0 the platform, 1 the configuration, 2 the person
) strict, without rowid;

-- The platform users of each entity.
create table identities (
    platform text not null,
    scope    text not null,
    user_id  text not null,
    entity   text not null references entities (id),
    primary key (platform, scope, user_id)
) strict, without rowid;

create index identities_entity on identities (entity);

-- Accounts on platforms that are one person's, as people said in their direct chats.
create table person_links (
    entity text not null primary key references entities (id),
    person text not null
) strict, without rowid;

create index person_links_person on person_links (person);

-- Codes by which a person links another account of theirs. Shown is to whom it was shown
-- last whose code it is.
create table link_codes (
    code    text not null primary key,
    entity  text not null references entities (id),
    account text not null,
    chat    text not null,
    shown   text not null,
    expires integer not null
) strict, without rowid;

create index link_codes_entity on link_codes (entity);

-- The current members of each space.
create table members (
    space  text    not null references spaces (id),
    entity text    not null,
    since  integer not null,
    primary key (space, entity)
) strict, without rowid;

create index members_since on members (space, since, entity);
create index members_entity on members (entity, space);

-- Sets of entities that can read a space. Each set is an earlier one with one entity
-- added or removed; set 0 is empty.
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

-- Which agent is connected to which space, and how far it has read.
create table uplinks (
    agent     text    not null,
    circle    text    not null,
    space     text    not null references spaces (id),
    cursor    integer not null,
    cursor_id text    not null,
    live      integer not null,
    muted_until integer not null default 0, -- nothing wakes it there before; 0: it is not muted
    opened_at integer not null,
    n         integer not null, -- order of opening within the agent
    fresh     integer not null default 0, -- first event of the conversation since it was started afresh; older ones are shown on request
    fresh_at  integer not null default 0,
    erased    integer not null default 0, -- last event whose deletions have been removed from the mind; behind cursor after the agent was disconnected
    primary key (agent, circle, space)
) strict, without rowid;

create index uplinks_space on uplinks (space);

-- When an agent was connected to a space.
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
create index spans_closed on spans (closed_at, opened_at);

-- Events that wake an agent.
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

-- Which process may run the cycles of an agent in a space.
create table leases (
    agent   text    not null,
    circle  text    not null,
    space   text    not null, -- empty for wakes without one
    holder  text    not null,
    epoch   integer not null,
    ttl     integer not null, -- how long it lasts from each commit on
    expires integer not null, -- 0 after release
    refused integer not null default 0, -- writes refused for an old epoch
    primary key (agent, circle, space)
) strict, without rowid;

-- Runs of agents, from wake to rest.
create table cycles (
    id         text    not null primary key,
    agent      text    not null,
    circle     text    not null,
    space      text    not null, -- empty for a wake without one
    epoch      integer not null,
    state      text    not null check (state = 'open' or state = 'closed' or state = 'abandoned'),
    wake       text    not null,
    active     text    not null,
    upto       integer not null,
    base       integer not null,
    n          integer, -- number among the closed cycles of the mind
    stop       text,
    detail     text    not null default '',
    rest       text    not null default '',
    derived    integer not null default 0,
    prompt     integer not null default 0,
    cached     integer not null default 0,
    output     integer not null default 0,
    estimated  integer not null default 0,
    calls      integer not null default 0,
    cost       integer not null default 0, -- in millionths of the installation's currency
    denials    integer not null default 0,
    manifest   text    not null default '',
    prompts    text    not null default '', -- versions of prompt sections that are not built in
    plan       blob,
    started    integer not null,
    ended      integer not null default 0,
    crashes    integer not null default 0,
    turns      integer not null default 0, -- how many it has
    tokens     integer not null default 0, -- of its turns
    actions    integer not null default 0, -- next ordinal
    timer      text    not null default '', -- the timer that woke it
    inner_from integer not null, -- first event of its part of the inner log
    inner_to   integer not null default 0,
    halted     integer not null default 0, -- 1: a person stopped the run; 2: and its unsent messages are cancelled
    authority  integer not null default 1, -- least authority of the people whose messages woke it
    model      text    not null default '', -- the endpoint's model that an addressed cycle asked
    answered   text    not null default '', -- how it answered: call or words, empty where no person was to be answered
    mission    text    not null default '', -- the mission that it works for
    task       integer not null default 0, -- the task of it; 0: the mission as a whole
    check (state = 'open' or stop is not null),
    check ((state = 'closed') = (n is not null))
) strict, without rowid;

create unique index cycles_open on cycles (agent, circle, space) where state = 'open';
create unique index cycles_number on cycles (agent, circle, n);
create index cycles_newest on cycles (started, id);
create index cycles_space on cycles (space, started, id);
create index cycles_agent on cycles (agent, circle, started, id);
create index cycles_answered on cycles (agent, model, ended) where answered <> '';
create index cycles_mission on cycles (mission) where mission <> '';
create index cycles_stop on cycles (stop, started, id) where stop is not null;

-- The model calls of each cycle.
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
    cost      integer not null default 0,
    at        integer not null,
    frame     blob,
    shown     blob, -- what the frame was made of, to reproduce it byte by byte
    refs      text    not null default '[]', -- JSON array of the remote events its tail shows
    system    text    not null default '', -- hash in systems
    model     text    not null default '', -- that answered in place of the configured one
    primary key (cycle, n)
) strict, without rowid;

-- The transcript of each cycle.
create table turns (
    cycle  text    not null references cycles (id),
    n      integer not null,
    refs   text    not null, -- JSON array of the remote events whose words it shows
    tokens integer not null,
    body   blob    not null,
    primary key (cycle, n)
) strict, without rowid;

-- The fixed beginning of the prompt of each mind; the next one replaces it after a compaction.
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
    plan   blob,
    primary key (agent, circle, n)
) strict, without rowid;

-- Actions to send to platforms.
create table outbox (
    n           integer not null primary key, -- order of decision
    id          text    not null unique,
    cycle       text    not null, -- empty, like space, event and agent, for messages of the process itself
    ordinal     integer not null,
    kind        text    not null check (kind = 'send' or kind = 'edit' or kind = 'delete' or kind = 'react'),
    space       text    not null,
    thread      text    not null,
    event       text    not null,
    root        text    not null,
    depth       integer not null,
    account     text    not null,
    chat        text    not null,
    agent       text    not null,
    text        blob    not null,
    target      text    not null,
    policy      text    not null,
    state       text    not null check (state = 'ready' or state = 'sending' or state = 'unknown' or state = 'sent'
                                    or state = 'failed' or state = 'expired' or state = 'cancelled'),
    part        integer not null default 0,
    attempts    integer not null default 0,
    not_before  integer not null default 0,
    expires     integer not null,
    created     integer not null,
    refs        text    not null default '[]', -- JSON array, one per part
    resent      integer not null default 0,
    code        text    not null default '',
    reason      text    not null default '',
    settled     integer not null default 0,
    cut         integer not null default 0, -- 1: sent in another form than asked
    voice       text    not null default '', -- author of a message relayed from another chat of the room
    via         text    not null default '', -- platform of the author
    files       text    not null default '[]', -- JSON array of files, by platform name or with the content an agent wrote
    room_thread text    not null default '', -- thread of the room, in a chat where it did not begin
    portrait    text    not null default '',
    draft       text    not null default '', -- draft that the action replaces
    choices     text    not null default '[]', -- JSON array of buttons below the words
    recipient   text    not null default '' -- person who alone should see it, by the platform's id
) strict;

create unique index outbox_ordinal on outbox (cycle, ordinal) where cycle <> '';
create index outbox_waiting on outbox (account, chat, thread, n) where state in ('ready', 'sending');
create index outbox_failed on outbox (agent, settled)
    where state = 'unknown' or state = 'failed' or state = 'expired' or state = 'cancelled';
create index outbox_unknown on outbox (settled) where state = 'unknown';
create index outbox_reactions on outbox (target) where kind = 'react';
create index outbox_files on outbox (event) where files <> '[]';

-- Timers that agents set. Those of a recurring plan have a cron line, and firing one
-- sets the next.
create table timers (
    id       text    not null primary key,
    agent    text    not null,
    circle   text    not null,
    kind     text    not null,
    space    text    not null,
    note     text    not null,
    due      integer not null,
    cycle    text    not null, -- that set it
    fired_by text    not null default '', -- the cycle it woke; empty until it fires
    fired_at integer not null default 0,
    plan     text    not null default '', -- of a recurring timer
    cron     text    not null default '',
    payers   text    not null default '[]', -- JSON array of the entities whose messages set the timer: its cost counts for them
    zone     text not null default '', -- of the clocks that cron goes by; empty: those of the process
    set_by   text not null default '', -- the entity whose words it was set for
    set_at   integer not null default 0,
    tries    integer not null default 0, -- wakes of it that failed, while the model failed every request
    look     text    not null default '[]' -- JSON array of what is looked at before it calls a model: at most one
) strict, without rowid;

create index timers_due on timers (due) where fired_by = '';
create index timers_mind on timers (agent, circle, kind) where fired_by = '';

-- Calls of outside tools, each recorded before it begins.
create table tool_runs (
    id         text    not null primary key,
    cycle      text    not null,
    step       integer not null,
    call       text    not null, -- the model's id of the call
    agent      text    not null,
    circle     text    not null,
    space      text    not null, -- that was active
    thread     text    not null,
    asker      text    not null, -- entity whose words it was asked for; empty: none
    tool       text    not null,
    server     text    not null,
    args       text    not null, -- JSON
    risk       text    not null,
    repeats    integer not null, -- 1: may be called again after a process that ran it ended
    state      text    not null, -- awaiting_approval, ready, running, or how it ended
    code       text    not null, -- by which people decide; empty: nobody has to
    approvers  text    not null, -- JSON array of entities
    expires    integer not null, -- when it is too late to decide
    decided_by text    not null default '',
    holder     text    not null default '', -- the process that runs it
    until      integer not null default 0, -- until when the process is believed to
    attempts   integer not null default 0,
    proposed   integer not null,
    started    integer not null default 0,
    ended      integer not null default 0,
    result     text    not null default '',
    detail     text    not null default '', -- reason of a failure, for operators
    readers    text    not null default '[]', -- JSON array of entities
    input      text    not null default '[]', -- JSON array with the choice that the tool asks a person for
    parked     integer not null default 0, -- 1: its cycle ended before it, so its end wakes the mind
    shown      integer not null default 0 -- 1: its result is in the transcript
) strict, without rowid;

create index tool_runs_cycle on tool_runs (cycle);
create index tool_runs_open on tool_runs (state, until) where ended = 0;
create index tool_runs_code on tool_runs (code) where code <> '';
create index tool_runs_space on tool_runs (space);
create index tool_runs_agent on tool_runs (agent, proposed);

-- Tools that people always allow an agent in a space.
create table tool_grants (
    agent   text    not null,
    space   text    not null,
    tool    text    not null,
    by_whom text    not null,
    since   integer not null,
    primary key (agent, space, tool)
) strict, without rowid;

-- Goals that are split into tasks over the agents of a space.
create table missions (
    id      text    not null primary key,
    space   text    not null,
    state   text    not null, -- proposed, running, paused, or how it ended
    created integer not null,
    ended   integer not null default 0, -- 0: it has not
    body    text    not null -- JSON
) strict, without rowid;

create index missions_space on missions (space, ended);
create index missions_newest on missions (created, id);

-- Every change of state of a mission or of one of its tasks.
create table mission_moves (
    id      integer not null primary key, -- the order of recording over all missions
    mission text    not null references missions (id),
    n       integer not null,
    body    text    not null, -- JSON
    unique (mission, n)
) strict;

-- Which versions of prompt sections are told. A row that is rolled back stays.
create table prompt_activations (
    n         integer not null primary key,
    section   text    not null,
    agent     text    not null, -- empty: all agents without one of their own
    version   integer not null,
    by_whom   text    not null,
    at        integer not null,
    undone    integer not null default 0, -- when it was rolled back
    undone_by text    not null default ''
) strict;

create index prompt_activations_active on prompt_activations (section, agent) where undone = 0;

-- Denied tool calls.
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
create index denials_at on denials (at);
create index denials_agent on denials (agent, n);

-- Tokens used per day, agent and space.
create table usage (
    day    integer not null, -- days since 1970 UTC
    agent  text    not null,
    space  text    not null,
    prompt integer not null,
    cached integer not null,
    output integer not null,
    calls  integer not null,
    cost   integer not null default 0, -- in millionths of the installation's currency
    primary key (day, agent, space)
) strict, without rowid;

-- Messages and tokens counted against the limits of each conversation.
create table roots (
    root     text    not null primary key,
    messages integer not null default 0,
    tokens   integer not null default 0,
    cost     integer not null default 0,
    stopped  integer not null default 0
) strict, without rowid;

-- How far each account has read its platform.
create table cursors (
    account text    not null primary key,
    data    blob    not null,
    at      integer not null
) strict, without rowid;

-- Alerts for the operator. A code and a subject have at most one open alert.
create table problems (
    id       integer not null primary key,
    code     text    not null,
    severity text    not null check (severity = 'warn' or severity = 'fail'),
    subject  text    not null,
    evidence text    not null,
    opened   integer not null,
    seen     integer not null,
    count    integer not null,
    well     integer not null default 0, -- since when the condition is gone
    closed   integer not null default 0,
    acked    integer not null default 0, -- no notification before this time
    told     integer not null default 0, -- notifications sent that it is open
    over     integer not null default 0, -- 1: a notification was sent that it is over
    check (closed = 0 or well <> 0)
) strict;

create unique index problems_open on problems (code, subject) where closed = 0;
create index problems_closed on problems (closed);

-- System texts of model calls, which thousands of calls share.
create table systems (
    hash text not null primary key,
    text text not null
) strict, without rowid;

-- Keys to the console: API tokens, browser sessions and login links. Only hashes are stored.
create table keys (
    id      text    not null primary key,
    kind    text    not null check (kind = 'token' or kind = 'session' or kind = 'link'),
    name    text    not null,
    hash    text    not null,
    parent  text    not null default '', -- what a session was opened with
    person  text    not null default '', -- JSON; whose rooms a token opens, empty: it opens the console
    created integer not null,
    expires integer not null default 0,
    used    integer not null default 0 -- last use; a link is valid until its first use
) strict, without rowid;

create unique index keys_hash on keys (hash);
create index keys_parent on keys (parent);

-- Long-running jobs. The cursor holds the progress in a form of each kind.
create table jobs (
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

create index jobs_waiting on jobs (id) where state = 'ready' or state = 'running';

-- Files of messages. A row is inserted together with the event that shows the file; the
-- content is downloaded later and stored in the data folder under its hash.
create table attachments (
    account text    not null,
    file    text    not null, -- the platform's own name for it
    space   text    not null,
    event   text    not null, -- the first message it was seen on
    kind    text    not null,
    name    text    not null,
    size    integer not null, -- bytes according to the platform; 0 if unknown
    state   text    not null check (state in ('wanted', 'stored', 'missing')),
    tries   integer not null default 0,
    due     integer not null,
    hash    text    not null default '', -- SHA-256 of the bytes, in hex
    bytes   integer not null default 0,
    media   text    not null default '', -- type detected from the content
    reason  text    not null default '', -- of the last failed download
    primary key (account, file)
) strict, without rowid;

create index attachments_hash on attachments (hash) where hash <> '';
create index attachments_due on attachments (account, due) where state = 'wanted';

-- Entities with more than a member's role, and the source of the role.
create table roles (
    platform text    not null,
    scope    text    not null,
    user_id  text    not null,
    source   text    not null check (source = 'config' or source = 'pairing'),
    role     integer not null,
    primary key (platform, scope, user_id, source)
) strict, without rowid;

-- How often each unknown user was refused. Their messages are not stored.
create table refusals (
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

create index refusals_last on refusals (last_at);

-- Weighted tokens caused by each person's messages per day.
create table senders (
    day    integer not null,
    entity text    not null,
    tokens integer not null,
    cost   integer not null default 0,
    primary key (day, entity)
) strict, without rowid;

-- Files that other chats of a room wait for. A row is inserted with the event that shows
-- the file, and deleted by the commit that stores or gives up the file and orders the copies.
create table file_relays (
    account text    not null,
    file    text    not null, -- the platform's own name for it
    event   text    not null, -- the message that shows it
    n       integer not null, -- which of its files it is, from 0
    primary key (account, file, event, n)
) strict, without rowid;

create index file_relays_event on file_relays (event);

-- Voice messages to transcribe. A row is inserted by the commit that stores the file and
-- settled by the event with the transcript, so that each is transcribed once.
create table voices (
    account text    not null,
    file    text    not null, -- the platform's own name for it
    at      integer not null, -- when it was stored
    due     integer not null,
    tries   integer not null default 0,
    state   text    not null check (state in ('wanted', 'heard', 'unheard')),
    primary key (account, file)
) strict, without rowid;

create index voices_due on voices (due) where state = 'wanted';

-- Deleted messages, and edits of them, that a mind had been shown: their text is removed
-- from its inner log when that is read.
create table redacted (
    agent  text not null,
    circle text not null,
    event  text not null,
    primary key (agent, circle, event)
) strict, without rowid;

-- How often each account has reported the same fact, for facts that accounts name
-- differently. Rows older than the platform's redelivery window are deleted.
create table sightings (
    space   text    not null,
    account text    not null,
    source  text    not null, -- the account's own name for the fact
    alike   text    not null, -- identity of the fact that all accounts share
    n       integer not null,
    at      integer not null,
    primary key (space, account, source)
) strict, without rowid;

create index sightings_alike on sightings (space, account, alike);
create index sightings_at on sightings (at);

-- The platform thread of each room thread, by chat. The root is the message that the thread
-- was opened on, or its first one.
create table threads (
    space    text    not null,
    thread   text    not null, -- id in the chat where the thread began
    platform text    not null,
    chat     text    not null,
    there    text    not null, -- id in this chat
    root     text    not null,
    title    text    not null, -- may be empty
    began    integer not null, -- 1: in this chat
    primary key (space, platform, chat, there)
) strict, without rowid;

create index threads_thread on threads (space, thread);
create index threads_root on threads (space, root);

-- Which messages show a file. Rows are deleted with their message; with the last one the
-- attachment and its content are deleted.
create table showings (
    account text not null,
    file    text not null, -- the platform's own name for it
    event   text not null,
    primary key (account, file, event)
) strict, without rowid;

create index showings_event on showings (event);

-- Summaries of old cycles. A row is deleted with any of its source messages and can be
-- computed again.
create table digests (
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

-- Connection history of accounts. A row lasts until it was last seen or the next one of its
-- connection begins.
create table line_spans (
    line    text    not null, -- name of the connection in the configuration
    began   integer not null,
    seen    integer not null,
    account text    not null, -- empty before the first connection
    state   text    not null,
    reason  text    not null,
    primary key (line, began)
) strict, without rowid;

create index line_spans_seen on line_spans (seen);

-- Ratings of messages of agents. A message that may be rated has a row without a person.
create table feedback (
    event  text    not null, -- the message
    who    text    not null, -- entity that rated it; empty: it may be rated
    space  text    not null,
    agent  text    not null,
    cycle  text    not null, -- that said it
    rating text    not null, -- good or bad
    why    text    not null default '', -- event that answered the message soon after a bad rating
    at     integer not null,
    primary key (event, who)
) strict, without rowid;

create index feedback_run on feedback (cycle) where who <> '';
create index feedback_rating on feedback (rating, at) where who <> '';

-- Questions of finished cycles that still wait for an answer.
create table waits (
    cycle    text    not null primary key references cycles (id), -- that asked
    agent    text    not null,
    circle   text    not null,
    space    text    not null references spaces (id),
    thread   text    not null,
    message  text    not null, -- event of the question
    seq      integer not null, -- of the message
    call     text    not null, -- tool call that asked
    who      text    not null, -- JSON array of entities that are asked; empty: anyone
    people   integer not null, -- 1: without named entities only people's answers count
    need     integer not null, -- how many must answer; 0: each named one, or the first of anyone
    options  text    not null, -- JSON array of texts to choose from; empty: any words answer
    root     text    not null,
    depth    integer not null,
    started  integer not null,
    due      integer not null, -- timeout, or when the agent may be told
    state    text    not null, -- open, over, told
    outcome  text    not null default '',
    answers  text    not null default '[]', -- JSON array
    woke     text    not null default '', -- the cycle it woke
    attempts integer not null default 0
) strict, without rowid;

create index waits_due on waits (due) where state <> 'told';
create index waits_space on waits (space) where state <> 'told';
create index waits_mind on waits (agent, circle) where state <> 'told';
create index waits_woke on waits (woke) where woke <> '';

-- Embeddings of messages. A row is deleted with its message and can be computed again.
create table meanings (
    event  text    not null primary key,
    space  text    not null,
    seq    integer not null, -- of the event in its space
    model  text    not null,
    vector blob    not null -- one signed byte per number
) strict, without rowid;

create index meanings_space on meanings (space, seq);

-- Messages that are shown while the model writes them. A row is inserted before the post and
-- deleted with the receipt of the message that replaces it, or when the post is deleted.
create table drafts (
    id      text    not null primary key,
    cycle   text    not null,
    step    integer not null,
    agent   text    not null,
    space   text    not null,
    account text    not null,
    chat    text    not null,
    thread  text    not null,
    target  text    not null, -- event answered
    text    blob    not null, -- as first posted
    message text    not null default '', -- empty: unknown whether it was posted
    at      integer not null
) strict, without rowid;

create index drafts_account on drafts (account);

-- Reactions that show that a run works on a message. A row is inserted before the reaction is
-- set and deleted when it was taken back, or replaced by a reaction of the agent.
create table acknowledgements (
    account text    not null,
    chat    text    not null,
    message text    not null,
    cycle   text    not null,
    event   text    not null, -- the message
    thread  text    not null,
    emoji   text    not null,
    at      integer not null,
    primary key (account, chat, message, cycle)
) strict, without rowid;

-- Which cycles were shown a message; filled in when a message is deleted.
create table seen (
    event text not null,
    cycle text not null,
    primary key (event, cycle)
) strict, without rowid;

-- Cycles that were open when the cycles around them were added to seen.
create table unseen (
    cycle text not null primary key
) strict, without rowid;

-- The tools that models were offered; each version once, by the hash that cycles refer to.
create table manifests (
    hash       text    not null primary key,
    first_used integer not null, -- when the first cycle with it ended
    last_used  integer not null, -- when the last one ended, updated hourly
    body       blob -- JSON; null: only the name is known
) strict, without rowid;

-- What happened in each hour and each day, counted from the events. An empty space, agent or
-- platform is the sum over all of them. Rows of hours are deleted after two weeks.
create table figures (
    span     integer not null, -- milliseconds: of an hour or of a day
    space    text    not null,
    agent    text    not null,
    platform text    not null,
    at       integer not null, -- when the span began
    received integer not null, -- messages of people and other programs
    sent     integer not null, -- messages of agents that platforms have
    unsent   integer not null, -- messages of agents that failed or expired
    failed   integer not null, -- runs that failed
    denied   integer not null, -- tool calls
    calls    integer not null, -- of models
    prompt   integer not null, -- tokens
    cached   integer not null, -- of prompt
    output   integer not null,
    cost     integer not null, -- in millionths of the installation's currency
    primary key (span, space, agent, platform, at)
) strict, without rowid;

create index figures_at on figures (span, at);

-- How long people waited for answers, by the same key: how many answers took no longer than
-- a bound and longer than the one before.
create table answer_times (
    span     integer not null, -- milliseconds: of an hour or of a day
    space    text    not null,
    agent    text    not null,
    platform text    not null,
    at       integer not null, -- when the span began
    bound    integer not null, -- number of the bound
    answers  integer not null,
    primary key (span, space, agent, platform, at, bound)
) strict, without rowid;

create index answer_times_at on answer_times (span, at);
