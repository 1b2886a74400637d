package activity_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/activity/access"
	"github.com/trestle-bridge/trestle/activity/commands"
	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/local"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// A border is the whole package at work between real rooms and a real record.
type border struct {
	t     *testing.T
	store *sqlstore.Store
	rooms *local.RoomAdapter
	line  *activity.AccountConnection
	pairs access.ApprovalManager
	end   func()
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

// live opens the store in dir and starts a connection with two chats: the configuration
// names one, and the other has no owner yet.
func live(t *testing.T, dir string) *border {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Options{Dir: dir, NewID: newID})
	testutil.OK(t, err)
	b := &border{t: t, store: store, rooms: local.New(local.Options{NewID: newID, Handle: "ada"})}
	b.rooms.Open(adapters.Chat{ID: "hub", Kind: adapters.Group, Title: "Hub"})
	b.rooms.Open(adapters.Chat{ID: "kai", Kind: adapters.Direct, Title: "Kai"})
	port := store.Border()
	mapping := activity.NewSpaceMapping(port, port)
	agents := []spaces.AgentID{"ada"}
	b.pairs = access.ApprovalManager{Pairings: port, Spaces: mapping, Notices: port, Room: spaces.RoomDefaults{Agents: agents}}
	b.line = activity.NewConnection(b.rooms, port, func(ctx context.Context, a adapters.BotAccount) (*activity.Ingress, *activity.Egress, error) {
		hub, err := mapping.Open(ctx, spaces.OpenRequest{
			Key: "hub", Name: "Hub", Circle: "home", Agents: agents, At: time.Now(),
			Chats: []spaces.ChatMapping{{Account: a.Key(), Chat: "hub", Live: true}},
		})
		o := activity.IngressOptions{
			Named: map[spaces.SpaceID][]spaces.AgentID{hub.Space: agents}, Room: spaces.RoomDefaults{Agents: agents}, Commands: &commands.CommandHandler{Roles: port, Rooms: port},
			Notify: func([]spaces.PendingWork) { b.line.Ring() },
		}
		return activity.NewIngress(a, mapping, port, port, port, o), activity.NewEgress(a, b.rooms, port, mapping, activity.EgressOptions{}), err
	}, activity.ConnectionOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- b.line.Run(ctx) }() // waited for in end
	b.end = func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("run: %v", err)
		}
		if err := store.Close(context.WithoutCancel(ctx)); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	return b
}

// watch returns what was posted next in a room.
func (b *border) watch(chat string) func() local.MessagePosted {
	b.t.Helper()
	sub, err := b.rooms.Subscribe(chat, 100)
	testutil.OK(b.t, err)
	b.t.Cleanup(sub.Close)
	return func() local.MessagePosted {
		b.t.Helper()
		ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
		defer cancel()
		for {
			shown, err := sub.Next(ctx)
			testutil.OK(b.t, err)
			if p, ok := shown.(local.MessagePosted); ok {
				return p
			}
		}
	}
}

func (b *border) says(chat, text string) string {
	b.t.Helper()
	id, err := b.rooms.Say(b.t.Context(), adapters.Person{ID: "kai", Kind: adapters.Human, Name: "Kai"}, local.HumanLine{Chat: chat, Text: text})
	testutil.OK(b.t, err)
	return id
}

