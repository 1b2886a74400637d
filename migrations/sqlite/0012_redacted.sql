-- +goose Up

-- Messages that were deleted after a mind had been shown them, and their edits:
-- what its inner log repeats of their words is shown to nobody.
create table redacted (
    agent  text not null,
    circle text not null,
    event  text not null,
    primary key (agent, circle, event)
) strict, without rowid;
