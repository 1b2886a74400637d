-- +goose Up

-- The people whose words had a timer set: what it wakes is counted for them.
alter table timers add column payers text collate "C" not null default '[]'; -- JSON array of entities
