//go:build faultinject

package faults

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/adapters/fake"
	fakeslack "github.com/trestle-bridge/trestle/adapters/fake/slack"
	"github.com/trestle-bridge/trestle/internal/fault"
)

// slackPoints are the crash points at which Slack differs from a platform that is
// polled and cannot be asked what it has.
var slackPoints = []struct {
	id, name string
	hit      int
}{
	{"K1", "ingest.received", 3},
	{"K2", "ingest.before_commit", 3},
	{"K3", "ingest.after_commit", 3},
	{"K4", "ingest.after_ack", 2},
	{"K15", "cycle.after_commit", 2},
	{"K16", "outbox.sending", 2},
	{"K17", "", 2},
	{"K18", "send.accepted", 2},
	{"K19", "send.part", 1},
	{"K20", "receipt.committed", 2},
	{"K21", "send.limited", 1},
}

// A workspace is a Slack with one channel, two threads and a direct chat.
type workspace struct {
	*world
	slack  *fakeslack.Slack
	app    *fakeslack.App
	maya   *fakeslack.Person
	rooms  []*fakeslack.Channel
	roots  []string
	tokens []string
}

func newWorkspace(t *testing.T, seed uint64) (*workspace, *program) {
	t.Helper()
	w := &workspace{world: newWorld(t, seed, 0), slack: fakeslack.New(fakeslack.Options{Retries: []time.Duration{0, 2 * time.Second, 5 * time.Second}})}
	w.app = w.slack.AddApp(fakeslack.AppProfile{Name: "Ada", BotToken: "xoxb-faults", AppToken: "xapp-faults"})
	w.maya = w.slack.AddPerson(fakeslack.Profile{Name: "Maya"})
	ops := w.slack.NewChannel("ops", w.maya)
	ops.Invites(w.maya, w.app)
	w.rooms = []*fakeslack.Channel{ops, w.app.Direct(w.maya)}
	for range 2 {
		w.roots = append(w.roots, ops.Says(w.maya, "a thread", fakeslack.Said{}))
	}
	w.app.Forget()
	p := newProgram(t, w.world, "")
	text := fmt.Sprintf(`
listen: ""
model: {base_url: %q, api_key: none, name: teller}
adapters:
  acme: {type: slack, bot_token: xoxb-faults, app_token: xapp-faults, api_url: %q}
admit: open
limits: {outgoing: off}
agents:
  ada: {name: Ada}
spaces:
  ops: {name: Ops, agents: [ada], wake: all, chats: ["acme:%s"]}
`, w.base, w.serve(t, w.slack.Serve), ops.ID)
	if err := os.WriteFile(filepath.Clean(p.config), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return w, p
}

// speaks has somebody write somewhere; the first of all asks for a long answer.
func (w *workspace) speaks(n int) {
	for range n {
		i := len(w.tokens)
		tk := fmt.Sprintf("zk%05d", i+1)
		w.tokens = append(w.tokens, tk)
		text, thread, room := "about "+tk, "", w.rooms[0]
		if i%4 == 0 {
			text += " " + longMark
		}
		switch i % 3 {
		case 1:
			thread = w.roots[i%2]
		case 2:
			room = w.rooms[1]
		}
		room.Says(w.maya, text, fakeslack.Said{Thread: thread})
	}
}

// unheard returns the tokens that no message of the app repeats yet.
func (w *workspace) unheard() (missing []string) {
	var all strings.Builder
	for _, r := range w.rooms {
		for _, m := range r.Sent() {
			all.WriteString(m.Text)
		}
	}
	for _, tk := range w.tokens {
		if !strings.Contains(all.String(), tk) {
			missing = append(missing, tk)
		}
	}
	return missing
}

// DELIVERY 2.3 on Slack: after a kill at any point nothing is lost, nothing is in
// the log twice, and, because a send can be looked for, nothing is said twice.
func TestSlackSurvivesAKillWithoutACopy(t *testing.T) {
	for _, p := range slackPoints {
		if *only != "" && *only != p.id {
			continue
		}
		t.Run(p.id, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 2*caseLimit)
			defer cancel()
			w, prog := newWorkspace(t, seedOf("slack"+p.id, 0))
			switch p.id {
			case "K17": // the request is taken, its answer never comes, and then we are gone
				w.slack.Fault(fake.Fault{Method: "chat.postMessage", Do: fake.Hang, Apply: true, Skip: p.hit})
			case "K21":
				w.slack.Fault(fake.Fault{Method: "chat.postMessage", Do: fake.Refuse, RetryAfter: 1, Every: 3, Times: 6})
			}
			var plan fault.Plan
			if p.name != "" {
				plan = fault.Plan{{Point: p.name, Hit: p.hit, Action: fault.Kill}}
			}
			prog.start(t, plan)
			if !await(ctx, func() bool { return w.app.Sockets() == 2 }) {
				t.Fatal("the app did not connect")
			}
			w.speaks(8)
			w.falls(ctx, t, p.id, prog)
			w.speaks(4)
			prog.start(t, nil)
			if !await(ctx, func() bool { return len(w.unheard()) == 0 && w.app.Pending() == 0 && !busy(ctx, prog.data) }) {
				t.Errorf("%v have no answer, %d events are not acknowledged", w.unheard(), w.app.Pending())
			}
			if err := prog.stop(ctx); err != nil {
				t.Error(err)
			}
			w.audits(t, readRecord(t, copyRecord(t, prog.data)))
		})
	}
}

// falls waits for the kill, or makes it where no point in the program would do.
func (w *workspace) falls(ctx context.Context, t *testing.T, id string, prog *program) {
	t.Helper()
	if id != "K17" {
		if err := prog.killed(ctx); err != nil {
			t.Fatal(err)
		}
		return
	}
	hung := func() bool {
		for _, c := range w.slack.Ledger().Calls {
			if c.Fault == fake.Hang {
				return true
			}
		}
		return false
	}
	if !await(ctx, hung) {
		t.Fatal("nothing was sent")
	}
	<-time.After(50 * time.Millisecond) // the call hangs; nothing else is waited for
	prog.kill()
}

// audits compares the record with the workspace: I1, I2, I6.
func (w *workspace) audits(t *testing.T, r record) {
	t.Helper()
	told := map[string]int{}
	for _, e := range r.events {
		if e.kind == "said" && !strings.HasPrefix(e.actor, "agent:") {
			for _, tk := range token.FindAllString(e.body, -1) {
				told[tk]++
			}
		}
	}
	for _, tk := range w.tokens {
		if told[tk] != 1 {
			t.Errorf("I1, I2: the log has %s %d times, want once", tk, told[tk])
		}
	}
	copies := map[string]int{}
	for _, room := range w.rooms {
		for _, m := range room.Sent() {
			if copies[m.Key]++; copies[m.Key] > 1 || m.Key == "" {
				t.Errorf("I6: %.40q was said %d times", m.Text, copies[m.Key])
			}
		}
	}
	parts := 0
	for _, o := range r.orders {
		if o.state != "sent" {
			t.Errorf("I6: %s is %s", o.id, o.state)
		}
		parts += o.part
	}
	if len(copies) != parts {
		t.Errorf("I6: %d parts are sent and Slack has %d", parts, len(copies))
	}
}
