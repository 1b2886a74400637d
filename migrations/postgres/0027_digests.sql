-- +goose Up

-- What a cheaper model made of the accounts of a mind's old cycles. A row goes with
-- any of the messages it was made of, and can be made again.
create table digests (
    agent   text collate "C" not null,
    circle  text collate "C" not null,
    first   bigint not null, -- numbers of cycles
    last    bigint not null,
    body    text collate "C" not null,
    sources text collate "C" not null, -- events, JSON
    readers text collate "C" not null, -- entities, JSON
    model   text collate "C" not null,
    at      bigint not null,
    primary key (agent, circle, first)
);
