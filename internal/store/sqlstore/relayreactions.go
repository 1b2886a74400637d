package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

// reactionsSince !The reactions of a space since a message, by the index of reactions.
const reactionsSince engine.QueryText = `select ` + tables.EventColumns + ` from events e
where e.space = $1 and e.branch = $2 and e.seq > $3 and (e.kind = 'reacted' or e.kind = 'unreacted') order by e.seq`

// A standingReaction is a reaction that was not taken back, and where it was put.
type standingReaction struct {
	who   spaces.EntityID
	emoji string
	ref   spaces.MessageRef
}

// relayReactions queues what is left on the copies of a message after a reaction was
// removed: an account has one reaction on each, the last that others still have there.
func (i *ingestTx) relayReactions(ctx context.Context, r *spaceState, e spaces.Event, c relayedBody) error {
	message, err := tables.EventByID(ctx, i, c.target)
	if err != nil || message == nil {
		return err
	}
	var left []standingReaction
	err = engine.EachRow(ctx, i, reactionsSince, []any{string(e.Space), string(e.Branch), message.Seq}, func(row engine.ResultRow) error {
		x, err := tables.ScanEvent(row)
		if id, _ := spaces.Target(x.Body); err != nil || id != c.target {
			return err
		}
		switch b := x.Body.(type) { //nolint:gochecksumtype // the query brings these two alone
		case spaces.ReactionAdded:
			left = append(left, standingReaction{x.Actor, b.Emoji, b.Ref})
		case spaces.ReactionRemoved:
			left = slices.DeleteFunc(left, func(s standingReaction) bool {
				if b.Everybody {
					return b.Emoji == "" || b.Emoji == s.emoji
				}
				return s.who == x.Actor && s.emoji == b.Emoji
			})
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read reactions to %s: %w", c.target, err)
	}
	skipped := c.skip
	for _, to := range r.chats {
		c.text = ""
		for _, s := range slices.Backward(left) {
			if s.ref.Chat != to.id || cmp.Or(s.ref.Account, to.account) != to.account { // one that was put there is seen there
				c.text = s.emoji
				break
			}
		}
		c.skip = append(slices.Clone(skipped), slices.DeleteFunc(slices.Clone(r.chats), func(other chatState) bool { return other == to })...)
		waiting, err := i.relay.copyToChats(ctx, r, e, c, "relay|"+string(e.ID), e.RecvAt)
		if err != nil {
			return err
		}
		i.result.Waiting = engine.AppendNew(i.result.Waiting, waiting...)
	}
	return nil
}
