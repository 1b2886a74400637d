package sqlstore_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// A write is one change of the record.
type write = func(ctx context.Context, t *sqlstore.WriteTx) error

// keep is a write that leaves one row.
func keep(name string) write {
	return func(ctx context.Context, t *sqlstore.WriteTx) error {
		return t.Do(ctx, `insert into meta (name, value) values ($1, $2)`, name, "x")
	}
}

func rowsOf(t *testing.T, s *sqlstore.Store) int {
	t.Helper()
	n, err := s.Count(t.Context(), `select count(*) from meta`)
	testutil.OK(t, err)
	return n
}

// held returns a write that keeps the writer busy until release is called.
func held() (hold write, begun <-chan struct{}, release func()) {
	in, out := make(chan struct{}), make(chan struct{})
	return func(context.Context, *sqlstore.WriteTx) error {
		close(in)
		<-out
		return nil
	}, in, func() { close(out) }
}

// grouped runs the writes so that all of them wait while the writer is busy, and
// returns their outcomes.
func grouped(t *testing.T, s *sqlstore.Store, writes []write) []error {
	t.Helper()
	return groupedBy(t, s, s.Write, writes)
}

// groupedBy hands the writes to one of the store's ways to write.
func groupedBy(t *testing.T, s *sqlstore.Store, hand func(context.Context, write) error, writes []write) []error {
	t.Helper()
	hold, begun, release := held()
	outcomes := make([]error, len(writes))
	var all sync.WaitGroup
	all.Go(func() {
		if err := s.Write(t.Context(), hold); err != nil {
			t.Error(err)
		}
	})
	<-begun
	var coming sync.WaitGroup
	coming.Add(len(writes))
	for i, w := range writes {
		all.Go(func() {
			coming.Done()
			outcomes[i] = hand(t.Context(), w)
		})
	}
	coming.Wait() // where one thread runs all, none may have begun yet
	release()
	all.Wait()
	return outcomes
}

// DELIVERY 2.7: what waits together is committed together.
func TestWritersShareCommits(t *testing.T) {
	onEachEngine(t, func(t *testing.T, s *sqlstore.Store) {
		t.Helper()
		var writes []write
		for n := range 200 {
			writes = append(writes, keep(fmt.Sprint(n)))
		}
		before := s.Commits()
		for i, err := range grouped(t, s, writes) {
			if err != nil {
				t.Errorf("write %d: %v", i, err)
			}
		}
		if n := s.Commits() - before; n > 100 {
			t.Errorf("200 writes took %d commits, want them to share", n)
		}
		if got := rowsOf(t, s); got != 200 {
			t.Errorf("%d rows, want 200", got)
		}
	})
}

func TestFailedWriteTakesNoNeighbourWithIt(t *testing.T) {
	onEachEngine(t, func(t *testing.T, s *sqlstore.Store) {
		t.Helper()
		broken := errors.New("changed my mind")
		for way, hand := range waysToWrite(s) {
			before := rowsOf(t, s)
			var writes []write
			for n := range 30 {
				writes = append(writes, func(ctx context.Context, tx *sqlstore.WriteTx) error {
					if err := keep(fmt.Sprint(way, n))(ctx, tx); err != nil || n%3 != 0 {
						return err
					}
					return broken
				})
			}
			for n, err := range groupedBy(t, s, hand, writes) {
				if want := n%3 == 0; errors.Is(err, broken) != want {
					t.Errorf("%s: write %d gave %v", way, n, err)
				}
			}
			if got := rowsOf(t, s) - before; got != 20 {
				t.Errorf("%s: %d rows, want the 20 that did not fail", way, got)
			}
		}
	})
}

// A statement that the engine refuses fails one write, also when it is held back until
// the next query.
func TestRefusedStatementTakesNoNeighbourWithIt(t *testing.T) {
	onEachEngine(t, func(t *testing.T, s *sqlstore.Store) {
		t.Helper()
		for way, hand := range waysToWrite(s) {
			before := rowsOf(t, s)
			writes := []write{keep(way + "a"), keep(way + "b"), keep(way + "a"), keep(way + "c")}
			failed := 0
			for n, err := range groupedBy(t, s, hand, writes) {
				if err != nil {
					failed++
				}
				if same := n == 0 || n == 2; err != nil && !same {
					t.Errorf("%s: write %d gave %v", way, n, err)
				}
			}
			if got := rowsOf(t, s) - before; got != 3 || failed != 1 {
				t.Errorf("%s: %d rows and %d that failed, want 3 and one of two that are alike", way, got, failed)
			}
		}
	})
}

