-- +goose Up

-- Up to which event of the room what was deleted has been taken out of what the mind
-- keeps. It is behind the cursor after the mind was out of the room for a time: for
-- those that have been, all is looked for once more.
alter table uplinks add column erased integer not null default 0;

update uplinks set erased = cursor where not exists (
    select 1 from spans where spans.agent = uplinks.agent and spans.circle = uplinks.circle and spans.space = uplinks.space
    and closer = 'unlinked');
