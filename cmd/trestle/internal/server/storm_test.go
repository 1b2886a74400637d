package server

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/adapters/fake"
)

// storm is every way in which the answers of a platform go wrong: refusals for now,
// errors of the server, garbage, lost and late answers.
var storm = []fake.CallFault{
	{Do: fake.Refuse, RetryAfter: 1},
	{Do: fake.Refuse, RetryAfter: 300},
	{Do: fake.HTML, Status: 503},
	{Do: fake.Refuse, Status: 500},
	{Do: fake.Garbage, Apply: true},
	{Do: fake.Garbage},
	{Do: fake.Cut, Apply: true},
	{Do: fake.Cut},
	{Do: fake.Truncate, Apply: true},
	{Do: fake.Hang, Apply: true},
	{Do: fake.Delay, Wait: 40 * time.Second},
}

// weathers has Kai write four times under each fault of the storm, which arm and
// calm put in force and out of it, and returns what he wrote.
func (w *world) weathers(arm func(fake.CallFault), calm func()) (told []string) {
	w.t.Helper()
	for i, f := range storm {
		arm(f)
		for n := range 4 {
			told = append(told, fmt.Sprintf("%d in storm %d", n, i))
			w.tells(told[len(told)-1])
		}
		pass(15 * time.Minute)
		calm()
	}
	w.settle()
	return told
}

// tells has Kai write in the Telegram chat.
func (w *world) tells(text string) { w.says(w.chats["family"], w.people["Kai"], text, 0, 0) }

// arrive compares what came to a room.
func arrive(t *testing.T, room string, want, got []string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("in the %s (-want +got):\n%s", room, diff)
	}
}

// audited has the record looked over.
func (w *world) audited() {
	w.t.Helper()
	if found, err := w.process.Store.Audit(w.t.Context(), time.Now()); err != nil || len(found) > 0 {
		w.t.Errorf("audit: %v, %v", found, err)
	}
}

// bridgedTo is a room of a Telegram chat and two channels of another platform, the
// kitchen and the cellar, whose addresses are given.
func bridgedTo(t *testing.T, platform, kitchen, cellar string) *world {
	t.Helper()
	w := newWorld(t, fmt.Sprintf("# %s\nagents: {ada: {name: Ada}}\nlimits: {outgoing: off}\nspaces:\n"+
		"  family: {agents: [ada], wake: none, relay: true, chats: [\"telegram:-1001000000001\", %q, %q]}\n", platform, kitchen, cellar))
	w.addChat("kitchen", platform, []string{"Maya"})
	w.addChat("cellar", platform, []string{"Maya"})
	w.addChat("family", "supergroup", []string{"Kai"})
	w.settle()
	return w
}
