package discord_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/adapters"
	fakediscord "github.com/trestle-bridge/trestle/adapters/fake/discord"
)

// issue 5: backfill reads a chat and its threads, page by page, under the keys of
// what was heard live.
func TestHistoryIsReadWithItsThreads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		for i := range 150 {
			w.says(fmt.Sprint("line ", i))
		}
		thread, archived := w.room.NewThread(w.kai, "Lunch"), w.room.NewThread(w.kai, "Old")
		thread.Says(w.kai, "in the thread", fakediscord.PostOptions{})
		archived.Says(w.kai, "long ago", fakediscord.PostOptions{})
		archived.Archive()
		private := w.room.NewPrivateThread(w.kai, "Psst")
		private.Says(w.kai, "between us", fakediscord.PostOptions{})
		private.Archive()
		live := map[string]bool{}
		for _, u := range w.inbox.take() {
			live[u.Key] = true
		}
		var pages []adapters.HistoryPage
		read := func(s adapters.HistoryRange) []string {
			t.Helper()
			var words []string
			err := w.client.History(t.Context(), s, func(_ context.Context, p adapters.HistoryPage) error {
				pages = append(pages, p)
				words = append(words, texts(p.Updates)...)
				for _, u := range p.Updates {
					if _, ok := u.Body.(adapters.IncomingMessage); ok && !live[u.Key] {
						t.Errorf("key %s was not heard live", u.Key)
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			return words
		}
		all := read(adapters.HistoryRange{Chat: w.room.ID.String()})
		if len(all) != 152 || all[0] != "line 0" || all[149] != "line 149" || all[150] != "in the thread" || all[151] != "long ago" {
			t.Errorf("read %d: %q", len(all), all)
		}
		if len(pages) < 3 || pages[len(pages)-1].Cursor != nil {
			t.Errorf("%d pages, the last with cursor %q", len(pages), pages[len(pages)-1].Cursor)
		}
		if rest := read(adapters.HistoryRange{Chat: w.room.ID.String(), Cursor: pages[0].Cursor}); len(rest) != 52 || rest[0] != "line 100" {
			t.Errorf("from the first cursor on %d: %q", len(rest), rest)
		}
		if alone := read(adapters.HistoryRange{Chat: private.ID.String()}); !cmp.Equal(alone, []string{"between us"}) {
			t.Errorf("the private thread holds %q", alone)
		}
		if one := read(adapters.HistoryRange{Chat: w.room.ID.String(), Thread: thread.ID.String()}); !cmp.Equal(one, []string{"in the thread"}) {
			t.Errorf("the thread holds %q", one)
		}
	})
}

// issue 5: a stretch of history has its two ends.
func TestHistoryIsReadBetweenTwoMoments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pass(16 * 365 * 24 * time.Hour) // Discord's ids hold the time since 2015
		w := open(t)
		var said []time.Time
		for i := range 6 {
			pass(time.Hour)
			said = append(said, time.Now())
			w.says(fmt.Sprint("line ", i))
		}
		for _, test := range []struct {
			from, to time.Time
			want     []string
		}{
			{said[1], said[3], []string{"line 1", "line 2", "line 3"}},
			{said[4].Add(time.Minute), time.Time{}, []string{"line 5"}},
			{time.Time{}, said[0], []string{"line 0"}},
		} {
			var read []string
			err := w.client.History(t.Context(), adapters.HistoryRange{Chat: w.room.ID.String(), From: test.from, To: test.to}, func(_ context.Context, p adapters.HistoryPage) error {
				read = append(read, texts(p.Updates)...)
				return nil
			})
			if diff := cmp.Diff(test.want, read); diff != "" || err != nil {
				t.Errorf("from %s to %s: %v\n%s", test.from, test.to, err, diff)
			}
		}
	})
}
