-- +goose Up

-- How each chat of a room calls the room's threads. A thread hangs on its root: the
-- message it was opened on, or the first that was said in it.
create table threads (
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

create index threads_thread on threads (space, thread);
create index threads_root on threads (space, root);
create index events_thread on events (space, thread, seq) where thread <> '';

-- The room's thread that an action belongs to, in a chat in which it did not begin.
alter table outbox add column room_thread text not null default '';
