package activity

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/activity/access"
	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/spaces"
)

// A platformFault panics where it sends.
type platformFault struct{ *platform }

func (p *platformFault) Split(text string) []string {
	if text == "split" {
		panic("split")
	}
	return p.platform.Split(text)
}

// An action that panics ends as failed, is counted, and what is behind it is sent.
func TestActionThatPanicsFails(t *testing.T) {
	for _, text := range []string{"split", "send"} {
		synctest.Test(t, func(t *testing.T) {
			p := &platformFault{&platform{script: func(c call) error {
				if c.Text == "send" {
					panic("send")
				}
				return nil
			}}}
			r := newRecord()
			r.put(spaces.Action{ID: "x", Chat: "c", Text: text})
			r.put(spaces.Action{ID: "next", Chat: "c", Text: "next"})
			e := NewEgress(ours, p, r, NewSpaceMapping(r, r), EgressOptions{})
			go func() { _ = e.Run(t.Context()) }() // ends with the test
			after(time.Minute)
			if a := r.action("x"); a.State != spaces.ActionFailed {
				t.Errorf("%s: it ends %s, want failed", text, a.State)
			}
			if a := r.action("next"); a.State != spaces.ActionSent {
				t.Errorf("%s: the next is %s, want sent", text, a.State)
			}
			if e.panics.count.Load() != 1 || e.panics.newest().At.IsZero() {
				t.Errorf("%s: %d are counted", text, e.panics.count.Load())
			}
		})
	}
}

// A faultyDirectory panics where it is asked for one chat.
type faultyDirectory struct {
	*record
	mended bool
}

func (d *faultyDirectory) Place(ctx context.Context, account, chat string) ([]spaces.ChatPlacement, error) {
	if chat == "bad" && !d.mended {
		d.mended = true
		panic("place")
	}
	return d.record.Place(ctx, account, chat)
}

// An update that the bridge panics of is counted and stops none of those around it, and
// what an adapter panicked of is counted as well.
func TestUpdateThatPanicsStopsNoOther(t *testing.T) {
	r := newRecord()
	d := &faultyDirectory{record: r}
	in := NewIngress(ours, NewSpaceMapping(d, r), r, r, r, IngressOptions{Admit: access.AdmitOpen})
	bad := lobby
	bad.ID = "bad"
	take(t, in, "1", says(lobby, kai, "1", "one"), says(bad, kai, "2", "two"), says(lobby, kai, "3", "three"))
	if got := r.said(); !slices.Equal(got, []string{"one", "three"}) || string(r.cursor) != "1" || in.Stats().Panicked != 1 {
		t.Errorf("recorded %q, cursor %q, counted %d", got, r.cursor, in.Stats().Panicked)
	}
	take(t, in, "2", adapters.Update{ID: "u", Key: "k", Body: adapters.UnreadableUpdate{Panicked: true}})
	if in.Stats().Panicked != 2 {
		t.Errorf("%d are counted, want what the adapter told as well", in.Stats().Panicked)
	}
}
