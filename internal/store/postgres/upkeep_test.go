package postgres_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/internal/store/record"
	"github.com/trestle-bridge/trestle/spaces"
)

// SEQ-14: a process that begins while a command looks after the record connects its
// agents, and one that stops beside such a command says that they are gone.
func TestWhoLooksAfterTheRecordIsNobodyWhoLives(t *testing.T) {
	database := server.Database(t)
	o := options(t, database)
	first := open(t, o)
	room := openRoom(t, first)
	if err := first.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	command := o
	command.Lives, command.Alone = false, true
	open(t, command)
	second := open(t, o)
	var marks [][2]spaces.SpanReason
	read := func(s *record.Store) {
		found, err := s.Shell().Spans(t.Context(), spaces.Mind{Agent: "ada", Circle: "home"}, room, 10)
		if err != nil {
			t.Fatal(err)
		}
		marks = nil
		for _, p := range slices.Backward(found) {
			marks = append(marks, [2]spaces.SpanReason{p.Opener, p.Closer})
		}
	}
	read(second)
	want := [][2]spaces.SpanReason{{spaces.SpanLinked, spaces.SpanStopped}, {spaces.SpanStarted, ""}}
	if diff := cmp.Diff(want, marks); diff != "" {
		t.Errorf("spans beside a command (-want +got):\n%s", diff)
	}
	if err := second.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	third := o
	third.Lives = false
	read(open(t, third))
	want[1][1] = spaces.SpanStopped
	if diff := cmp.Diff(want, marks); diff != "" {
		t.Errorf("spans after a stop beside a command (-want +got):\n%s", diff)
	}
}
