-- +goose Up

-- How the accounts on platforms stood over time. A row lasts until it was last
-- seen, or until the next of its line begins.
create table line_spans (
    line    text    not null, -- entry of the configuration
    began   integer not null,
    seen    integer not null,
    account text    not null, -- empty before the first connection
    state   text    not null,
    reason  text    not null,
    primary key (line, began)
) strict, without rowid;

create index line_spans_seen on line_spans (seen);
