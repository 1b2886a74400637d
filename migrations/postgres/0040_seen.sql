-- +goose Up

-- Which cycles were shown a message, filled in when one is deleted: nobody else asks.
create table seen (
    event text collate "C" not null,
    cycle text collate "C" not null,
    primary key (event, cycle)
);

-- Cycles that were open when those around them were filled in.
create table unseen (
    cycle text collate "C" not null primary key
);
