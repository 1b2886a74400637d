-- +goose Up

-- What people may do, and what they told an agent to do.

-- 0: nobody stopped the run; 1: a person did; 2: and what it has not sent is not sent.
alter table cycles add column halted integer not null default 0;
