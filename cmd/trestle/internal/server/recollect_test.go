package server

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/trestle-bridge/trestle/internal/testservers"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// ECOSYSTEM 6, DELIVERY 2.7: what a person has a mind forget or correct in one process
// is so in the memory of another one, too, though every bell between them is lost.
func TestForgettingReachesOtherProcessesWithoutABell(t *testing.T) {
	var server testservers.PostgresServer
	t.Cleanup(func() { testutil.OK(t, server.Stop()) })
	address := server.URL(server.Database(t))
	here, there := opened(t, address, "redis://127.0.0.1:1"), opened(t, address, "redis://127.0.0.1:1")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	g, ctx := errgroup.WithContext(ctx)
	there.listenToPeers(ctx, g)
	ada := spaces.Mind{Agent: "ada", Circle: "home"}
	asks := remembers(t, here, ada, "Zoe takes tea", "Bob takes milk")
	shows := func(fact string) bool {
		t.Helper()
		asks.Tokens = 4000
		p, err := there.shell.Preview(t.Context(), asks)
		testutil.OK(t, err)
		return strings.Contains(fmt.Sprint(p.Frame), fact)
	}
	if !shows("Zoe takes tea") || !shows("Bob takes milk") {
		t.Fatal("the other process does not know what the mind remembers")
	}
	if had, err := (consoleBackend{here}).Correct(t.Context(), ada, "m0", "Zoe takes coffee"); err != nil || !had {
		t.Fatal(had, err)
	}
	eventually(t, "the other process is not corrected", func() bool { return shows("Zoe takes coffee") && !shows("Zoe takes tea") })
	if had, err := (consoleBackend{here}).Forget(t.Context(), ada, "m1"); err != nil || !had {
		t.Fatal(had, err)
	}
	eventually(t, "the other process remembers what was forgotten", func() bool { return !shows("Bob takes milk") })
	cancel()
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
}

// remembers has a mind remember facts, under the ids m0 and so on, in a room where
// a person asks for them after that. It is in the middle of its first cycle, so that
// a frame shows them.
func remembers(t *testing.T, s *Server, mind spaces.Mind, facts ...string) shell.WakePreview {
	t.Helper()
	at := time.Now()
	room, err := s.Store.Border().Open(t.Context(), spaces.OpenRequest{
		Key: "family", Name: "Family", Circle: mind.Circle, Agents: []spaces.AgentID{mind.Agent}, At: at,
		Chats: []spaces.ChatMapping{{Account: "telegram:1", Chat: "100", Live: true}},
	})
	testutil.OK(t, err)
	says := func(id string) spaces.MessageRef {
		ref := spaces.MessageRef{Account: "telegram:1", Chat: "100", Message: id}
		_, err := s.Store.Border().Record(t.Context(), spaces.IngestBatch{Account: ref.Account, At: at, Items: []spaces.IngestItem{{
			Event: spaces.Event{Space: room.Space, Object: spaces.ChatObject, At: at, Source: id, Body: spaces.MessagePosted{Text: "who takes what?"}},
			From:  spaces.PlatformIdentity{Platform: "telegram", User: "zoe", Kind: spaces.Human, Name: "Zoe"}, Ref: ref,
		}}})
		testutil.OK(t, err)
		return ref
	}
	says("1")
	wake, err := s.Store.Shell().Claim(t.Context(), spaces.WakeClaim{
		Mind: mind, Space: room.Space, Holder: "test", TTL: time.Minute, At: at,
		Judge: func(j spaces.GateInput) []spaces.GateDecision {
			return []spaces.GateDecision{{Seq: j.Rows[0].Seq, Wake: true, Reason: "direct"}}
		},
	})
	if err != nil || wake == nil {
		t.Fatal(wake, err)
	}
	var inner []spaces.EventBody
	for i, fact := range facts {
		inner = append(inner, spaces.MemoryAdded{ID: fmt.Sprint("m", i), Fact: fact, Space: room.Space})
	}
	_, err = s.Store.Shell().Commit(t.Context(), spaces.StepCommit{
		Lease: wake.Lease, Active: room.Space, Upto: wake.Rows[0].Seq, At: at, Inner: inner,
		Step: spaces.Step{Cycle: wake.Cycle.ID, Phase: spaces.Contemplation, State: spaces.StepDone, At: at},
	})
	testutil.OK(t, err)
	return shell.WakePreview{Mind: mind, Space: room.Space, Message: says("2")}
}

// eventually ends the test, saying what is wrong, unless something happens in good time.
func eventually(t *testing.T, wrong string, happened func() bool) {
	t.Helper()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for deadline := time.After(30 * time.Second); !happened(); {
		select {
		case <-look.C:
		case <-deadline:
			t.Fatal(wrong)
		}
	}
}
