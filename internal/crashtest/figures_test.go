//go:build faultinject

package crashtest

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
)

// figures are what a run publishes (DELIVERY 3.4).
type figures struct {
	mu   sync.Mutex // guards what follows
	sums map[string]*sum
	ids  []string // in the order of their first case
}

type sum struct {
	kills, messages, lost, doubled int
	copies, bound, stale, broken   int
	recovery                       time.Duration
	seeds                          string
}

// add counts one case.
func (f *figures) add(id string, seed uint64, kills, messages int, v verdict, recovery time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.sums == nil {
		f.sums = map[string]*sum{}
	}
	s := f.sums[id]
	if s == nil {
		s = &sum{}
		f.sums[id] = s
		f.ids = append(f.ids, id)
	}
	s.kills += kills
	s.messages += messages
	s.lost += v.lost
	s.doubled += v.doubled
	s.copies += v.copies
	s.bound += v.bound
	s.stale += v.stale
	s.broken += len(v.faults)
	s.recovery = max(s.recovery, recovery)
	s.seeds += fmt.Sprintf(" %d", seed)
}

// print writes the table, one row a point in the given order and one for all.
func (f *figures) print(w io.Writer, ids []string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var t strings.Builder
	fmt.Fprintln(&t, "point\tfaults injected\tmessages in\tlost\tdoubled in log\tduplicate sends\tallowed\tstale sends\tbroken invariants\tmax recovery s\tseeds\t")
	var all sum
	for _, id := range ids {
		s := f.sums[id]
		if s == nil {
			continue
		}
		s.row(&t, id, s.seeds)
		all.kills += s.kills
		all.messages += s.messages
		all.lost += s.lost
		all.doubled += s.doubled
		all.copies += s.copies
		all.bound += s.bound
		all.stale += s.stale
		all.broken += s.broken
		all.recovery = max(all.recovery, s.recovery)
	}
	all.row(&t, "all", "")
	aligned := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, err := io.WriteString(aligned, t.String())
	return errors.Join(err, aligned.Flush())
}

func (s *sum) row(w *strings.Builder, id, seeds string) {
	fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%.2f\t%s\t\n", id, s.kills, s.messages, s.lost, s.doubled,
		s.copies, s.bound, s.stale, s.broken, s.recovery.Seconds(), seeds)
}
