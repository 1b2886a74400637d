-- +goose Up

-- Who writes this record now. A process that does not prolong its row in time may
-- be buried by any other: its row is deleted, and with it the right to write.
create table processes (
    id      text collate "C" not null primary key,
    host    text collate "C" not null,
    pid     bigint not null,      -- on its host
    program text collate "C" not null,
    backend bigint not null,      -- of this server, that serves its writing session
    began   text collate "C" not null, -- when that backend began, as the server says it
    ttl     bigint not null,
    expires bigint not null       -- by the clock of the server
);

-- Whose turn it was last: whoever finds another one here reads again what it has
-- in memory. All writers take turns on this table.
create table turn (
    id bigint not null primary key check (id = 1),
    by text collate "C" not null
);

insert into turn (id, by) values (1, '');
