-- +goose Up

-- What people may do, and what they told an agent to do.

-- 0: nobody stopped the run; 1: a person did; 2: and what it has not sent is not sent.
alter table cycles add column halted integer not null default 0;

-- For whom a run acts: the least authority among those whose words woke it.
alter table cycles add column authority integer not null default 1;

-- Where a room's conversation began afresh for a mind; what is older is shown only
-- when it is looked up.
alter table uplinks add column fresh integer not null default 0;
alter table uplinks add column fresh_at integer not null default 0;

-- Who has more than a member's authority, and who gave it: config or pairing.
create table roles (
    platform text    not null,
    scope    text    not null,
    user_id  text    not null,
    source   text    not null check (source = 'config' or source = 'pairing'),
    role     integer not null,
    primary key (platform, scope, user_id, source)
) strict, without rowid;

-- Who was turned away, and how often. What they said is nowhere.
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

-- What each person's words have cost since the day began, in weighted tokens.
create table senders (
    day    integer not null,
    entity text    not null,
    tokens integer not null,
    primary key (day, entity)
) strict, without rowid;
