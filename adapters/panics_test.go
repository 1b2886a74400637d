package adapters

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

// An update that reading panics of is kept with its bytes, and the log has the stack.
func TestUpdateThatPanicsIsKept(t *testing.T) {
	var log bytes.Buffer
	updates, err := ReadGuarded(slog.New(slog.NewJSONHandler(&log, nil)), "message", []byte("raw"), func() ([]Update, error) {
		var none []int
		return nil, errors.New(string(rune(none[3])))
	})
	if err != nil || len(updates) != 1 {
		t.Fatalf("got %v, %v", updates, err)
	}
	bad, ok := updates[0].Body.(UnreadableUpdate)
	if !ok || !bad.Panicked || string(updates[0].Raw) != "raw" || updates[0].Key != RawKey([]byte("raw")) {
		t.Errorf("it became %+v", updates[0])
	}
	if said := log.String(); !strings.Contains(said, "panics_test.go") || !strings.Contains(said, "index out of range") {
		t.Errorf("the log says %s", said)
	}
}

// What reading returns goes through a guard as it is.
func TestGuardChangesNothing(t *testing.T) {
	want := errors.New("no")
	updates, err := ReadGuarded(slog.New(slog.DiscardHandler), "message", nil, func() ([]Update, error) { return []Update{{ID: "1"}}, want })
	if !errors.Is(err, want) || len(updates) != 1 || errors.Is(err, ErrPanicked) {
		t.Errorf("got %v, %v", updates, err)
	}
}
