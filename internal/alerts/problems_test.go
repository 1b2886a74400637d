package alerts

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

var start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// book is a store in memory with the promises of [Store].
type book struct {
	rows []Alert
	full bool // then it takes nothing
}

var (
	errFull   = errors.New("disk is full")
	errNobody = errors.New("no such problem")
)

func (b *book) Problems(_ context.Context, since time.Time) ([]Alert, error) {
	var out []Alert
	for _, p := range b.rows {
		if p.Closed.IsZero() || p.Closed.After(since) {
			out = append(out, p)
		}
	}
	return out, nil
}

func (b *book) Keep(_ context.Context, changed []Alert) error {
	if b.full {
		return errFull
	}
	for _, c := range changed {
		if c.ID == 0 {
			c.ID = AlertID(len(b.rows) + 1)
			b.rows = append(b.rows, c)
			continue
		}
		c.Acked = b.rows[c.ID-1].Acked
		b.rows[c.ID-1] = c
	}
	return nil
}

func (b *book) Ack(_ context.Context, id AlertID, until time.Time) error {
	if id == 0 {
		return errNobody
	}
	b.rows[id-1].Acked = until
	return nil
}

// ear is a teller that writes down what it hears.
type ear struct {
	heard []string
	deaf  bool
}

func (e *ear) Tell(_ context.Context, p Alert, at time.Time) bool {
	if !e.deaf {
		text, _, _ := strings.Cut(Alarm(p, at), "\n")
		e.heard = append(e.heard, Span(at.Sub(start))+": "+text)
	}
	return !e.deaf
}

// bench is a watch over one condition that a test switches.
type bench struct {
	*AlertMonitor
	book book
	ear  ear
	ill  bool
	err  error
}

func newBench() *bench {
	b := new(bench)
	b.AlertMonitor = &AlertMonitor{Store: &b.book, Tellers: []AlertNotifier{&b.ear}, Looks: []ConditionProbe{{
		Codes: []ProblemCode{Deaf},
		See: func(context.Context) ([]Observation, error) {
			if b.ill && b.err == nil {
				return []Observation{{Code: Deaf, Subject: "acme", Evidence: "no answer"}}, nil
			}
			return nil, b.err
		},
	}}}
	return b
}

// pass lets time go by from one moment to another in rounds of ten seconds.
func (b *bench) pass(t *testing.T, from, to time.Duration) {
	t.Helper()
	for at := from; at < to; at += 10 * time.Second {
		b.Round(t.Context(), start.Add(at))
	}
}

// ECOSYSTEM 8: a problem closes after 60 s well, and not before.
func TestProblemClosesAfterAMinuteWell(t *testing.T) {
	b := newBench()
	b.ill = true
	b.pass(t, 0, 30*time.Second)
	b.ill = false
	b.pass(t, 30*time.Second, 80*time.Second)
	b.ill = true // it flickers
	b.pass(t, 80*time.Second, 100*time.Second)
	b.ill = false
	b.pass(t, 100*time.Second, 160*time.Second)
	if p := b.book.rows[0]; len(b.book.rows) != 1 || !p.Closed.IsZero() || p.Count != 2 {
		t.Fatalf("after a flicker and 50 s: %+v", b.book.rows)
	}
	b.pass(t, 160*time.Second, 170*time.Second)
	if p := b.book.rows[0]; !p.Closed.Equal(start.Add(160 * time.Second)) {
		t.Errorf("not closed after 60 s: %+v", p)
	}
}

// A process that was stopped and goes on opens no problem for what is silent by that
// alone; what lasts longer is told.
func TestAStopOfTheProcessOpensNoProblem(t *testing.T) {
	for name, c := range map[string]struct {
		waited, ill time.Duration
		opened      int
	}{
		"not stopped":            {11 * time.Second, 20 * time.Second, 1},
		"stopped and well again": {10 * time.Minute, 50 * time.Second, 0},
		"stopped and ill":        {10 * time.Minute, 2 * time.Minute, 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench()
			b.pass(t, 0, 10*time.Second)
			on := 10*time.Second + c.waited
			b.rested(10*time.Second, start.Add(10*time.Second), start.Add(on))
			b.ill = true
			b.pass(t, on, on+c.ill)
			b.ill = false
			b.pass(t, on+c.ill, on+c.ill+5*time.Minute)
			if n := len(b.book.rows); n != c.opened {
				t.Errorf("%d problems were opened, want %d: %+v", n, c.opened, b.book.rows)
			}
		})
	}
}

// A look that cannot look says nothing: nothing closes on its account.
func TestNothingIsConcludedFromABlindLook(t *testing.T) {
	b := newBench()
	b.ill = true
	b.pass(t, 0, 20*time.Second)
	b.err = errors.New("store is closed")
	b.pass(t, 20*time.Second, 10*time.Minute)
	if p := b.book.rows[0]; !p.Closed.IsZero() || !p.Well.IsZero() {
		t.Errorf("blind for minutes: %+v", p)
	}
}

