-- +goose Up

-- What accounts have told of that name the same fact each in their own way: how
-- often each of them had told of its like before. Rows older than a platform's
-- memory go.
create table sightings (
    space   text collate "C" not null,
    account text collate "C" not null,
    source  text collate "C" not null, -- the account's own name for the fact
    alike   text collate "C" not null, -- what all of them know it by
    n       bigint not null,
    at      bigint not null,
    primary key (space, account, source)
);

create index sightings_alike on sightings (space, account, alike);
create index sightings_at on sightings (at);
