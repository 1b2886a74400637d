package server

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// STYLE 20, I14: a commit that panics keeps no hand of an account for what it was about
// to send: else the account would send nothing any more after some of them.
func TestPanicInACommitLeavesTheHandsFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "spaces:\n  home: {chats: [\"telegram:5000000001\"]}\n")
		defer w.stop()
		w.addChat("boss", "direct", []string{"Kai"})
		w.process.shell.SetAgents(nil) // the test claims in their place
		w.says(w.chats["boss"], w.people["Kai"], "hello", 0, 0)
		pass(time.Second)
		rooms, err := w.process.border.Configured(t.Context())
		if err != nil || len(rooms) != 1 {
			t.Fatal(rooms, err)
		}
		room := rooms[0].Space
		wake, err := w.process.Store.Shell().Claim(t.Context(), spaces.WakeClaim{
			Mind: spaces.Mind{Agent: "ada", Circle: "home"}, Space: room, Holder: "test", TTL: time.Hour, At: time.Now(),
			Judge: func(j spaces.GateInput) []spaces.GateDecision {
				return []spaces.GateDecision{{Seq: j.Rows[0].Seq, Wake: true, Reason: "direct"}}
			},
		})
		if err != nil || wake == nil {
			t.Fatal(wake, err)
		}
		w.says(w.chats["boss"], w.people["Kai"], "and this breaks the gate", 0, 0)
		pass(time.Second)
		out := w.process.connectionOf("telegram").Egress()
		j := directSendStore{w.process.Store.Shell(), w.process.egress, w.process.notifyAccount}
		offered := 0
		for range 100 {
			func() {
				defer func() {
					if recover() == nil {
						t.Fatal("the commit does not panic")
					}
				}()
				_, _ = j.Commit(t.Context(), spaces.StepCommit{
					Lease: wake.Lease, Active: room, At: time.Now(), Step: spaces.Step{Cycle: wake.Cycle.ID, Phase: spaces.Engagement},
					Effect: []spaces.RoomEffect{{Kind: spaces.ActSend, Space: room, ID: "reply", Text: "hi", Policy: spaces.ResendOnce}},
					Judge: func(spaces.GateInput) []spaces.GateDecision {
						offered++
						panic("the gate")
					},
				})
			}()
		}
		if offered != 100 || !out.Reserve("another") {
			t.Fatalf("after %d panics no hand is free", offered)
		}
		out.Release("another", false)
		w.says(w.chats["boss"], w.people["Kai"], "/status", 0, 0)
		pass(time.Second)
		if told := w.told(); len(told) != 1 {
			t.Errorf("told was %q", told)
		}
	})
}
