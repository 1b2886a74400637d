-- +goose Up

-- Messages that people see grow before the step that says them is decided. A row
-- is there before the post, and goes with the receipt of the message that took it
-- over, or when the post is deleted.
create table drafts (
    id      text collate "C" not null primary key,
    cycle   text collate "C" not null,
    step    bigint not null,
    agent   text collate "C" not null,
    space   text collate "C" not null,
    account text collate "C" not null,
    chat    text collate "C" not null,
    thread  text collate "C" not null,
    target  text collate "C" not null, -- event answered
    text    bytea  not null, -- as it was first posted
    message text collate "C" not null default '', -- empty: nobody knows yet whether it was posted
    at      bigint not null
);
create index drafts_account on drafts (account);

-- The draft that an action takes over.
alter table outbox add column draft text collate "C" not null default '';
