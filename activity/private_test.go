package activity

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// A message for one person is sent to them alone. When the platform refuses that, it is sent
// to the chat; when the outcome is unknown, it is sent to the person once more and not to the chat.
func TestPrivateMessages(t *testing.T) {
	for name, tc := range map[string]struct {
		kind  adapters.FailureKind
		fails bool
		want  []string
	}{
		"shown":   {want: []string{"private to 21"}},
		"cannot":  {adapters.NoTarget, true, []string{"private to 21", "send"}},
		"may not": {adapters.Forbidden, true, []string{"private to 21", "send"}},
		"unknown": {adapters.Unknown, true, []string{"private to 21", "private to 21"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				failed := false
				p := &platform{script: func(c call) error {
					if tc.fails && !failed {
						failed = true
						return refusal(tc.kind)
					}
					return nil
				}}
				r := newRecord()
				r.put(spaces.Action{ID: "x", Chat: "c", Text: "you may not", Recipient: "21", Policy: spaces.ResendOnce})
				send(t, p, r, EgressOptions{})
				after(time.Hour)
				var ops []string
				for _, c := range p.attempted() {
					if c.Op != "typing" {
						ops = append(ops, c.Op)
					}
				}
				testutil.Same(t, "calls", tc.want, ops)
				if a := r.action("x"); a.State != spaces.ActionSent {
					t.Errorf("%s (%s)", a.State, a.Code)
				}
			})
		})
	}
}
