package server

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters/fake"
	fakediscord "github.com/trestle-bridge/trestle/adapters/fake/discord"
	fakeslack "github.com/trestle-bridge/trestle/adapters/fake/slack"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/history"
	"github.com/trestle-bridge/trestle/internal/jobs"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// Issue 4, SEQ-04, ECOSYSTEM 7: a process that ends in the middle of Slack's history
// goes on where it was, within Slack's limits: what is read is not read again.
func TestHistoryGoesOnWhereItWasCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "# slack\nagents: {ada: {name: Ada}}\nservers:\n  \"acme:T0000001\": {agents: [ada], wake: none}\n")
		maya := w.slack.AddPerson(fakeslack.UserProfile{Name: "Maya"})
		var ops *fakeslack.WorkspaceChannel
		var want, roots []string
		for day := range 12 {
			w.slack.Behind(time.Duration(12-day) * 24 * time.Hour)
			if ops == nil {
				ops = w.slack.NewChannel("ops", maya)
			}
			for _, of := range []string{"morning", "evening"} {
				words := fmt.Sprintf("%s of day %d", of, day)
				root := ops.Says(maya, words, fakeslack.PostOptions{})
				ops.Says(maya, words+" answered", fakeslack.PostOptions{Thread: root})
				want, roots = append(want, words, words+" answered"), append(roots, root)
			}
		}
		w.slack.Behind(0)
		ops.Invites(maya, w.slack.app)
		w.settle()
		w.slack.Fault(fake.CallFault{Method: "conversations.replies", Do: fake.Hang, Skip: 13})
		w.cutBackfill("ops", int64(len(want)))
		read := map[string]int{}
		for _, c := range w.slack.Ledger().Calls {
			if c.Method == "conversations.replies" {
				read[c.Target]++
			}
		}
		for i, root := range roots {
			if again := i >= 10 && i <= 13; read[root] != 1 && !again { // the portion that was cut off
				t.Errorf("thread %d was read %d times", i, read[root])
			}
		}
		testutil.Same(t, "the log", want, w.said("Maya"))
		w.stop()
	})
}

// Issue 5, SEQ-04: the same for Discord's history, with an active thread and an
// archived one. It wakes no agent.
func TestDiscordsHistoryGoesOnWhereItWasCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "# discord\nagents: {ada: {name: Ada}}\nservers:\n  \"guild:6\": {agents: [ada], wake: all}\n")
		maya := w.discord.person("Maya")
		other := w.discord.NewGuild("Other", maya)
		ops := other.NewChannel("ops", fakediscord.TextChannel)
		thread, old := ops.NewThread(maya, "thread"), ops.NewThread(maya, "old")
		var want []string
		for _, in := range []struct {
			*fakediscord.GuildChannel
			name  string
			lines int
		}{{ops, "room", 250}, {thread, "thread", 120}, {old, "old", 30}} {
			for n := range in.lines {
				want = append(want, fmt.Sprintf("%s line %d", in.name, n))
				in.Says(maya, want[len(want)-1], fakediscord.PostOptions{})
			}
		}
		old.Archive()
		other.Adds(w.discord.bot, 0)
		w.settle()
		w.discord.Fault(fake.CallFault{Method: "get messages", Do: fake.Hang, Skip: 4})
		w.cutBackfill("ops", int64(len(want)))
		read := map[fakediscord.SnowflakeID]int{}
		for _, c := range w.discord.Ledger().Calls {
			if c.Method == "get messages" {
				read[c.Channel]++
			}
		}
		// three pages of the room; of the thread the one that was cut off a second time; the old one's
		testutil.Same(t, "pages read", map[fakediscord.SnowflakeID]int{ops.ID: 3, thread.ID: 3, old.ID: 1}, read)
		testutil.Same(t, "the log", want, w.said("Maya"))
		w.stop()
	})
}

// cutBackfill reads the history of a room's one chat in which that much was said,
// with a restart in the middle.
func (w *world) cutBackfill(room string, messages int64) {
	w.t.Helper()
	ctx := w.t.Context()
	chats, err := history.SpaceChats(ctx, w.process.Store, room)
	testutil.OK(w.t, err)
	work := w.process.backfillJob()
	j, err := work.Add(ctx, history.BackfillRequest{Space: room, Since: time.Now().Add(-30 * 24 * time.Hour)}, chats)
	testutil.OK(w.t, err)
	w.process.notifier.Ring(jobsKey)
	pass(20 * time.Second)
	if j, err = w.process.Store.Jobs().Job(ctx, j.ID); err != nil || j.Done == 0 || j.Done >= messages {
		w.t.Fatalf("cut off at %d of %d messages, %v", j.Done, messages, err)
	}
	w.restart()
	pass(3 * time.Minute)
	w.settle()
	if j, err = w.process.Store.Jobs().Job(ctx, j.ID); err != nil || j.State != jobs.Done || j.Done != messages {
		w.t.Errorf("in the end the job is %s with %d messages, %v", j.State, j.Done, err)
	}
}

// said returns what a person said in the rooms, as the record has it.
func (w *world) said(who string) (words []string) {
	for line := range strings.Lines(w.log(spaces.Room)) {
		if _, said, ok := strings.Cut(line, " said "+who); ok {
			_, said, _ = strings.Cut(said, "\"")
			words = append(words, strings.TrimSuffix(said, "\"\n"))
		}
	}
	return words
}
