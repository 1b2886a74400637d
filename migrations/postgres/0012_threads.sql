-- +goose Up

-- How each chat of a room calls the room's threads. A thread hangs on its root: the
-- message it was opened on, or the first that was said in it.
create table threads (
    space    text collate "C" not null,
    thread   text collate "C" not null, -- as the room calls it: as the chat does in which it began
    platform text collate "C" not null,
    chat     text collate "C" not null,
    there    text collate "C" not null, -- as this chat calls it
    root     text collate "C" not null,
    title    text collate "C" not null, -- may be empty
    began    bigint not null, -- 1: in this chat
    primary key (space, platform, chat, there)
);

create index threads_thread on threads (space, thread);
create index threads_root on threads (space, root);
create index events_thread on events (space, thread, seq) where thread <> '';

-- The room's thread that an action belongs to, in a chat in which it did not begin.
alter table outbox add column room_thread text collate "C" not null default '';
