package httpx

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters/fake/faketest"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// SECURITY S9: strangers may call as often as they like, and the log grows by a line a
// minute; each call is counted, also the last ones.
func TestRefusedCallsAreToldOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log faketest.LogBuffer
		lg := slog.New(slog.NewTextHandler(&log, nil))
		var r RejectedCallLog
		var seen int // of the log
		told := func(want ...string) {
			t.Helper()
			synctest.Wait()
			var lines []string
			for line := range strings.Lines(log.String()[seen:]) {
				_, line, _ = strings.Cut(line, "calls=")
				lines = append(lines, strings.TrimSuffix(line, "\n"))
			}
			seen = len(log.String())
			if got := strings.Join(lines, ", "); got != strings.Join(want, ", ") {
				t.Errorf("told %q, want %q", got, want)
			}
		}
		r.Note(lg, "first")
		told("1 reason=first")
		for i := range 1000 {
			r.Note(lg, fmt.Sprint("n", i))
		}
		told()
		<-time.After(time.Minute)
		told("1000 reason=n999")
		<-time.After(time.Hour)
		told()
		r.Note(lg, "later")
		told("1 reason=later")
		if got := r.All(); got != 1002 {
			t.Errorf("counted %d", got)
		}
	})
}

// SECURITY S9: whatever is wrong with a call, it is noted once and its body is not looked at.
func TestEveryRefusalIsNoted(t *testing.T) {
	call := func(method, body string, headers ...string) *http.Request {
		r := httptest.NewRequestWithContext(t.Context(), method, "/", strings.NewReader(body))
		for _, h := range headers {
			r.Header.Add(h, strconv.FormatInt(time.Now().Unix(), 10))
		}
		return r
	}
	for name, c := range map[string]struct {
		r      *http.Request
		status int
	}{
		"good":       {call(http.MethodPost, "good", "Signed"), http.StatusOK},
		"a browser":  {call(http.MethodGet, ""), http.StatusMethodNotAllowed},
		"too long":   {call(http.MethodPost, strings.Repeat("x", maxCall+1), "Signed"), http.StatusRequestEntityTooLarge},
		"unsigned":   {call(http.MethodPost, "good"), http.StatusUnauthorized},
		"two signs":  {call(http.MethodPost, "good", "Signed", "Signed"), http.StatusUnauthorized},
		"encoded":    {call(http.MethodPost, "good", "Signed", "Content-Encoding"), http.StatusUnauthorized},
		"stale":      {call(http.MethodPost, "good"), http.StatusUnauthorized},
		"no time":    {call(http.MethodPost, "good"), http.StatusUnauthorized},
		"ill signed": {call(http.MethodPost, "bad", "Signed"), http.StatusUnauthorized},
	} {
		switch name {
		case "stale":
			c.r.Header.Set("Signed", strconv.FormatInt(time.Now().Add(-time.Hour).Unix(), 10))
		case "no time":
			c.r.Header.Set("Signed", "x")
		}
		looked := &lookedBody{ReadCloser: c.r.Body}
		c.r.Body = looked
		var noted []string
		w := httptest.NewRecorder()
		body, ok := ReadProvedBody(w, c.r, func(reason string) { noted = append(noted, reason) }, []string{"Signed"}, func(body []byte) error {
			if string(body) != "good" {
				return errors.New("ill signed")
			}
			return nil
		})
		if ok != (c.status == http.StatusOK) || w.Code != c.status || (len(noted) == 0) != ok || len(noted) > 1 || ok && string(body) != "good" {
			t.Errorf("%s: %t, %d, noted %q", name, ok, w.Code, noted)
		}
		if looked.read && c.status == http.StatusUnauthorized && name != "ill signed" {
			t.Errorf("%s: the body was read before the headers were right", name)
		}
	}
}

// A lookedBody knows whether it was read.
type lookedBody struct {
	io.ReadCloser
	read bool
}

// Read reads on.
func (b *lookedBody) Read(p []byte) (int, error) {
	b.read = true
	return b.ReadCloser.Read(p)
}

// While the most bodies allowed are being read, a further call is refused unread.
func TestNoMoreBodiesAreReadThanThereArePlaces(t *testing.T) {
	for range maxReading {
		reading <- struct{}{}
	}
	defer func() {
		for range maxReading {
			<-reading
		}
	}()
	body := &lookedBody{ReadCloser: io.NopCloser(strings.NewReader("good"))}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", body)
	r.Header.Set("Signed", strconv.FormatInt(time.Now().Unix(), 10))
	w := httptest.NewRecorder()
	if _, ok := ReadProvedBody(w, r, func(string) {}, []string{"Signed"}, func([]byte) error { return nil }); ok || w.Code != http.StatusServiceUnavailable || body.read {
		t.Errorf("taken %t, answered %d, read %t", ok, w.Code, body.read)
	}
}

// A body takes about as much memory as it has bytes, whatever it grows from.
func TestABodyIsReadIntoMemoryOnce(t *testing.T) {
	body := strings.Repeat("x", maxCall)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := readBody(strings.NewReader(body), maxCall)
	runtime.ReadMemStats(&after)
	testutil.OK(t, err)
	if string(got) != body {
		t.Errorf("read %d bytes, want %d", len(got), len(body))
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > maxCall*3/2 {
		t.Errorf("%d bytes of memory for a body of %d", took, maxCall)
	}
	for _, length := range []int64{-1, 0, 7, 1 << 40} {
		if got, err := readBody(strings.NewReader("a body"), length); err != nil || string(got) != "a body" {
			t.Errorf("said to have %d bytes: read %q, %v", length, got, err)
		}
	}
}
