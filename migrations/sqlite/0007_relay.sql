-- +goose Up

-- What people say in one chat of a room is carried to its other chats: an action
-- without an agent. Whose words they are, and the platform they were said on.
alter table outbox add column voice text not null default '';
alter table outbox add column via text not null default '';
