package postgres_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/testservers"
)

// F40, F42: a process that does not hear from the server knows, before others can have
// been given what it has, that it may be theirs, and knows when it is not.
func TestWhoDoesNotHearIsNotSureOfWhatItHas(t *testing.T) {
	database := server.Database(t)
	link := testservers.NewLink(t, fmt.Sprintf("127.0.0.1:%d", server.Port))
	o := linked(t, link, database)
	o.Term = 3 * time.Second
	s := open(t, o)
	until := func(holds bool, most time.Duration) {
		t.Helper()
		for began := time.Now(); s.HoldsLease() != holds; <-time.After(10 * time.Millisecond) {
			if time.Since(began) > most {
				t.Fatalf("after %s it is still not so that it holds what it has: %t", most, holds)
			}
		}
	}
	until(true, 0)
	link.Suffer(testservers.ProxyFault{Hold: testservers.Both})
	until(false, o.Term*4/5)
	link.Mend()
	until(true, o.Term)
}
