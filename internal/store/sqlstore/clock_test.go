package sqlstore

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// F43: what is stored goes by the clock that all processes share, and comes back by
// that of the process which reads.
func TestInstantsAreStoredByTheSharedClock(t *testing.T) {
	own := time.Now()
	for name, ahead := range map[string]time.Duration{"behind": -time.Hour, "ahead": 24 * time.Hour} {
		c := clock{shared: own.Add(-ahead).Round(0), own: own}
		at := own.Add(time.Minute)
		stored := c.of(at)
		if want := at.Add(-ahead); !stored.Equal(want) {
			t.Errorf("%s: stored %s, want %s", name, stored, want)
		}
		if back := c.here(stored); !back.Equal(at) {
			t.Errorf("%s: came back as %s, want %s", name, back, at)
		}
	}
}

// What differs by less than a second is one clock: what is stored is what was asked
// for, to the millisecond.
func TestClocksInStepChangeNoInstant(t *testing.T) {
	own := time.Now()
	at := own.Add(time.Minute).Round(time.Millisecond)
	for name, c := range map[string]clock{"one clock": {}, "in step": {shared: own.Add(900 * time.Millisecond).Round(0), own: own}} {
		if stored := c.of(at); !stored.Equal(at) {
			t.Errorf("%s: stored %s, want %s", name, stored, at)
		}
		if back := c.here(at); !back.Equal(at) {
			t.Errorf("%s: came back as %s, want %s", name, back, at)
		}
		if !c.of(time.Time{}).IsZero() || !c.here(time.Time{}).IsZero() {
			t.Errorf("%s: no time became one", name)
		}
	}
}

// An overheard is a session that only notes what it is told to write.
type overheard struct {
	Session
	args []any
}

// Run implements [Session].
func (o *overheard) Run(_ context.Context, _ string, args ...any) error {
	o.args = append(o.args, args...)
	return nil
}

// F43: a file and a voice are due at once by the clock that all processes share, however
// far ahead the clock of the one is that received them.
func TestFilesAreDueByTheSharedClock(t *testing.T) {
	own := time.Now()
	written := new(overheard)
	x := &tx{session: written, clock: clock{shared: own.Add(-time.Hour).Round(0), own: own}}
	said := spaces.Said{Ref: spaces.Ref{Account: "telegram:42", Chat: "1", Message: "2"}, Attachments: []spaces.Attachment{{Kind: "photo", ID: "f1"}}}
	testutil.OK(t, x.want(t.Context(), spaces.Event{ID: "e", Space: "s", RecvAt: own}, said))
	due := ms(own.Add(-time.Hour))
	if !slices.Contains(written.args, any(due)) || slices.Contains(written.args, any(ms(own))) {
		t.Errorf("a file is noted with %v, want it due at %d", written.args, due)
	}
	written.args = nil
	testutil.OK(t, x.voice(t.Context(), activity.FetchResult{File: activity.PendingFile{Account: "telegram:42", ID: "f2", Kind: "voice"}, At: own}))
	if len(written.args) != 4 || written.args[3] != any(due) {
		t.Errorf("a voice is noted with %v, want it due at %d", written.args, due)
	}
}
