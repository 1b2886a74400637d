-- +goose Up

-- Where the words of messages stand by their meaning, as a model made it out. A row
-- goes with the words it was made of, and can be made again.
create table meanings (
    event  text    not null primary key,
    space  text    not null,
    seq    integer not null, -- of the event in its space
    model  text    not null,
    vector blob    not null  -- one signed byte a number
) strict, without rowid;

create index meanings_space on meanings (space, seq);
