-- +goose Up

-- Which rooms somebody is in: what may be carried to their own chat is looked for there.
create index members_entity on members (entity, space);
