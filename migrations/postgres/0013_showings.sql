-- +goose Up

-- Which messages show a file. A row is written with the event that shows it and
-- goes when the message is deleted; with the last of them goes what is known of
-- the file, and then its bytes.
create table showings (
    account text collate "C" not null,
    file    text collate "C" not null, -- the platform's own name for it
    event   text collate "C" not null,
    primary key (account, file, event)
);

create index showings_event on showings (event);

-- What the log has of them so far.
insert into showings (account, file, event) select account, file, event from attachments;

-- Words may hold zero bytes, which jsonb has no place for.
insert into showings (account, file, event)
select a.account, a.file, e.id
from (select id, regexp_replace(convert_from(body, 'UTF8'), '(?<!\\)((?:\\\\)*)\\u0000', '\1', 'g')::jsonb as body from events
      where kind = 'said' and branch = 'main' and position('"attachments"'::bytea in body) > 0) e
cross join lateral jsonb_array_elements(e.body -> 'attachments') j
join attachments a on a.account = e.body -> 'ref' ->> 'a' and a.file = j ->> 'id'
on conflict do nothing;

-- Messages that were deleted before show nothing any more.
delete from showings where event in (
    select convert_from(body, 'UTF8')::jsonb ->> 'target' from events where kind = 'deleted' and branch = 'main');

delete from attachments where not exists (
    select 1 from showings s where s.account = attachments.account and s.file = attachments.file);

update meta set value = cast((select coalesce(sum(bytes), 0) from (
    select distinct hash, bytes from attachments where hash <> '') kept) as text) where name = 'shelved';
