-- +goose Up

-- Conditions that an operator should know of. There is at most one open problem
-- of a code and a subject.
create table problems (
    id       integer not null primary key,
    code     text    not null,
    severity text    not null check (severity = 'warn' or severity = 'fail'),
    subject  text    not null,
    evidence text    not null,
    opened   integer not null,
    seen     integer not null,
    count    integer not null,
    well     integer not null default 0, -- since when it has not been seen
    closed   integer not null default 0,
    acked    integer not null default 0, -- nobody is told before this
    told     integer not null default 0, -- how often somebody was told that it is there
    over     integer not null default 0, -- 1: somebody was told that it is over
    check (closed = 0 or well <> 0)
) strict;

create unique index problems_open on problems (code, subject) where closed = 0;
create index problems_closed on problems (closed);
create index denials_at on denials (at);
create index outbox_unknown on outbox (settled) where state = 'unknown';
