package activity

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// A threading platform has threads on messages.
type threading struct{ *platform }

var _ adapters.ThreadOpener = threading{}

func (p threading) Thread(ctx context.Context, m adapters.MessageRef, title string) (string, error) {
	_, err := p.do(ctx, call{Op: "open", Chat: m.Chat, Message: m.Message, Text: title})
	return "on " + m.Message, err
}

// SEQ-96, DELIVERY 2.4: what belongs to a thread of the room goes to the chat's own
// thread, which is opened once it is needed; where there can be none, it is a chain
// of answers. What goes wrong with the opening loses and doubles nothing.
func TestAThreadOfTheRoomGoesOnInTheChat(t *testing.T) {
	anchor := ThreadAnchor{Anchor: spaces.MessageRef{Account: ours.Key(), Chat: "c", Message: "5"}}
	type calls = []string
	opened := calls{"open c//5 Cake", "send c/on 5/ one ↩", "send c/on 5/ two ↩", "react c/on 5/m 👍 ↩"}
	chain := calls{"send c// one ↩5", "send c// two ↩", "react c//m 👍 ↩"}
	for name, test := range map[string]struct {
		moored ThreadAnchor
		fails  adapters.FailureKind
		plain  bool // the platform has no threads on messages
		want   calls
	}{
		"it has one":           {moored: ThreadAnchor{There: "t", Anchor: anchor.Anchor}, want: calls{"send c/t/ one ↩", "send c/t/ two ↩", "react c/t/m 👍 ↩"}},
		"it can have one":      {moored: anchor, want: opened},
		"the answer was lost":  {moored: anchor, fails: adapters.Unknown + 100, want: opened},
		"it is asked to wait":  {moored: anchor, fails: adapters.Limited, want: opened},
		"it may have none":     {moored: anchor, fails: adapters.Forbidden, want: chain},
		"it cannot have one":   {moored: anchor, plain: true, want: chain},
		"nothing of it's here": {want: calls{"send c// one ↩", "send c// two ↩", "react c//m 👍 ↩"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &platform{}
				if kind := test.fails % 100; test.fails != 0 {
					opens := func(c call) bool { return c.Op == "open" }
					p.script = once(opens, &adapters.Error{Kind: kind, Op: "open", RetryAfter: time.Second})
					if kind == adapters.Forbidden {
						p.script = func(c call) error {
							if opens(c) {
								return refusal(kind)
							}
							return nil
						}
					}
				}
				r := newRecord()
				r.mooring = test.moored
				r.where["said"] = []spaces.MessageRef{{Account: ours.Key(), Chat: "c", Message: "m"}}
				r.put(spaces.Action{ID: "1", Chat: "c", Text: "one\n---\ntwo", RoomThread: "room's"})
				r.put(spaces.Action{ID: "2", Chat: "c", Kind: spaces.ActReact, Target: "said", Text: "👍", RoomThread: "room's"})
				var adapter adapters.Adapter = threading{p}
				if test.plain {
					adapter = p
				}
				runEgress(t, NewEgress(ours, adapter, r, NewSpaceMapping(r, r), EgressOptions{}))
				after(time.Minute)
				var got calls
				for _, c := range p.accepted() {
					if c.Op == "open" && len(got) > 0 {
						continue // an action of its own finds it again
					}
					got = append(got, c.Op+" "+c.Chat+"/"+c.Thread+"/"+c.Message+" "+c.Text)
					if c.Op != "open" {
						got[len(got)-1] += " ↩" + c.ReplyTo
					}
				}
				testutil.Same(t, "the platform was asked", test.want, got)
				if a := r.action("1"); a.State != spaces.ActionSent || a.Code != "" {
					t.Errorf("the message is %s %s", a.State, a.Code)
				}
			})
		})
	}
}