// ECOSYSTEM 8: told at once, at 1 h, 6 h, 24 h, then daily, and when it is over.
func TestAlarmRepeatsAndSaysWhenItIsOver(t *testing.T) {
	b := newBench()
	b.ill = true
	b.pass(t, 0, 50*time.Hour)
	b.ill = false
	b.pass(t, 50*time.Hour, 51*time.Hour)
	want := []string{
		"0 s: ⚠️ **TRS-A04** · acme is deaf.",
		"1 h: ⚠️ **TRS-A04** · acme is deaf, for 1 h.",
		"6 h: ⚠️ **TRS-A04** · acme is deaf, for 6 h.",
		"1 d: ⚠️ **TRS-A04** · acme is deaf, for 1 d.",
		"2 d: ⚠️ **TRS-A04** · acme is deaf, for 2 d.",
		"2 d 2 h: ✅ TRS-A04 · over: acme is deaf. It lasted 2 d 2 h.",
	}
	testutil.Same(t, "told", want, b.ear.heard)
}

// ECOSYSTEM 8: answered by `ack 2h`.
func TestAcknowledgedProblemIsQuiet(t *testing.T) {
	b := newBench()
	b.ill = true
	b.pass(t, 0, time.Minute)
	testutil.OK(t, b.book.Ack(t.Context(), 1, start.Add(7*time.Hour)))
	b.pass(t, time.Minute, 8*time.Hour)
	want := []string{"0 s: ⚠️ **TRS-A04** · acme is deaf.", "7 h: ⚠️ **TRS-A04** · acme is deaf, for 7 h."}
	testutil.Same(t, "told", want, b.ear.heard)
}

// DELIVERY 2.7, F30: what the record cannot take is a problem all the same, is told
// once, and is in the record with its beginning as soon as that takes it.
func TestProblemThatCannotBeKeptIsHeld(t *testing.T) {
	b := newBench()
	b.Reserve = new(MemoryBuffer)
	now := func() []Alert {
		t.Helper()
		all, err := b.Reserve.Over(&b.book).Problems(t.Context(), start)
		testutil.OK(t, err)
		return all
	}
	b.ill, b.book.full = true, true
	b.pass(t, 0, 5*time.Minute)
	if all := now(); len(b.book.rows) != 0 || len(all) != 1 || !Unwell(all, start) || all[0].Code != Deaf || !all[0].Opened.Equal(start) {
		t.Fatalf("the record has %+v; known is %+v", b.book.rows, all)
	}
	if _, why := b.Reserve.Held(); !errors.Is(why, errFull) {
		t.Errorf("held because of %v", why)
	}
	if err := b.Reserve.Over(&b.book).Ack(t.Context(), 0, start.Add(time.Hour)); !errors.Is(err, errFull) {
		t.Errorf("acknowledged what has no number: %v", err)
	}
	b.book.full = false
	b.pass(t, 5*time.Minute, 6*time.Minute)
	held, why := b.Reserve.Held()
	if all := now(); len(held) != 0 || why != nil || len(b.book.rows) != 1 || len(all) != 1 || !all[0].Opened.Equal(start) || all[0].ID != 1 {
		t.Fatalf("room again: the record has %+v; held %+v, %v; known is %+v", b.book.rows, held, why, all)
	}
	testutil.Same(t, "told", []string{"0 s: ⚠️ **TRS-A04** · acme is deaf."}, b.ear.heard)
	b.book.full, b.ill = true, false
	b.pass(t, 6*time.Minute, 8*time.Minute)
	if all := now(); Unwell(all, start.Add(8*time.Minute)) || b.book.rows[0].Closed.Equal(all[0].Closed) {
		t.Errorf("its end is not known: %+v", all)
	}
	b.book.full = false
	b.pass(t, 8*time.Minute, 9*time.Minute)
	if p := b.book.rows[0]; len(b.book.rows) != 1 || !p.Closed.Equal(start.Add(7*time.Minute)) || !p.Over || len(b.ear.heard) != 2 {
		t.Errorf("its end: %+v, told %q", b.book.rows, b.ear.heard)
	}
}

func TestWhatNobodyHeardIsToldLater(t *testing.T) {
	b := newBench()
	b.ill, b.ear.deaf = true, true
	b.pass(t, 0, 10*time.Minute)
	b.ear.deaf = false
	b.pass(t, 10*time.Minute, 20*time.Minute)
	testutil.Same(t, "told", []string{"10 m: ⚠️ **TRS-A04** · acme is deaf."}, b.ear.heard)
}

