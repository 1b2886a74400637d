-- +goose Up

-- Long work, one row a job. What is done is in its cursor, in the form of its kind.
create table jobs (
    id      integer not null primary key,
    kind    text    not null,
    subject text    not null,
    args    blob    not null,
    state   text    not null check (state = 'ready' or state = 'running' or state = 'paused' or state = 'done'
                                 or state = 'failed' or state = 'cancelled'),
    want    text    not null default '' check (want = '' or (state = 'running' and (want = 'paused' or want = 'cancelled'))),
    done    integer not null default 0,
    total   integer not null default 0, -- 0: not known
    unit    text    not null default '',
    rate    real    not null default 0,
    cursor  blob    not null default x'',
    note    text    not null default '',
    until   integer not null default 0,
    error   text    not null default '',
    holder  text    not null default '',
    epoch   integer not null default 0,
    expires integer not null default 0, -- of the lease
    created integer not null,
    started integer not null default 0,
    updated integer not null,
    ended   integer not null default 0,
    check ((state = 'running') = (holder <> ''))
) strict;

create index jobs_waiting on jobs (id) where state = 'ready' or state = 'running';
