-- +goose Up

-- Messages that people see grow before the step that says them is decided. A row
-- is there before the post, and goes with the receipt of the message that took it
-- over, or when the post is deleted.
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
    text    blob    not null, -- as it was first posted
    message text    not null default '', -- empty: nobody knows yet whether it was posted
    at      integer not null
) strict, without rowid;
create index drafts_account on drafts (account);

-- The draft that an action takes over.
alter table outbox add column draft text not null default '';
