-- +goose Up

-- How the accounts on platforms stood over time. A row lasts until it was last
-- seen, or until the next of its line begins.
create table line_spans (
    line    text collate "C" not null, -- entry of the configuration
    began   bigint not null,
    seen    bigint not null,
    account text collate "C" not null, -- empty before the first connection
    state   text collate "C" not null,
    reason  text collate "C" not null,
    primary key (line, began)
);

create index line_spans_seen on line_spans (seen);
