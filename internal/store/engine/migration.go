package engine

import "fmt"

// A MigrationProgress is the progress of a database towards the schema of this program. An
// engine reports it once before the first step, as the plan, and after each step.
// Each step is one transaction; the next start runs the steps that are left.
type MigrationProgress struct {
	From, To    int64  // versions of the schema
	Bytes       int64  // size of the database
	Copy        string // file to which the database is copied first; empty for none
	Done, Total int    // steps
}

// Walk runs the steps one by one by calling next, and reports the progress to told.
func (m MigrationProgress) Walk(next func() error, told func(MigrationProgress)) error {
	for ; m.Done < m.Total; m.Done++ {
		told(m)
		if err := next(); err != nil {
			return err
		}
	}
	told(m)
	return nil
}

// NewerError returns the error for a database that a newer program wrote. program is its
// version, if known.
func NewerError(have, want int64, program string) error {
	reads := "the newer program"
	if program != "" {
		reads = "trestle " + program
	}
	return fmt.Errorf("%w: its schema is %d, this program knows %d; use %s, which wrote it", ErrNewer, have, want, reads)
}
