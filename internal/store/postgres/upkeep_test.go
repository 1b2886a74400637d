package postgres_test

import (
	"slices"
	"testing"

	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// SEQ-14: a process that begins while a command looks after the record connects its
// agents, and one that stops beside such a command says that they are gone.
func TestWhoLooksAfterTheRecordIsNobodyWhoLives(t *testing.T) {
	database := server.Database(t)
	o := options(t, database)
	first := open(t, o)
	room := openRoom(t, first)
	testutil.OK(t, first.Close(t.Context()))
	command := o
	command.Lives, command.Alone = false, true
	open(t, command)
	second := open(t, o)
	var marks [][2]spaces.SpanReason
	read := func(s *sqlstore.Store) {
		found, err := s.Shell().Spans(t.Context(), spaces.Mind{Agent: "ada", Circle: "home"}, room, 10)
		testutil.OK(t, err)
		marks = nil
		for _, p := range slices.Backward(found) {
			marks = append(marks, [2]spaces.SpanReason{p.Opener, p.Closer})
		}
	}
	read(second)
	want := [][2]spaces.SpanReason{{spaces.SpanLinked, spaces.SpanStopped}, {spaces.SpanStarted, ""}}
	testutil.Same(t, "spans beside a command", want, marks)
	testutil.OK(t, second.Close(t.Context()))
	third := o
	third.Lives = false
	read(open(t, third))
	want[1][1] = spaces.SpanStopped
	testutil.Same(t, "spans after a stop beside a command", want, marks)
}
