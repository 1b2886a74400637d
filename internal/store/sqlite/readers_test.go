package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/trestle-bridge/trestle/internal/store/engine"
)

func openSomeReaders(t *testing.T) *readers {
	t.Helper()
	dir := t.TempDir()
	openIn(t, dir)
	r, err := openReaders(t.Context(), filepath.Join(dir, FileName), "ro", reading)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestEveryReadGivesItsConnectionBack(t *testing.T) {
	r := openSomeReaders(t)
	for range 2 * readerCount {
		if _, err := r.Query(t.Context(), "select nothing from nowhere"); err == nil {
			t.Fatal("a statement that says nothing was answered")
		}
		if err := r.View(t.Context(), func(context.Context, engine.QueryReader) error { return engine.ErrUnknown }); !errors.Is(err, engine.ErrUnknown) {
			t.Fatal(err)
		}
		rows, err := r.Query(t.Context(), "select 1 union all select 2")
		if err != nil || !rows.Next() { // the second row is left
			t.Fatal(err)
		}
		for range 2 {
			if err := rows.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := r.close(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Query(t.Context(), "select 1"); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("a read after the close gives %v, want ErrClosed", err)
	}
}

// A wake that panics is a failed attempt and no more: what it read on serves others.
func TestViewThatPanicsLeavesNoViewBehind(t *testing.T) {
	r := openSomeReaders(t)
	for range readerCount {
		func() {
			defer func() { _ = recover() }()
			_ = r.View(t.Context(), func(context.Context, engine.QueryReader) error { panic("our own bug") })
		}()
	}
	for range readerCount {
		if err := r.View(t.Context(), func(context.Context, engine.QueryReader) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.close(); err != nil {
		t.Fatal(err)
	}
}

// What one read has learnt of the file serves the next: they run on one connection.
func TestReadsOneAfterTheOtherRunOnOneConnection(t *testing.T) {
	r := openSomeReaders(t)
	var used []*connection
	for range 2 * readerCount {
		c, err := r.take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		used = append(used, c)
		r.give(c)
	}
	if len(slices.Compact(used)) != 1 {
		t.Error("reads that did not overlap ran on several connections")
	}
	if err := r.close(); err != nil {
		t.Fatal(err)
	}
}

func TestReadWaitsForAConnectionAsLongAsItsCallerDoes(t *testing.T) {
	r := openSomeReaders(t)
	held := make([]*connection, readerCount)
	for i := range held {
		var err error
		if held[i], err = r.take(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	waiting.Go(func() {
		if _, err := r.Query(ctx, "select 1"); !errors.Is(err, context.Canceled) {
			t.Errorf("a read that was given up ends with %v", err)
		}
	})
	cancel()
	waiting.Wait()
	for _, c := range held {
		r.give(c)
	}
	if err := r.close(); err != nil {
		t.Fatal(err)
	}
}
