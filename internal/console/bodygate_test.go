package console

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// A timedRecorder records the deadlines of its connection.
type timedRecorder struct {
	*httptest.ResponseRecorder
	deadlines []time.Time
}

func (r *timedRecorder) SetReadDeadline(t time.Time) error {
	r.deadlines = append(r.deadlines, t)
	return nil
}

// A body has to come in time; the handler that has read it has as much as it needs. The
// place is free from then on, and at the end of a handler that has read nothing.
func TestABodyHoldsAPlaceUntilItIsRead(t *testing.T) {
	from := netip.MustParseAddr("192.0.2.1")
	for _, reads := range []bool{true, false} {
		var g bodyGate
		w := &timedRecorder{ResponseRecorder: httptest.NewRecorder()}
		next := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if g.all != 1 || len(w.deadlines) != 1 || w.deadlines[0].IsZero() {
				t.Errorf("while it is read: %d places, deadlines %v", g.all, w.deadlines)
			}
			if reads {
				_, _ = io.ReadAll(r.Body)
				if g.all != 0 || len(w.deadlines) < 2 || !w.deadlines[1].IsZero() {
					t.Errorf("once it was read: %d places, deadlines %v", g.all, w.deadlines)
				}
			}
		})
		g.serve(Responder{}, next, w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader("body")), from)
		if g.all != 0 || len(g.reading) != 0 || !reads && len(w.deadlines) != 1 {
			t.Errorf("at the end: %d places %v, deadlines %v", g.all, g.reading, w.deadlines)
		}
	}
}
