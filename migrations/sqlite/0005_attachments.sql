-- +goose Up

-- Files seen on messages. A row is written with the event that shows the file;
-- the bytes are fetched later and stand in the data folder under their hash.
create table attachments (
    account text    not null,
    file    text    not null, -- the platform's own name for it
    space   text    not null,
    event   text    not null, -- the first message it was seen on
    kind    text    not null,
    name    text    not null,
    size    integer not null, -- bytes as the platform says; 0 when it does not
    state   text    not null check (state in ('wanted', 'stored', 'missing')),
    tries   integer not null default 0,
    due     integer not null,
    hash    text    not null default '', -- SHA-256 of the bytes, in hex
    bytes   integer not null default 0,
    media   text    not null default '', -- what the bytes look like
    reason  text    not null default '', -- why it was not fetched, the last time
    primary key (account, file)
) strict, without rowid;

create index attachments_hash on attachments (hash) where hash <> '';
create index attachments_due on attachments (account, due) where state = 'wanted';
