-- +goose Up

-- Which messages show a file. A row is written with the event that shows it and
-- goes when the message is deleted; with the last of them goes what is known of
-- the file, and then its bytes.
create table showings (
    account text not null,
    file    text not null, -- the platform's own name for it
    event   text not null,
    primary key (account, file, event)
) strict, without rowid;

create index showings_event on showings (event);

-- What the log has of them so far.
insert into showings (account, file, event) select account, file, event from attachments;

insert into showings (account, file, event)
select a.account, a.file, e.id from events e
join json_each(cast(e.body as text), '$.attachments') j
join attachments a on a.account = json_extract(cast(e.body as text), '$.ref.a') and a.file = json_extract(j.value, '$.id')
where e.kind = 'said' and e.branch = 'main' and instr(cast(e.body as text), '"attachments"') > 0
on conflict do nothing;

-- Messages that were deleted before show nothing any more.
delete from showings where event in (
    select json_extract(cast(body as text), '$.target') from events where kind = 'deleted' and branch = 'main');

delete from attachments where not exists (
    select 1 from showings s where s.account = attachments.account and s.file = attachments.file);

update meta set value = cast((select coalesce(sum(bytes), 0) from (
    select distinct hash, bytes from attachments where hash <> '') kept) as text) where name = 'shelved';
