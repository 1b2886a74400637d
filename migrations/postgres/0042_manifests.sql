-- +goose Up

-- The acts that models were offered, each version once, by the name that cycles
-- give it.
create table manifests (
    hash       text collate "C" not null primary key,
    first_used bigint not null, -- when a cycle that was offered them first ended
    last_used  bigint not null, -- and last; noted once an hour
    body       bytea            -- JSON; null: the name alone is known
);

insert into manifests (hash, first_used, last_used)
select manifest, min(ended), max(ended) from cycles where manifest <> '' group by manifest;
