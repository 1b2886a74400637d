package main

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters/fake"
	"github.com/trestle-bridge/trestle/spaces"
)

// Issue 3: a photo's metadata is in the event, its bytes come after it.
func TestPhotoIsSeenAndThenFetched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "admit: open\nwake: none\n")
		defer w.stop()
		w.addChat("home", "group", []string{"Kai", "Maya"})
		w.settle()
		w.chats["home"].Says(w.people["Kai"], "look", fake.Said{File: &fake.File{Kind: "document", Name: "plan.pdf", MIME: "application/pdf", Data: []byte("%PDF-1.7 the plan")}})
		w.settle()
		<-time.After(5 * time.Second) // files are looked for now and then
		synctest.Wait()
		var seen []spaces.Attachment
		chats, err := w.process.border.Chats(t.Context(), "telegram:7001", "")
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range chats {
			events, err := w.process.store.Shell().Events(t.Context(), c.Space, spaces.Primary, 0, 100)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range events {
				if said, ok := e.Body.(spaces.Said); ok {
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
