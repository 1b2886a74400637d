package llmtest

import (
	"slices"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// A LedgerEntry is one request in a server's ledger. Its slices are shared and must
// not be changed.
type LedgerEntry struct {
	N         int // from 1, in order of arrival
	At        time.Time
	Request   llm.Request
	Stream    bool
	Bytes     int // of the body
	Fault     FaultKind
	Violation error          // of Check
	Served    bool           // a whole answer was written, perhaps to nobody
	Usage     llm.TokenUsage // Output is 0 unless served
}

// ServerTotals count over all requests of a server, kept or not.
type ServerTotals struct {
	Requests   int
	Served     int
	Violations int
	First      error          // the first violation
	Usage      llm.TokenUsage // of the requests served
}

// A ledger keeps the newest entries.
type ledger struct {
	mu      sync.Mutex // guards all below
	entries []*LedgerEntry
	totals  ServerTotals
}

// begin enters e and returns its number. keep is Server.Keep.
func (l *ledger) begin(e *LedgerEntry, keep int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.totals.Requests++
	e.N = l.totals.Requests
	if e.Violation != nil {
		l.totals.Violations++
		if l.totals.First == nil {
			l.totals.First = e.Violation
		}
	}
	if keep < 0 {
		return e.N
	}
	if keep > 0 && len(l.entries) >= 2*keep { // seldom, so that it stays cheap
		l.entries = slices.Delete(l.entries, 0, len(l.entries)-keep+1)
	}
	l.entries = append(l.entries, e)
	return e.N
}

func (l *ledger) mark(n int, kind FaultKind) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.find(n); e != nil {
		e.Fault = kind
	}
}

func (l *ledger) served(n int, resp llm.Response) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.totals.Served++
	l.totals.Usage.Prompt += resp.Usage.Prompt
	l.totals.Usage.Cached += resp.Usage.Cached
	l.totals.Usage.Output += resp.Usage.Output
	if e := l.find(n); e != nil {
		e.Served, e.Usage = true, resp.Usage
	}
}

// find returns the entry with the number n while it is kept. Numbers are
// consecutive.
func (l *ledger) find(n int) *LedgerEntry {
	if len(l.entries) == 0 {
		return nil
	}
	if i := n - l.entries[0].N; i >= 0 && i < len(l.entries) {
		return l.entries[i]
	}
	return nil
}

// Ledger returns the kept entries, oldest first.
func (s *Server) Ledger() []LedgerEntry {
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	from := 0
	if s.Keep > 0 {
		from = max(0, len(s.ledger.entries)-s.Keep)
	}
	out := make([]LedgerEntry, 0, len(s.ledger.entries)-from)
	for _, e := range s.ledger.entries[from:] {
		out = append(out, *e)
	}
	return out
}

// Totals returns the counts so far.
func (s *Server) Totals() ServerTotals {
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	return s.ledger.totals
}
