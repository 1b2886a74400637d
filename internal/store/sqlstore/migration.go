package sqlstore

import "fmt"

// A Migration is how far a record is on its way to the schema of this program.
// An engine tells it once before anything is changed, which is the plan, and
// after each step. Each step is whole or not at all; the next start takes the rest.
type Migration struct {
	From, To    int64  // versions of the schema
	Bytes       int64  // of the record
	Copy        string // file in which the record is set aside first; empty where the engine has other ways
	Done, Total int    // steps
}

// Walk takes the steps of a migration one by one, by next, and tells each.
func (m Migration) Walk(next func() error, told func(Migration)) error {
	for ; m.Done < m.Total; m.Done++ {
		told(m)
		if err := next(); err != nil {
			return err
		}
	}
	told(m)
	return nil
}

// Newer is the refusal of a record that a newer program wrote, which is named when it
// is known.
func Newer(have, want int64, program string) error {
	reads := "the newer program"
	if program != "" {
		reads = "trestle " + program
	}
	return fmt.Errorf("%w: its schema is %d, this program knows %d; use %s, which wrote it", ErrNewer, have, want, reads)
}
