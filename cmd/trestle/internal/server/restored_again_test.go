package server

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	fakediscord "github.com/trestle-bridge/trestle/adapters/fake/discord"
	fakeslack "github.com/trestle-bridge/trestle/adapters/fake/slack"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/backup"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// relayedRoom is one room on Slack and Discord in which an agent answers everything.
const relayedRoom = "# slack, discord\nagents: {ada: {name: Ada, phases: one}}\nlimits: {outgoing: off}\nspaces:\n" +
	"  family: {agents: [ada], wake: all, relay: true, chats: [\"acme:C0000007\", \"guild:7\"]}\n"

// newRelayedRoom returns a world with that room, which has settled.
func newRelayedRoom(t *testing.T, config string) *world {
	t.Helper()
	w := newWorldOf(t, config, llmtest.LeakyModel{Brief: true})
	w.addChat("kitchen", "slack", []string{"Maya"})
	w.addChat("porch", "discord", []string{"Nova"})
	w.settle()
	return w
}

// backup copies the database in its present state.
func (w *world) backup() string {
	w.t.Helper()
	file := filepath.Join(w.t.TempDir(), "monday.db")
	testutil.OK(w.t, w.process.Store.Console().Backup(w.t.Context(), file))
	return file
}

// restores ends the program and puts a backup in the place of its record, in which
// what was said before until counts as dealt with.
func (w *world) restores(file string, until time.Time) {
	w.t.Helper()
	w.end()
	w.dir = w.t.TempDir()
	testutil.OK(w.t, backup.PlaceDatabase(w.t.Context(), file, filepath.Join(w.dir, "data"), until))
}

// copies counts what was posted for each of these words, over both platforms.
func (w *world) copies(words ...string) map[string]int {
	n := map[string]int{}
	for _, text := range words {
		for _, m := range w.slack.rooms["kitchen"].Sent() {
			n[text] += strings.Count(m.Text, text)
		}
		for _, room := range slices.Sorted(maps.Keys(w.discord.rooms)) {
			for _, m := range w.discord.rooms[room].Sent(w.discord.bot) {
				n[text] += strings.Count(m.Content, text)
			}
		}
	}
	return n
}

// DELIVERY 2.2-1, 2.2-4: a restored database receives the messages since the backup,
// and no message is answered, or copied to other chats, a second time: not when Discord
// still has the session of then, either, nor in threads.
func TestARestoredRecordAnswersNobodyASecondTime(t *testing.T) {
	for _, session := range []string{"resumed", "forgotten"} {
		t.Run(session, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newRelayedRoom(t, relayedRoom)
				maya, nova := w.slack.people["Maya"], w.discord.people["Nova"]
				kitchen, porch := w.slack.rooms["kitchen"], w.discord.rooms["porch"]
				root := kitchen.Says(maya, "before", fakeslack.PostOptions{})
				w.addTopic("porch", "plans")
				w.settle()
				file := w.backup()

				said := []string{"from Slack", "in a thread there", "from Discord", "in a thread here"}
				first := kitchen.Says(maya, said[0], fakeslack.PostOptions{})
				w.settle()
				kitchen.Says(maya, said[1], fakeslack.PostOptions{Thread: root})
				w.settle()
				porch.Says(nova, said[2], fakediscord.PostOptions{})
				w.settle()
				w.discord.rooms["porch/plans"].Says(nova, said[3], fakediscord.PostOptions{})
				w.settle()
				sent := w.copies(said...)
				for _, words := range said {
					if sent[words] == 0 { // the relay, and most times the answer
						t.Fatalf("%q was posted %d times: the test tests nothing", words, sent[words])
					}
				}

				if session == "forgotten" {
					w.discord.bot.Forget()
				}
				w.restores(file, time.Now())
				w.start()
				testutil.Same(t, "posted", sent, w.copies(said...))
				known := map[string]int{}
				for _, words := range said {
					known[words] = strings.Count(w.log(spaces.Room), words)
				}
				testutil.Same(t, "known again", map[string]int{said[0]: 1, said[1]: 1, said[2]: 1, said[3]: 1}, known)

				kitchen.Edits(first, said[0]+", changed")
				kitchen.Reacts(maya, first, "tada")
				w.settle()
				kitchen.Says(maya, "and now?", fakeslack.PostOptions{})
				w.settle()
				porch.Says(nova, "what next?", fakediscord.PostOptions{})
				w.settle()
				for words, n := range w.copies("and now?", "what next?") {
					if n < 2 {
						t.Errorf("%q was posted %d times after the restore", words, n)
					}
				}
				testutil.Same(t, "posted in the end", sent, w.copies(said...))
				said = append(said, "and now?", "what next?")
				sent = w.copies(said...)
				w.restores(file, time.Now())
				w.start()
				testutil.Same(t, "posted after the same backup was restored again", sent, w.copies(said...))
				if log := w.log(spaces.Room); strings.Contains(log, "failed") {
					t.Errorf("something failed:\n%s", log)
				}
				w.stop()
			})
		})
	}
}

// The operator knows since when nothing ran: who wrote then still waits.
func TestWhoWroteWhileNothingRanIsAnsweredAfterARestore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newRelayedRoom(t, relayedRoom)
		file := w.backup()
		s := &scene{world: w, labels: map[string]int64{}}
		for _, line := range []string{"Maya@kitchen: heard from Maya", "Nova@porch: heard from Nova"} {
			s.do(t, line)
		}
		sent := w.copies("heard from Maya", "heard from Nova")
		w.end()
		pass(time.Minute)
		down := time.Now()
		pass(time.Minute)
		w.slack.rooms["kitchen"].Says(w.slack.people["Maya"], "Maya waits", fakeslack.PostOptions{})
		w.discord.rooms["porch"].Says(w.discord.people["Nova"], "Nova waits", fakediscord.PostOptions{})
		pass(time.Hour)
		w.dir = t.TempDir()
		testutil.OK(t, backup.PlaceDatabase(t.Context(), file, filepath.Join(w.dir, "data"), down))
		w.start()
		testutil.Same(t, "posted before", sent, w.copies("heard from Maya", "heard from Nova"))
		for words, n := range w.copies("Maya waits", "Nova waits") {
			if n < 2 {
				t.Errorf("%q was posted %d times", words, n)
			}
		}
		w.stop()
	})
}