// answer has the agent answer what waits for it, as a shell would.
func (b *border) answer(text string) {
	b.t.Helper()
	port, ctx, at := b.store.Shell(), b.t.Context(), time.Now()
	waiting, err := port.Waiting(ctx, at, 1)
	if err != nil || len(waiting) != 1 {
		b.t.Fatalf("waiting: %v, %v", waiting, err)
	}
	wake, err := port.Claim(ctx, spaces.WakeClaim{
		Mind: waiting[0].Mind, Space: waiting[0].Space, Holder: "test", TTL: time.Minute, At: at,
		Judge: func(j spaces.GateInput) (vs []spaces.GateDecision) {
			for _, r := range j.Rows {
				vs = append(vs, spaces.GateDecision{Seq: r.Seq, Wake: true, Reason: "mention"})
			}
			return vs
		},
	})
	if err != nil || wake == nil {
		b.t.Fatalf("claim: %v, %v", wake, err)
	}
	last := wake.Events[len(wake.Events)-1]
	_, err = port.Commit(ctx, spaces.StepCommit{
		Lease: wake.Lease, At: at,
		Step: spaces.Step{Cycle: wake.Cycle.ID, Phase: spaces.Engagement, State: spaces.StepDone, At: at},
		Effect: []spaces.RoomEffect{{
			Kind: spaces.ActSend, Space: wake.Cycle.Space, ID: spaces.EventID(newID()), Target: last.ID, Text: text,
			Chain: spaces.NextChain(wake.Consumed, "", ""), Policy: spaces.ResendOnce, Expires: at.Add(time.Hour),
		}},
		Close: &spaces.CycleClose{Stop: spaces.StopCompleted, Rest: "Answered."},
	})
	testutil.OK(b.t, err)
	b.line.Ring()
}

// log returns the kinds of the events in the space of a chat.
func (b *border) log(chat string) string {
	b.t.Helper()
	places, err := b.store.Border().Place(b.t.Context(), "local:local", chat)
	testutil.OK(b.t, err)
	events, err := b.store.Shell().Events(b.t.Context(), places[0].Space, spaces.Primary, 0, 100)
	testutil.OK(b.t, err)
	var kinds []string
	for _, e := range events {
		kinds = append(kinds, string(e.Body.Kind()))
	}
	return strings.Join(kinds, " ")
}

func TestAMessageGoesInAndItsAnswerOut(t *testing.T) {
	// DESIGN 2, SEQ-92 … SEQ-99: through the real record, and across a restart.
	dir := t.TempDir()
	b := live(t, dir)
	next := b.watch("hub")
	asked := b.says("hub", "@ada are you there?")
	b.answer("Yes.")
	if p := next(); p.Text != "Yes." || p.ReplyTo != asked {
		t.Errorf("got %+v, want the answer as a reply to %s", p, asked)
	}
	b.end()

	b = live(t, dir)
	defer b.end()
	next = b.watch("hub")
	b.says("hub", "/help")
	if p := next(); !strings.Contains(p.Text, "ada lives in this chat.") {
		t.Errorf("got %q, want the help text and not the answer once more", p.Text)
	}
	if got, want := b.log("hub"), "linked joined said said delivered said"; got != want {
		t.Errorf("the log is %q, want %q", got, want)
	}
	if findings, err := b.store.Audit(t.Context(), time.Now()); err != nil || len(findings) > 0 {
		t.Errorf("the audit finds %v, %v", findings, err)
	}
}

func TestAStrangerPairsThroughTheRecord(t *testing.T) {
	// SECURITY S2 over the real record
	dir := t.TempDir()
	b := live(t, dir)
	next := b.watch("kai")
	b.says("kai", "let me in")
	told := next().Text
	b.end()

	b = live(t, dir) // the code survives a restart
	defer b.end()
	next = b.watch("kai")
	_, code, _ := strings.Cut(told, "**")
	code, _, _ = strings.Cut(code, "**")
	if _, err := b.pairs.Approve(t.Context(), code, access.ApprovalGrant{Circle: "home"}, time.Now()); err != nil {
		t.Fatalf("code %q from %q: %v", code, told, err)
	}
	b.line.Ring()
	if p := next(); !strings.Contains(p.Text, "let in") {
		t.Errorf("got %q, want the welcome", p.Text)
	}
	b.says("kai", "hello")
	b.answer("Hello, Kai.")
	if p := next(); p.Text != "Hello, Kai." {
		t.Errorf("got %q", p.Text)
	}
	if got := b.log("kai"); strings.Count(got, "said") != 2 {
		t.Errorf("the log is %q, want only what was said after the approval", got)
	}
}
