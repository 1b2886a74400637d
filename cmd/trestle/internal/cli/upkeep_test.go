package cli

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// spans returns what is noted of when Ada was connected with the rooms of the stage,
// the newest first.
func (s stage) spans(t *testing.T) (all []spaces.ConnectionSpan) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Options{Dir: filepath.Join(s.folder, "data"), NewID: storeopen.NewID})
	testutil.OK(t, err)
	m := spaces.Mind{Agent: "ada", Circle: "home"}
	ups, err := store.Shell().Uplinks(t.Context(), m)
	testutil.OK(t, err)
	for _, u := range ups {
		found, err := store.Shell().Spans(t.Context(), m, u.Space, 100)
		testutil.OK(t, err)
		all = append(all, found...)
	}
	testutil.OK(t, store.Close(t.Context()))
	return all
}

// SEQ-14: a command that opens the record by itself does not say that the agents were
// there; a process in which they live does.
func TestCommandsSayNothingOfWhereAgentsWere(t *testing.T) {
	s := aTalk(t)
	before := s.spans(t)
	for _, args := range [][]string{
		{"migrate"}, {"backup", "monday.db"}, {"backup", "--check", "monday.db"}, {"memory", "forget", "ada/home", "nothing"}, {"jobs", "cancel", "99"},
	} {
		out, errs, code := s.do(t, "", args...)
		if code == apperr.Usage || code == apperr.BadConfig {
			t.Errorf("%v: exit %s: %s%s", args, code, out, errs)
		}
	}
	if diff := cmp.Diff(before, s.spans(t)); diff != "" || len(before) == 0 {
		t.Errorf("%d spans, and after the commands (-before +after):\n%s", len(before), diff)
	}
	s.done(t, "hello again\n", "chat")
	if after := s.spans(t); len(after) != len(before)+1 || after[0].Opener != spaces.SpanStarted || after[0].Closer != spaces.SpanStopped {
		t.Errorf("spans are %+v, want one more of the talk", after)
	}
}
