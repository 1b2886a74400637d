-- +goose Up

-- What a process tells the others of itself, as JSON.
alter table processes add column bulletin text not null default '';
