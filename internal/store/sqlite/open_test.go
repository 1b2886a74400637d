package sqlite

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"
)

var start = time.Date(2025, 3, 1, 9, 0, 0, 0, time.UTC)

// ids mints ids that rise.
func ids() func() string {
	var n atomic.Int64
	return func() string { return fmt.Sprintf("id-%06d", n.Add(1)) }
}

func options(t testing.TB, dir string) Options {
	t.Helper()
	return Options{
		Dir: dir, NewID: ids(), Now: func() time.Time { return start },
		Logger: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
}

// openIn opens the record in dir and closes it with the test.
func openIn(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(t.Context(), options(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return s
}
