package clockskew

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

// ECOSYSTEM 8: clock skew.
func TestSlowAnswerIsNoWrongClock(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name             string
		theirs, from, to time.Duration
		want             time.Duration
	}{
		{"the same", 0, 0, 0, 0},
		{"cut to its second", 0, 900 * time.Millisecond, 950 * time.Millisecond, 0},
		{"a long poll answered at its end", 50 * time.Second, 0, 50 * time.Second, 0},
		{"a date from the beginning of a long answer", 0, 0, time.Minute, 0},
		{"they are ahead", 90 * time.Second, 0, time.Second, 89 * time.Second},
		{"they are behind", -time.Hour, 0, time.Second, -time.Hour + time.Second},
	} {
		if got := between(at.Add(test.theirs), at.Add(test.from), at.Add(test.to)); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}

func TestDatesOfAnswersAreRead(t *testing.T) {
	date := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Date", date) }))
	defer server.Close()
	var c HostClock
	client := &http.Client{Transport: c.Around(http.DefaultTransport)}
	for range 2 {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
		testutil.OK(t, err)
		resp, err := client.Do(r)
		testutil.OK(t, err)
		_ = resp.Body.Close()
	}
	got := c.Readings()
	if len(got) != 1 || got[0].Off < 59*time.Minute || got[0].Off > time.Hour || got[0].Host == "" {
		t.Errorf("readings are %+v", got)
	}
	date = "yesterday"
	if _, err := client.Get(server.URL); err != nil { //nolint:noctx,bodyclose // the answer has no body
		t.Fatal(err)
	}
	if again := c.Readings(); again[0] != got[0] {
		t.Errorf("what is no date was read as %+v", again)
	}
}
