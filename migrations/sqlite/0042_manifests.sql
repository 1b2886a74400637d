-- +goose Up

-- The acts that models were offered, each version once, by the name that cycles
-- give it.
create table manifests (
    hash       text    not null primary key,
    first_used integer not null, -- when a cycle that was offered them first ended
    last_used  integer not null, -- and last; noted once an hour
    body       blob              -- JSON; null: the name alone is known
) strict, without rowid;

insert into manifests (hash, first_used, last_used)
select manifest, min(ended), max(ended) from cycles where manifest <> '' group by manifest;
