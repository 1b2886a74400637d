package adapters

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
)

// ErrPanicked is in the chain of an error that was a panic: a fault of this program.
var ErrPanicked = errors.New("a fault of Trestle; the log has it")

// CatchPanic calls f and returns its error. If f panics, it logs the stack and returns
// an [*Error] of kind [Invalid] about op whose chain holds [ErrPanicked]: the same call
// would panic again.
func CatchPanic(lg *slog.Logger, op string, f func() error) (err error) {
	defer func() {
		if said := recover(); said != nil {
			lg.Error("panic", "op", op, "panic", fmt.Sprint(said), "stack", string(debug.Stack()))
			err = &Error{Kind: Invalid, Op: op, Err: ErrPanicked}
		}
	}()
	return f()
}

// ReadGuarded calls read, which reads raw, and returns its result. If read panics, the
// result is one update that keeps raw as unreadable with its Panicked set, so that raw
// is recorded and acknowledged, and stops nothing.
func ReadGuarded(lg *slog.Logger, kind string, raw []byte, read func() ([]Update, error)) (updates []Update, err error) {
	err = CatchPanic(lg, "read "+kind, func() (err error) {
		updates, err = read()
		return err
	})
	if errors.Is(err, ErrPanicked) {
		return []Update{{
			ID: RawKey(raw), Key: RawKey(raw), Raw: raw,
			Body: UnreadableUpdate{Kind: kind, Reason: ErrPanicked.Error(), Panicked: true},
		}}, nil
	}
	return updates, err
}