// Of what every message needs a write runs once, or once more where another one of its
// group has failed.
func TestWritesThatGoTogetherRunOnceMoreAtMost(t *testing.T) {
	onEachEngine(t, func(t *testing.T, s *sqlstore.Store) {
		t.Helper()
		broken := errors.New("changed my mind")
		for _, end := range []error{nil, broken} {
			runs := make([]int, 20)
			var writes []write
			for n := range runs {
				writes = append(writes, func(context.Context, *sqlstore.WriteTx) error {
					if runs[n]++; n == 7 {
						return end
					}
					return nil
				})
			}
			for n, err := range groupedBy(t, s, s.WriteFrequent, writes) {
				if want := n == 7 && end != nil; errors.Is(err, broken) != want {
					t.Errorf("write %d gave %v", n, err)
				}
			}
			for n, times := range runs {
				if times != 1 && (times != 2 || end == nil) {
					t.Errorf("write %d ran %d times beside one that ended in %v", n, times, end)
				}
			}
		}
	})
}

// What follows a write and fails is undone alone.
func TestFailedFollowerTakesNobodyWithIt(t *testing.T) {
	onEachEngine(t, func(t *testing.T, s *sqlstore.Store) {
		t.Helper()
		for way, hand := range waysToWrite(s) {
			before := rowsOf(t, s)
			leads := func(name string, end error) write {
				return func(ctx context.Context, tx *sqlstore.WriteTx) error {
					tx.FollowUp(func(ctx context.Context, tx *sqlstore.WriteTx) error {
						return errors.Join(keep("after "+name)(ctx, tx), end)
					}, func() {})
					return keep(name)(ctx, tx)
				}
			}
			writes := []write{leads(way+"a", nil), leads(way+"b", errors.New("changed my mind")), leads(way+"c", nil)}
			for n, err := range groupedBy(t, s, hand, writes) {
				if err != nil {
					t.Errorf("%s: write %d gave %v", way, n, err)
				}
			}
			if got := rowsOf(t, s) - before; got != 5 {
				t.Errorf("%s: %d rows, want three and two that followed", way, got)
			}
		}
	})
}

// waysToWrite are the store's, by name: each write apart, and what every message
// needs.
func waysToWrite(s *sqlstore.Store) map[string]func(context.Context, write) error {
	return map[string]func(context.Context, write) error{"apart": s.Write, "together": s.WriteFrequent}
}

// A panic in a write is its caller's; the writer lives on.
func TestPanicInAWriteReachesItsCallerAlone(t *testing.T) {
	onEachEngine(t, func(t *testing.T, s *sqlstore.Store) {
		t.Helper()
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			_ = s.Write(t.Context(), func(ctx context.Context, tx *sqlstore.WriteTx) error {
				if err := keep("lost")(ctx, tx); err != nil {
					return err
				}
				panic("own bug")
			})
		}()
		testutil.OK(t, s.Write(t.Context(), keep("kept")))
		if got := rowsOf(t, s); got != 1 {
			t.Errorf("%d rows, want the one after the panic", got)
		}
	})
}

func TestClosedStoreTakesNothing(t *testing.T) {
	onEachEngine(t, func(t *testing.T, s *sqlstore.Store) {
		t.Helper()
		testutil.OK(t, s.Close(t.Context()))
		if err := s.Write(t.Context(), keep("late")); !errors.Is(err, engine.ErrClosed) {
			t.Errorf("got %v, want ErrClosed", err)
		}
	})
}

func TestWaitingWriteEndsWithItsContext(t *testing.T) {
	onEachEngine(t, func(t *testing.T, s *sqlstore.Store) {
		t.Helper()
		hold, begun, release := held()
		var busy sync.WaitGroup
		busy.Go(func() {
			if err := s.Write(t.Context(), hold); err != nil {
				t.Error(err)
			}
		})
		<-begun
		ctx, cancel := context.WithCancel(t.Context())
		var late error
		busy.Go(func() { late = s.Write(ctx, keep("late")) })
		cancel()
		release()
		busy.Wait()
		if rows := rowsOf(t, s); (late == nil) != (rows == 1) {
			t.Errorf("the write gave %v and left %d rows", late, rows)
		}
	})
}

// DELIVERY 3.1, exec_then_error: the caller of a commit whose answer is lost
// learns of an error, and its neighbours of nothing.
func TestWriteWhoseAnswerIsLostIsStillThere(t *testing.T) {
	onEachEngine(t, func(t *testing.T, s *sqlstore.Store) {
		t.Helper()
		lost := errors.New("answer lost")
		outcomes := grouped(t, s, []write{
			keep("a"),
			func(ctx context.Context, tx *sqlstore.WriteTx) error {
				tx.Stays()
				return errors.Join(keep("b")(ctx, tx), lost)
			},
			keep("c"),
		})
		for n, err := range outcomes {
			if want := n == 1; errors.Is(err, lost) != want {
				t.Errorf("write %d gave %v", n, err)
			}
		}
		if got := rowsOf(t, s); got != 3 {
			t.Errorf("%d rows, want all three", got)
		}
	})
}
