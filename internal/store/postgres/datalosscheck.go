package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// A lastKnownState holds how far a process knows that the database had come.
type lastKnownState struct {
	Record string `json:"record"`
	Turn   int64  `json:"turn"` // the last one that left something behind
	// Left is the last of its turns that the server had, when that had lost others.
	Left *int64 `json:"left,omitempty"`
}

// lost returns what the server had of the turns that are known, where it has lost
// some: it has n turns by now. What others have written since does not hide it from a
// process that has found it out.
func (k lastKnownState) lost(n int64) (had int64, yes bool) {
	if k.Left != nil {
		return *k.Left, true
	}
	return n, k.Turn > n
}

const readTurn = `select record, n from turn`

// hearWitness compares the database with the state that this process stored in the
// witness file, and reports lost commits. They do not prevent a start: no other server
// has them.
func (e *postgresEngine) hearWitness(ctx context.Context) error {
	var n int64
	if err := e.pool.QueryRow(ctx, readTurn).Scan(&e.record, &n); err != nil {
		return fmt.Errorf("read turn: %w", err)
	}
	if e.opts.Witness == "" {
		return nil
	}
	text, err := os.ReadFile(e.opts.Witness)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var known lastKnownState
	if err := json.Unmarshal(text, &known); err != nil {
		e.opts.Logger.Warn("witness of the record not readable", "file", e.opts.Witness, "error", err)
		return nil
	}
	if had, lost := known.lost(n); lost && known.Record == e.record {
		e.opts.Logger.Error("the server has lost what it had confirmed", "turns", had, "known", known.Turn)
		e.opts.Rewound(known.Turn, had)
	}
	return nil
}

// witness stores the number of the last write of this process in the witness file. It
// is not synced: an older file only detects fewer lost commits.
func (e *postgresEngine) witness() {
	if e.opts.Witness == "" || e.had.Load() == 0 {
		return
	}
	text, err := json.Marshal(lastKnownState{e.record, e.had.Load(), e.left.Load()})
	if err == nil {
		err = os.WriteFile(e.opts.Witness+"~", text, 0o600)
	}
	if err == nil {
		err = os.Rename(e.opts.Witness+"~", e.opts.Witness)
	}
	if err != nil {
		e.opts.Logger.Warn("witness of the record not written", "error", err)
	}
}
