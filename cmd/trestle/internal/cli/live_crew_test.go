package cli

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/internal/testservers"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// DELIVERY 2.7, PRD-6.2-2: a subscriber of one process's live events gets the runs of
// another one where a Redis carries them. Where only the database notifies, each
// process publishes what it reads there: connections and deliveries.
func TestLiveEventsOfAnotherProcessAreFollowed(t *testing.T) {
	var database testservers.PostgresServer
	var bells testservers.RedisServer
	t.Cleanup(func() { testutil.OK(t, errors.Join(database.Stop(), bells.Stop())) })
	for _, test := range []struct{ name, redis, last string }{
		{"redis", bells.URL(t), "mission_stop"},
		{"database alone", "", "delivery_sent"},
	} {
		t.Run(test.name, func(t *testing.T) {
			thinks, shows := stage0(t), stage0(t)
			both := "TRESTLE_DATABASE=" + database.URL(database.Database(t)) + "\nTRESTLE_REDIS=" + test.redis
			thinks.env, shows.env = both+"\nTRESTLE_ROLES=adapters,minds", both+"\nTRESTLE_ROLES=console"
			thinks.serve(t)
			shows.serve(t)
			if a := answerOf[statusAnswer](t, shows, "status", "-o", "json"); len(a.Processes) != 2 {
				t.Fatalf("processes are %+v, want two", a.Processes)
			}
			seen := shows.follows(t, test.last, func() {
				if _, errs, code := thinks.do(t, "hello\n", "chat"); code != apperr.Done {
					t.Errorf("chat: exit %s: %s", code, errs)
				}
			})
			thought := slices.ContainsFunc(seen, func(l liveLine) bool { return l.Type == "agent_thinking" && l.Process != "" })
			if want := test.redis != ""; thought != want {
				t.Errorf("the other process was seen thinking: %t, want %t: %+v", thought, want, seen)
			}
		})
	}
}

// follows returns the live events of the running process from before do until the
// first of a type.
func (s stage) follows(t *testing.T, last string, do func()) (seen []liveLine) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	end := errors.New("seen")
	err := eventsCommand{installation{s.program(nil, io.Discard, io.Discard)}}.liveStream(ctx, 0, func(body io.Reader) error {
		do()
		return eachLive(body, func(l liveLine) error {
			if seen = append(seen, l); l.Type == last {
				return end
			}
			return nil
		})
	})
	if !errors.Is(err, end) {
		t.Errorf("no %s came: %v: %+v", last, err, seen)
	}
	return seen
}
