-- +goose Up

-- Where the words of messages stand by their meaning, as a model made it out. A row
-- goes with the words it was made of, and can be made again.
create table meanings (
    event  text collate "C" not null primary key,
    space  text collate "C" not null,
    seq    bigint not null, -- of the event in its space
    model  text collate "C" not null,
    vector bytea not null  -- one signed byte a number
);

create index meanings_space on meanings (space, seq);
