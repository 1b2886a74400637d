-- +goose Up

-- What runs that ended with a question still expect. Nothing has been written here
-- before.
drop table waits;
create table waits (
    cycle    text collate "C" not null primary key references cycles (id), -- that asked
    agent    text collate "C" not null,
    circle   text collate "C" not null,
    space    text collate "C" not null references spaces (id),
    thread   text collate "C" not null,
    message  text collate "C" not null,             -- the event that asks
    seq      bigint not null,             -- of it
    call     text collate "C" not null,             -- the call that asked
    who      text collate "C" not null,             -- JSON array of entities; all of them are to answer
    people   bigint not null,             -- with nobody named: only people's words count
    root     text collate "C" not null,
    depth    bigint not null,
    started  bigint not null,
    due      bigint not null,             -- its time is up, or it may be told
    state    text collate "C" not null,             -- open, over, told
    outcome  text collate "C" not null default '',
    answers  text collate "C" not null default '[]', -- JSON array
    woke     text collate "C" not null default '',  -- the cycle it woke
    attempts bigint not null default 0
);

create index waits_due on waits (due) where state <> 'told';
create index waits_space on waits (space) where state <> 'told';
create index waits_mind on waits (agent, circle) where state <> 'told';
create index waits_woke on waits (woke) where woke <> '';
