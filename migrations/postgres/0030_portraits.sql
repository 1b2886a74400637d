-- +goose Up

-- The address of somebody's picture, shown where their words are carried under
-- their own face.
alter table entities add column portrait text collate "C" not null default '';
alter table outbox add column portrait text collate "C" not null default '';
