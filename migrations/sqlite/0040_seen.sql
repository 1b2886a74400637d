-- +goose Up

-- Which cycles were shown a message, filled in when one is deleted: nobody else asks.
create table seen (
    event text not null,
    cycle text not null,
    primary key (event, cycle)
) strict, without rowid;

-- Cycles that were open when those around them were filled in.
create table unseen (
    cycle text not null primary key
) strict, without rowid;
