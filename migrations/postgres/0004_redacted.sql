-- +goose Up

-- Messages that were deleted after a mind had been shown them, and their edits:
-- what its inner log repeats of their words is shown to nobody.
create table redacted (
    agent  text collate "C" not null,
    circle text collate "C" not null,
    event  text collate "C" not null,
    primary key (agent, circle, event)
);
