-- +goose Up

-- What recurs has a cron line; each firing sets the next one of its plan.
alter table timers add column plan text not null default '';
alter table timers add column cron text not null default '';
