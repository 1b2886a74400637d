package slack_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	fakeslack "github.com/trestle-bridge/trestle/adapters/fake/slack"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// An unanswered transport refuses the history of some channels as Slack does when it
// is in trouble, as long as it is broken.
type unanswered struct {
	next     http.RoundTripper
	channels []string
	broken   atomic.Bool
	asked    atomic.Int64
}

func (u *unanswered) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(r.URL.Path, "/conversations.history") {
		return u.next.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, err
	}
	if !u.broken.Load() || !slices.Contains(u.channels, form.Get("channel")) {
		return u.next.RoundTrip(r)
	}
	u.asked.Add(1)
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(strings.NewReader(`{"ok":false,"error":"internal_error"}`)),
	}, nil
}

// DELIVERY 2.2 (7) and (1): channels whose history Slack does not return at the moment
// neither delay other messages nor end the connection; their missed messages are read
// later, by another process too, although newer ones arrived meanwhile.
func TestABrokenHistoryHoldsUpNobody(t *testing.T) {
	for name, restarts := range map[string]bool{"same process": false, "another process": true} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *workspace) {
				t, b := w.t, new(book)
				var broken []*fakeslack.WorkspaceChannel
				u := new(unanswered)
				for _, name := range []string{"one", "two", "three"} {
					ch := w.NewChannel(name, w.maya)
					ch.Invites(w.maya, w.app)
					broken, u.channels = append(broken, ch), append(u.channels, ch.ID)
				}
				o := w.options()
				o.Around = func(next http.RoundTripper) http.RoundTripper { u.next = next; return u }
				begin := func() func() { _, end := w.runs(b, o); return end }
				end := begin()
				w.ops.Says(w.maya, "before", fakeslack.PostOptions{})
				pass(time.Second)
				end()
				pass(time.Hour)
				for i, ch := range broken {
					ch.Says(w.maya, "hidden in "+[]string{"one", "two", "three"}[i], fakeslack.PostOptions{})
				}
				w.ops.Says(w.maya, "shown", fakeslack.PostOptions{})
				pass(time.Hour)
				u.broken.Store(true)
				sockets := opened(w)
				end = begin()
				pass(time.Minute)
				broken[0].Says(w.maya, "live", fakeslack.PostOptions{})
				pass(time.Second)
				testutil.Same(t, "recorded", []string{"before", "shown", "live"}, b.said())
				pass(time.Hour)
				if made := opened(w) - sockets; made > 2 {
					t.Errorf("%d sockets were opened", made)
				}
				if asked := u.asked.Load(); asked > 400 {
					t.Errorf("asked %d times in an hour", asked)
				}
				if restarts {
					end()
					begin()
				}
				u.broken.Store(false)
				pass(6 * time.Minute)
				got := b.said()[3:]
				slices.Sort(got)
				testutil.Same(t, "recorded later", []string{"hidden in one", "hidden in three", "hidden in two"}, got)
			})
		})
	}
}

// A silent transport answers no question about the history of one channel while it is held.
type silent struct {
	next    http.RoundTripper
	channel string
	held    atomic.Bool
}

func (s *silent) RoundTrip(r *http.Request) (*http.Response, error) {
	if !s.held.Load() || !strings.HasSuffix(r.URL.Path, "/conversations.history") {
		return s.next.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if r.Body = io.NopCloser(bytes.NewReader(body)); !bytes.Contains(body, []byte(s.channel)) {
		return s.next.RoundTrip(r)
	}
	<-r.Context().Done()
	return nil, context.Cause(r.Context())
}

// DELIVERY 2.2 (1), K1: a process that ends before it has read what was said in a
// silence leaves that to the next one, whatever it recorded elsewhere: in a channel
// that had never spoken, and in an old thread of one that had.
func TestAnEndInTheMiddleOfReadingLosesNothing(t *testing.T) {
	inBubble(t, func(w *workspace) {
		t, b := w.t, new(book)
		quiet := w.NewChannel("quiet", w.maya)
		quiet.Invites(w.maya, w.app)
		spoken := w.NewChannel("spoken", w.maya)
		spoken.Invites(w.maya, w.app)
		old := spoken.Says(w.maya, "an old question", fakeslack.PostOptions{})
		w.forget()
		pass(20 * 24 * time.Hour)
		for _, held := range []*fakeslack.WorkspaceChannel{quiet, spoken} {
			s := &silent{channel: held.ID}
			o := w.options()
			o.Around = func(next http.RoundTripper) http.RoundTripper { s.next = next; return s }
			_, end := w.runs(b, o)
			spoken.Says(w.maya, "before", fakeslack.PostOptions{})
			pass(time.Minute)
			w.ops.Says(w.maya, "before", fakeslack.PostOptions{}) // who spoke last is read first
			pass(time.Minute)
			end()
			pass(time.Hour)
			held.Says(w.maya, "hidden", fakeslack.PostOptions{Thread: map[bool]string{true: old}[held == spoken]})
			pass(time.Hour)
			s.held.Store(true)
			_, end = w.runs(b, o)
			pass(20 * time.Second)
			w.ops.Says(w.maya, "live", fakeslack.PostOptions{})
			pass(time.Second)
			end()
			if got := b.said(); got[len(got)-1] != "live" {
				t.Fatalf("recorded %q before the end: the story shows nothing", got)
			}
			s.held.Store(false)
			_, end = w.runs(b, o)
			pass(time.Minute)
			end()
			if got := b.said(); got[len(got)-1] != "hidden" {
				t.Errorf("of what was said in %s nothing was recorded but %q", held.ID, got)
			}
		}
	})
}
