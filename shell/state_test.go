package shell

import (
	"errors"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

var states = []spaces.ShellState{
	spaces.Idle, spaces.Contemplating, spaces.Engaging, spaces.Acting, spaces.WaitingReply, spaces.Sleeping,
}

// PRD-6.3-1, PRD-6.3-3: every pair of states is either a legal move with a record or an
// error that changes nothing.
func TestIllegalMovesChangeNothing(t *testing.T) {
	moved := 0
	for _, from := range states {
		for _, to := range states {
			m := NewMachine("c1", from)
			tr, err := m.Move(to, TransitionCause{By: "agent", Reason: "test", At: time.Unix(1, 0)})
			if err != nil {
				if !errors.Is(err, ErrInvalidTransition) || m.State() != from {
					t.Errorf("%s to %s: %v, state %s", from, to, err, m.State())
				}
				if _, left := m.Taken(); left {
					t.Errorf("%s to %s left a record", from, to)
				}
				continue
			}
			moved++
			if tr.From != from || tr.To != to || tr.Cycle != "c1" || m.State() != to {
				t.Errorf("record of %s to %s is %+v", from, to, tr)
			}
		}
	}
	if moved != 14 {
		t.Errorf("the machine has %d moves, want 14", moved)
	}
}

// PRD-6.3-A3: all moves are handed over once, in order.
func TestMovesAreTakenOnceInOrder(t *testing.T) {
	m := NewMachine("c1", spaces.Idle)
	for _, to := range []spaces.ShellState{spaces.Contemplating, spaces.Engaging, spaces.Acting, spaces.Engaging} {
		m.must(to, TransitionCause{By: "system"})
	}
	got, ok := m.Taken()
	if !ok || len(got.Moves) != 4 || got.Moves[3].From != spaces.Acting {
		t.Fatalf("taken %+v", got)
	}
	if _, again := m.Taken(); again {
		t.Error("moves were handed over twice")
	}
}

// PRD-6.3-A1: a record is a value: whoever has one changes nothing of what others get,
// neither by the one that a move returned nor by those that were taken.
func TestARecordOfAMoveIsAValue(t *testing.T) {
	m := NewMachine("c1", spaces.Idle)
	mine, err := m.Move(spaces.Contemplating, TransitionCause{By: "agent"})
	if err != nil {
		t.Fatal(err)
	}
	mine.From, mine.To, mine.By = spaces.Sleeping, spaces.Sleeping, "nobody"
	got, _ := m.Taken()
	if move := got.Moves[0]; move.From != spaces.Idle || move.To != spaces.Contemplating || move.By != "agent" || m.State() != spaces.Contemplating {
		t.Errorf("the machine stands at %s, and its record became %+v", m.State(), move)
	}
	m.must(spaces.Engaging, TransitionCause{By: "agent"})
	next, _ := m.Taken()
	if len(next.Moves) != 1 || next.Moves[0].From != spaces.Contemplating {
		t.Errorf("the next record is %+v", next)
	}
	if move := got.Moves[0]; move.From != spaces.Idle || move.To != spaces.Contemplating {
		t.Errorf("the record before became %+v", move)
	}
}