// Whatever comes and goes: at most one open problem of a kind and subject, none
// closes within a minute of a sighting, and every telling has its turn.
func TestAnyComingAndGoingIsKeptWhole(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var b book
		last := map[string]time.Time{}
		at := start
		for range rapid.IntRange(1, 60).Draw(rt, "rounds") {
			at = at.Add(time.Duration(rapid.IntRange(1, 90).Draw(rt, "pause")) * time.Second)
			o := probeResult{covered: []ProblemCode{Deaf, Conflict}, at: at}
			for _, subject := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), rapid.ID).Draw(rt, "seen") {
				o.seen = append(o.seen, Observation{Code: Deaf, Subject: subject})
				last[subject] = at
			}
			open, _ := b.Problems(rt.Context(), at)
			changed := advance(open, o)
			_ = b.Keep(rt.Context(), changed)
			for _, p := range changed {
				if !p.Closed.IsZero() && at.Sub(last[p.Subject]) < Calm {
					rt.Fatalf("%s closed %s after it was seen", p.Subject, at.Sub(last[p.Subject]))
				}
			}
			for subject, seen := range last {
				n := len(slices.DeleteFunc(slices.Clone(b.rows), func(p Alert) bool { return p.Subject != subject || !p.Closed.IsZero() }))
				if n > 1 || n == 0 && seen.Equal(at) {
					rt.Fatalf("%s is open %d times", subject, n)
				}
			}
		}
	})
}

// ECOSYSTEM 8: the JSON that Alertmanager sends.
func TestWebhookSpeaksAlertmanagers(t *testing.T) {
	var got []byte
	refuse := true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refuse {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		got, _ = io.ReadAll(r.Body)
	}))
	defer server.Close()
	p := Alert{ID: 26, Code: Deaf, Severity: Fail, Subject: "acme", Evidence: "no answer", Opened: start}
	var log strings.Builder
	h := &WebhookNotifier{URL: server.URL + "/secret-path", Client: server.Client(), Logger: slog.New(slog.NewTextHandler(&log, nil))}
	if h.Tell(t.Context(), p, start) || strings.Contains(log.String(), "secret-path") || !strings.Contains(log.String(), "502") {
		t.Errorf("a refusal: %s", log.String())
	}
	refuse = false
	if !h.Tell(t.Context(), p, start) {
		t.Fatal("not told")
	}
	want := `{"version":"4","groupKey":"{}:{code=\"TRS-A04\", subject=\"acme\"}","truncatedAlerts":0,"status":"firing","receiver":"trestle",` +
		`"groupLabels":{"alertname":"trestle_problem"},` +
		`"commonLabels":{"alertname":"trestle_problem","code":"TRS-A04","severity":"fail","subject":"acme"},` +
		`"commonAnnotations":{"description":"no answer","remedy":"trestle doctor acme","summary":"acme is deaf"},"externalURL":"",` +
		`"alerts":[{"status":"firing","labels":{"alertname":"trestle_problem","code":"TRS-A04","severity":"fail","subject":"acme"},` +
		`"annotations":{"description":"no answer","remedy":"trestle doctor acme","summary":"acme is deaf"},` +
		`"startsAt":"2026-03-01T09:00:00Z","endsAt":"0001-01-01T00:00:00Z","generatorURL":"","fingerprint":"1ba6bca6c52d70f4"}]}`
	testutil.Same(t, "body", want, string(got))
	p.Closed = start.Add(time.Hour)
	if !h.Tell(t.Context(), p, p.Closed) {
		t.Fatal("not told")
	}
	var body hookBody
	if err := json.Unmarshal(got, &body); err != nil || body.Status != "resolved" || !body.Alerts[0].EndsAt.Equal(p.Closed) {
		t.Errorf("the end is %s, %v", got, err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// ECOSYSTEM 8: a dead-man URL is asked every minute while well.
func TestPulseBeatsOnlyWhileWell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		beats := 0
		var well atomic.Bool
		well.Store(true)
		p := &Heartbeat{
			URL: "http://switch.test/1", Logger: slog.New(slog.DiscardHandler), Well: func(context.Context) bool { return well.Load() },
			Client: &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
				beats++
				return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
			})},
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- p.Run(ctx) }()
		<-time.After(2*time.Minute + time.Second)
		well.Store(false)
		<-time.After(10 * time.Minute)
		well.Store(true)
		<-time.After(time.Minute)
		stop()
		if err := <-done; err != nil || beats != 4 {
			t.Errorf("%d beats, %v; want 3 in the first minutes and 1 in the last", beats, err)
		}
	})
}

func TestWorstComesFirst(t *testing.T) {
	all := []Alert{
		{ID: 1, Code: BackupOld, Severity: Warn, Opened: start},
		{ID: 2, Code: Deaf, Severity: Fail, Opened: start.Add(time.Hour)},
		{ID: 3, Code: Conflict, Severity: Fail, Opened: start},
		{ID: 4, Code: Conflict, Severity: Fail, Opened: start, Closed: start.Add(time.Minute)},
	}
	var got []AlertID
	for _, p := range Worst(all) {
		got = append(got, p.ID)
	}
	testutil.Same(t, "what came", []AlertID{3, 2, 1}, got)
	if !Unwell(all, start) || Unwell(all[:1], start) || Unwell(all[3:], start) {
		t.Error("what is unwell is an open failure")
	}
	all[1].Acked, all[2].Acked = start.Add(time.Hour), start.Add(time.Hour)
	if Unwell(all, start) || !Unwell(all, start.Add(2*time.Hour)) {
		t.Error("what somebody has taken on is quiet for as long as asked")
	}
}
