-- +goose Up

-- Turns that left something behind are counted, and each process's row tells which
-- was its last: a server that has lost commits knows of fewer than the process does.
-- A record has a name, so that the count of another one is not taken for its.
alter table turn add column n bigint not null default 0;
alter table turn add column record text collate "C" not null default cast(gen_random_uuid() as text);
alter table processes add column turn bigint not null default 0;
