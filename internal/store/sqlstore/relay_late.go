package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

// What was lately done to messages of a room, which may not have come before it.
const lateChanges engine.Query = `select ` + eventColumns + ` from events e
where e.space = $1 and e.branch = $2 and e.seq >= $3 and e.seq < $4 and e.kind in ('edited', 'deleted') order by e.seq`

const (
	// overtakenAfter is how old a message is at least that others may have overtaken.
	overtakenAfter = time.Second
	// maxOvertaking is how many events of its room may have.
	maxOvertaking = 256
)

// applyEarlierChanges changes what is carried of a message by what was done to it before it came:
// platforms bring again what they could not bring at first. It reports whether the message
// stands; one that is deleted by now is carried nowhere.
func (i *ingestTx) applyEarlierChanges(ctx context.Context, e spaces.Event, c *relayedBody) (stands bool, err error) {
	said, ok := e.Body.(spaces.Said)
	if !ok || i.batch.At.Sub(e.At) < overtakenAfter {
		return true, nil
	}
	changes, err := engine.AllRows(ctx, i, lateChanges, []any{string(e.Space), string(e.Branch), e.Seq - maxOvertaking, e.Seq}, scanEvent)
	if err != nil {
		return false, fmt.Errorf("read what was done before %s came: %w", e.ID, err)
	}
	for _, x := range changes {
		if b, deleted := x.Body.(spaces.Deleted); deleted && b.Target == "" && b.Ref == c.from {
			return false, nil
		}
		if b, edited := x.Body.(spaces.Edited); edited && b.Target == "" && b.Ref == c.from {
			said.Text = b.Text
			c.text = textWithFiles(said, i.batch.Files)
		}
	}
	return true, nil
}
