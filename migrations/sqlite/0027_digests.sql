-- +goose Up

-- What a cheaper model made of the accounts of a mind's old cycles. A row goes with
-- any of the messages it was made of, and can be made again.
create table digests (
    agent   text    not null,
    circle  text    not null,
    first   integer not null, -- numbers of cycles
    last    integer not null,
    body    text    not null,
    sources text    not null, -- events, JSON
    readers text    not null, -- entities, JSON
    model   text    not null,
    at      integer not null,
    primary key (agent, circle, first)
) strict, without rowid;
