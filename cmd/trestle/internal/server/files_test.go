package server

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	fakediscord "github.com/trestle-bridge/trestle/adapters/fake/discord"
	fakeslack "github.com/trestle-bridge/trestle/adapters/fake/slack"
	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// Issue 3: a photo's metadata is in the event, its bytes come after it.
func TestPhotoIsSeenAndThenFetched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "admit: open\nwake: none\n")
		defer w.stop()
		w.addChat("home", "group", []string{"Kai", "Maya"})
		w.settle()
		w.chats["home"].Says(w.people["Kai"], "look", faketelegram.PostOptions{File: &faketelegram.SharedFile{Kind: "document", Name: "plan.pdf", MIME: "application/pdf", Data: []byte("%PDF-1.7 the plan")}})
		w.settle()
		pass(5 * time.Second) // files are looked for now and then
		var seen []spaces.FileAttachment
		chats, err := w.process.border.Chats(t.Context(), "telegram:7001", "")
		testutil.OK(t, err)
		for _, c := range chats {
			events, err := w.process.Store.Shell().Events(t.Context(), c.Space, spaces.Primary, 0, 100)
			testutil.OK(t, err)
			for _, e := range events {
				if said, ok := e.Body.(spaces.MessagePosted); ok {
					seen = append(seen, said.Attachments...)
				}
			}
		}
		if len(seen) != 1 || seen[0].Name != "plan.pdf" || seen[0].MIME != "application/pdf" || seen[0].Size == 0 {
			t.Fatalf("seen %+v", seen)
		}
		known, found, err := w.process.border.File(t.Context(), "telegram:7001", seen[0].ID)
		if err != nil || !found || known.Media != "application/pdf" {
			t.Fatalf("known %+v, %v", known, err)
		}
		got, err := os.ReadFile(w.process.files.Path(known.Hash))
		if err != nil || !strings.Contains(string(got), "the plan") {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

// ADR 19: the bytes of a deleted message leave the disk, also when the program ends
// between the deletion and the removal.
func TestFileOfADeletedMessageLeavesTheDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "# slack, discord\nadmit: open\nwake: none\n")
		w.addChat("ops", "slack", []string{"Maya"})
		w.addChat("kitchen", "discord", []string{"Lee"})
		w.settle()
		ts := w.slack.rooms["ops"].Says(w.slack.people["Maya"], "", fakeslack.PostOptions{File: &fakeslack.SharedFile{Name: "guests.csv", Data: []byte("a,b")}})
		id := w.discord.rooms["kitchen"].Says(w.discord.people["Lee"], "", fakediscord.PostOptions{Files: []fakediscord.SharedFile{{Name: "bill.csv", Data: []byte("c,d")}}})
		w.settle()
		left := func() int {
			hashes, err := w.process.files.Hashes()
			testutil.OK(t, err)
			return len(hashes)
		}
		if n := left(); n != 2 {
			t.Fatalf("%d files were fetched, want 2", n)
		}
		w.discord.rooms["kitchen"].Deletes(id)
		pass(2 * time.Minute)
		if n := left(); n != 1 {
			t.Errorf("%d files are on the disk a while after one was deleted", n)
		}
		w.slack.rooms["ops"].Deletes(ts)
		synctest.Wait()
		if n := left(); n != 1 {
			t.Errorf("%d files are on the disk right after the deletion: the sweep is not what a restart is tried against", n)
		}
		w.restart()
		w.settle()
		if n := left(); n != 0 {
			t.Errorf("%d files are on the disk after the next start", n)
		}
		w.stop()
	})
}
