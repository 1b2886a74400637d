-- +goose Up

-- What runs that ended with a question still expect. Nothing has been written here
-- before.
drop table waits;
create table waits (
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

create index waits_due on waits (due) where state <> 'told';
create index waits_space on waits (space) where state <> 'told';
create index waits_mind on waits (agent, circle) where state <> 'told';
create index waits_woke on waits (woke) where woke <> '';
