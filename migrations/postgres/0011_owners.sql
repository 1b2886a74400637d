-- +goose Up

-- What one process of the installation has for itself: accounts on platforms, and
-- duties that are done once. A row counts as long as its process has the right to
-- write; its epoch rises each time it passes on.
create table owners (
    thing   text collate "C" not null primary key,
    process text collate "C" not null,
    epoch   bigint not null,
    since   bigint not null -- by the clock of the server
);

alter table processes add column since bigint not null default 0; -- by the clock of the server
