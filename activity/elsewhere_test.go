package activity

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// What belongs to a thread that is closed or gone is said in the chat, with a hint, once.
func TestMissingThreadIsSaidInTheChat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &platform{script: func(c call) error {
			if c.Thread == "77" {
				return refusal(adapters.NoTarget)
			}
			return nil
		}}
		r := newRecord()
		r.put(spaces.Action{ID: "x", Chat: "c", Thread: "77", Text: "one\n---\ntwo"})
		r.put(spaces.Action{ID: "y", Chat: "c", Thread: "78", Text: "in the other"})
		send(t, p, r, EgressOptions{})
		after(time.Minute)
		got := p.accepted()
		if len(got) != 3 || r.action("x").State != spaces.ActionSent {
			t.Fatalf("%s: %+v", r.action("x").State, got)
		}
		var texts []string
		for _, c := range got {
			if c.Thread == "" {
				texts = append(texts, c.Text)
			} else if c.Thread != "78" {
				t.Errorf("said in thread %q", c.Thread)
			}
		}
		testutil.Same(t, "the chat has", []string{threadGone + "\n\none", "two"}, texts)
	})
}

// Where the chat refuses as the thread did, the action fails, for the first reason.
func TestMissingThreadOfAMissingChatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &platform{script: func(c call) error {
			err := refusal(adapters.NoTarget)
			if c.Thread == "" {
				err.Kind = adapters.Forbidden
			}
			return err
		}}
		r := newRecord()
		r.put(spaces.Action{ID: "x", Chat: "c", Thread: "77", Text: "one"})
		send(t, p, r, EgressOptions{})
		after(time.Minute)
		if a := r.action("x"); a.State != spaces.ActionFailed || a.Code != "no_target" || len(p.attempted()) != 2 {
			t.Errorf("%s (%s) after %d calls", a.State, a.Code, len(p.attempted()))
		}
	})
}

// A copy in the chat whose outcome is unknown is looked for there.
func TestUnknownCopyOutsideAThreadIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &searchable{platform: &platform{}}
		first := true
		p.script = func(c call) error {
			if c.Thread != "" {
				return refusal(adapters.NoTarget)
			}
			if first {
				first = false
				p.mu.Lock()
				p.ledger = append(p.ledger, c)
				p.mu.Unlock()
				return refusal(adapters.Unknown)
			}
			return nil
		}
		r := newRecord()
		r.put(spaces.Action{ID: "x", Chat: "c", Thread: "77", Text: "one"})
		sendWith(t, p, r)
		after(time.Minute)
		if got := p.accepted(); len(got) != 1 || !strings.HasSuffix(got[0].Text, "one") || r.action("x").State != spaces.ActionSent {
			t.Errorf("%s: %+v", r.action("x").State, got)
		}
	})
}
