package sqlstore

import (
	"context"
	"fmt"
	"slices"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	// insertRateable !A message that may be rated has a row without a person.
	insertRateable engine.QueryText = `insert into feedback (event, who, space, agent, cycle, rating, at) values ($1, '', $2, $3, $4, '', $5)`
	rateMessage    engine.QueryText = `insert into feedback (event, who, space, agent, cycle, rating, at)
select event, $2, space, agent, cycle, $3, $4 from feedback where event = $1 and who = ''
on conflict (event, who) do update set rating = excluded.rating, at = excluded.at, why = ''`
	unrateMessage engine.QueryText = `delete from feedback where event = $1 and who <> '' and ($2 = '' or who = $2) and ($3 = '' or rating = $3)`
	explainRating engine.QueryText = `update feedback set why = $3 where event = $1 and who = $2 and who <> '' and rating = 'bad' and why = '' and at >= $4`
	ratingsOf     engine.QueryText = `select who, space, rating from feedback where event = $1 and (who = '' or who = $2) order by who`
)

// rate keeps what a reaction says of a message of an agent that may be rated, and the reason
// that its rater gives by an answer soon after.
func (i *ingestTx) rate(ctx context.Context, e spaces.Event) error {
	switch b := e.Body.(type) { //nolint:gochecksumtype // others say nothing of a message
	case spaces.ReactionAdded:
		if rating := spaces.RatingOf(b.Emoji); rating != "" && b.Target != "" {
			return i.storeRating(ctx, b.Target, e, rating)
		}
	case spaces.ReactionRemoved:
		who, rating := string(e.Actor), spaces.RatingOf(b.Emoji)
		if b.Everybody {
			who = ""
		}
		if b.Target != "" && (rating != "" || b.Everybody && b.Emoji == "") && (who != "" || b.Everybody) {
			return i.Run(ctx, unrateMessage, string(b.Target), who, string(rating))
		}
	case spaces.MessagePosted:
		if e.ReplyTo != "" && e.Actor != "" && !b.Past {
			return i.Run(ctx, explainRating, string(e.ReplyTo), string(e.Actor), string(e.ID), engine.ToMillis(e.RecvAt.Add(-spaces.RatingTime)))
		}
	}
	return nil
}

func (i *ingestTx) storeRating(ctx context.Context, target spaces.EventID, e spaces.Event, rating spaces.AnswerRating) error {
	who, known, err := tables.EntityByID(ctx, i, e.Actor)
	if err != nil || !known || who.Kind != spaces.Human {
		return err
	}
	return i.Run(ctx, rateMessage, string(target), string(e.Actor), string(rating), engine.ToMillis(e.RecvAt))
}

// RateAnswer stores what a person pressed below a message of an agent, as the reaction that
// stands for it, and returns the rating as it is then: empty when the press took it back. ok
// is false when the message cannot be rated in one of the spaces.
func (r ToolRunStore) RateAnswer(ctx context.Context, p spaces.RatingPress) (now spaces.AnswerRating, ok bool, err error) {
	err = r.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		now, ok = "", false // the transaction may be run again
		has, err := engine.AllRows(ctx, t, ratingsOf, []any{string(p.Event), string(p.Who)}, func(row engine.ResultRow) (f spaces.Feedback, err error) {
			return f, row.Scan(&f.Who, &f.Space, &f.Rating)
		})
		if err != nil || len(has) == 0 || has[0].Who != "" || !slices.Contains(p.Spaces, has[0].Space) {
			return err
		}
		ok = true
		i := ingestTx{storeTx: t, batch: spaces.IngestBatch{At: p.At}}
		e := spaces.Event{Space: has[0].Space, Branch: spaces.Primary, Object: spaces.ChatObject, Actor: p.Who, At: p.At, RecvAt: p.At}
		if len(has) > 1 {
			e.Body = spaces.ReactionRemoved{Target: p.Event, Emoji: has[1].Rating.Emoji()}
			if err := i.appendRated(ctx, e); err != nil || has[1].Rating == p.Rating {
				return err
			}
		}
		now = p.Rating
		e.Body = spaces.ReactionAdded{Target: p.Event, Emoji: p.Rating.Emoji()}
		return i.appendRated(ctx, e)
	})
	if err != nil {
		return "", false, fmt.Errorf("rate %s: %w", p.Event, err)
	}
	return now, ok, nil
}

// appendRated appends a reaction that was made by a button.
func (i *ingestTx) appendRated(ctx context.Context, e spaces.Event) error {
	if err := i.event.append(ctx, &e); err != nil {
		return err
	}
	if err := i.rate(ctx, e); err != nil {
		return err
	}
	return i.wakeMinds(ctx, e)
}
