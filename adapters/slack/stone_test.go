package slack_test

import (
	"context"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	fakeslack "github.com/trestle-bridge/trestle/adapters/fake/slack"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// PLATFORMS 2.3: a message that is deleted under its thread leaves a tombstone, live
// and in history: the deletion is reported, and the tombstone's text is not taken for a
// message of a person.
func TestAMessageDeletedUnderItsThreadIsGone(t *testing.T) {
	listening(t, func(w *workspace, b *book) {
		first := w.ops.Says(w.maya, "first", fakeslack.PostOptions{})
		answer := w.ops.Says(w.maya, "answer", fakeslack.PostOptions{Thread: first})
		pass(time.Second)
		begun := len(b.all())
		w.ops.Deletes(first)
		w.ops.Deletes(answer)
		pass(time.Second)
		got := map[string]int{}
		for _, u := range b.all()[begun:] {
			if gone, ok := u.Body.(adapters.MessageDeletion); ok {
				got[gone.Messages[0]+" "+u.Key]++
				continue
			}
			w.t.Errorf("heard %+v", u)
		}
		if len(got) != 2 {
			w.t.Errorf("ends told: %v, want one of each under one key", got)
		}
		second := w.ops.Says(w.maya, "second", fakeslack.PostOptions{})
		w.ops.Says(w.maya, "stays", fakeslack.PostOptions{Thread: second})
		w.ops.Deletes(second)
		var past []string
		take := func(_ context.Context, p adapters.HistoryPage) error {
			for _, u := range p.Updates {
				if m, said := u.Body.(adapters.IncomingMessage); said {
					past = append(past, m.Text)
				}
			}
			return nil
		}
		testutil.OK(w.t, w.adapter(w.options()).History(w.t.Context(), adapters.HistoryRange{Chat: w.ops.ID}, take))
		testutil.Same(w.t, "past", []string{"stays"}, past)
	})
}
