-- +goose Up

-- What goes along with an action's words: JSON, a file each, by the name its
-- platform gave it or with the bytes an agent wrote.
alter table outbox add column files text collate "C" not null default '[]';

-- Files that other chats of a room wait for. A row is written with the event that
-- shows the file and goes when the file is stored or given up: the same commit
-- then orders what each of those chats gets.
create table file_relays (
    account text collate "C" not null,
    file    text collate "C" not null, -- the platform's own name for it
    event   text collate "C" not null, -- the message that shows it
    n       bigint not null,           -- which of its files it is, from 0
    primary key (account, file, event, n)
);

create index file_relays_event on file_relays (event);

-- Voices that may be heard. A row is written with the commit that stores the file,
-- and settled with the event that tells what was said, so that each is heard once.
create table voices (
    account text collate "C" not null,
    file    text collate "C" not null, -- the platform's own name for it
    at      bigint not null,           -- when it was stored
    due     bigint not null,
    tries   bigint not null default 0,
    state   text collate "C" not null check (state in ('wanted', 'heard', 'unheard')),
    primary key (account, file)
);

create index voices_due on voices (due) where state = 'wanted';
