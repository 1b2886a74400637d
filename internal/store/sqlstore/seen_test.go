package sqlstore_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/internal/store/storetest"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// shown returns which of the events e1 to e48 the agent's mind was shown, as another of
// its minds asks.
func (d *diary) shown() (seen []int) {
	d.t.Helper()
	other := spaces.Mind{Agent: "ada", Circle: "other"}
	for n := range 48 {
		minds, err := d.s.Shell().ShownTo(d.t.Context(), other, spaces.EventID("e"+strconv.Itoa(n+1)))
		testutil.OK(d.t, err)
		if slices.Equal(minds, []spaces.Mind{mind}) {
			seen = append(seen, n+1)
		} else if len(minds) > 0 {
			d.t.Fatalf("%d was shown to %v", n+1, minds)
		}
	}
	return seen
}

// do changes the tables behind the record's back.
func (d *diary) do(statement string, args ...any) {
	d.t.Helper()
	err := d.s.Write(d.t.Context(), func(ctx context.Context, t *sqlstore.WriteTx) error { return t.Do(ctx, statement, args...) })
	testutil.OK(d.t, err)
}

// DESIGN 2: who was shown a message is known however long ago it was and whatever
// was under way when it was noted; and what was noted once is not looked through again.
func TestWhoWasShownAMessageIsNotedOnce(t *testing.T) {
	onEachEngine(t, func(t *testing.T, s *sqlstore.Store) {
		t.Helper()
		d := newDiary(t, s)
		var all []int
		for n := range 32 {
			d.answer(n-60, 0, true)
			if all = append(all, n+1); n == 9 {
				testutil.Same(t, "of few", all, d.shown())
			}
		}
		const late = 20
		d.do(`update cycles set state = 'open', stop = null, n = null where id = $1`, string(d.runs[late]))
		testutil.Same(t, "while one is under way", all, d.shown())
		d.do(`update steps set refs = '[]' where cycle <> $1`, string(d.runs[late]))
		d.do(`update cycles set state = 'abandoned', stop = 'coordinator' where id = $1`, string(d.runs[late]))
		for n := range 16 { // again there is enough to note
			d.answer(n-20, 0, true)
			all = append(all, 33+n)
		}
		testutil.Same(t, "when it ended", all, d.shown())
		d.do(`update steps set refs = '[]'`)
		testutil.Same(t, "from what was noted", all, d.shown())
	})
}

// F43, SECURITY S14: what a run was shown is found although the clock was put back before
// it began, or is one of several and behind the others.
func TestWhoWasShownAMessageIsKnownByAnyClock(t *testing.T) {
	onEachEngine(t, func(t *testing.T, s *sqlstore.Store) {
		t.Helper()
		d := newDiary(t, s)
		var all []int
		for n := range 20 {
			d.answer(n-60, 0, true)
			all = append(all, n+1)
		}
		testutil.Same(t, "by one clock", all, d.shown())
		d.answer(-90, 0, true)
		testutil.Same(t, "when it was put back", append(all, 21), d.shown())
	})
}

// A deletion looks through no more than what is not noted yet.
func TestWhoWasShownAMessageIsFoundByIndex(t *testing.T) {
	for _, name := range []string{"cyclesShown", "mindsShown"} {
		for _, step := range plan(t, openTables(t), storetest.Statements(t)[name]) {
			if strings.Contains(step, "AUTOMATIC") || strings.HasPrefix(step, "SCAN") && step != "SCAN l" && step != "SCAN saw" && step != "SCAN unseen" && step != "SCAN u" {
				t.Errorf("%s: %s", name, step)
			}
		}
	}
}
