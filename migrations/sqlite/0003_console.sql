-- +goose Up

-- What each frame was made of, so that it can be shown again byte by byte. The
-- system text stands in its own table: thousands of frames begin with the same.
alter table steps add column shown blob;
alter table steps add column refs text not null default '[]'; -- JSON array of the remote events its tail shows
alter table steps add column system text not null default '';

create table systems (
    hash text not null primary key,
    text text not null
) strict, without rowid;

alter table keyframes add column plan blob;

-- What opens the console: tokens of programs, sessions of browsers, links that
-- open one. Only hashes of them are kept.
create table keys (
    id      text    not null primary key,
    kind    text    not null check (kind = 'token' or kind = 'session' or kind = 'link'),
    name    text    not null,
    hash    text    not null,
    parent  text    not null default '', -- what a session was opened with
    created integer not null,
    expires integer not null default 0,
    used    integer not null default 0 -- when last; a link is good until then
) strict, without rowid;

create unique index keys_hash on keys (hash);

-- Lists are read by key from their newest end, whatever they are narrowed to.
create index cycles_newest on cycles (started, id);
create index cycles_space on cycles (space, started, id);
create index cycles_agent on cycles (agent, circle, started, id);
create index cycles_stop on cycles (stop, started, id) where stop is not null;
drop index cycles_started;
create index denials_agent on denials (agent, n);
create index spans_closed on spans (closed_at, opened_at);
create index keys_parent on keys (parent);
