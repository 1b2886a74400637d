package httpx

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

// SECURITY S16: whatever a library puts into an error, no credential leaves with it, nor
// a part of one where the words are cut.
func TestAHiddenErrorHoldsNoSecret(t *testing.T) {
	const token = "token-of-the-bot"
	for n := range 2 * len(token) {
		foreign := fmt.Errorf("%s%s: %w", strings.Repeat("x", maxWords-2*len(token)+n), token, context.DeadlineExceeded)
		err := RedactError(foreign, 0, "another", token)
		if said := err.Error(); strings.Contains(said, "to") || len(said) > maxWords {
			t.Fatalf("%d bytes: …%s", len(said), said[maxWords-3*len(token):])
		}
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, foreign) {
			t.Error("the cause is lost, or more than that is kept")
		}
	}
	if got := RedactError(errors.New("no"), http.StatusBadGateway).Error(); got != "HTTP 502 Bad Gateway: no" {
		t.Errorf("said %q", got)
	}
}

// SECURITY S20: a file that is longer than it was said to be ends where it may be long.
func TestALongFileIsRefused(t *testing.T) {
	for size, fits := range map[int]bool{0: true, 9: true, 10: true, 11: false, 99: false} {
		got, err := io.ReadAll(LimitBody(io.NopCloser(strings.NewReader(strings.Repeat("x", size))), 10))
		if (err == nil) != fits || len(got) != min(size, 10) || !fits && adapters.KindOf(err) != adapters.Invalid {
			t.Errorf("of %d bytes %d were read, %v", size, len(got), err)
		}
	}
}

// DELIVERY 2.4: what changes nothing is asked for again, as late as the platform says,
// and not for ever.
func TestACallIsMadeAgainWhereThatMayHelp(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		calls int
		least time.Duration
	}{
		"good":           {nil, 1, 0},
		"refused":        {&adapters.Error{Kind: adapters.Forbidden}, 1, 0},
		"somebody's own": {errors.New("no"), 1, 0},
		"cut":            {&adapters.Error{Kind: adapters.NotSent}, maxTries, 4 * time.Second},
		"limited":        {&adapters.Error{Kind: adapters.Limited, RetryAfter: 7 * time.Second}, 10, 63 * time.Second},
		"limited, shut":  {&adapters.Error{Kind: adapters.Limited}, 10, 9 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			began, calls := time.Now(), 0
			err := RetryRead(t.Context(), func() error {
				if calls++; calls == 10 {
					return nil
				}
				return c.err
			})
			took := time.Since(began)
			if calls != c.calls || took < c.least || took > 3*c.least || (err == nil) != (c.err == nil || calls == 10) {
				t.Errorf("%s: %d calls in %s, then %v; want %d in at least %s", name, calls, took, err, c.calls, c.least)
			}
		})
	}
}
