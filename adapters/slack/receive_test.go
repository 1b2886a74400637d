package slack_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/fake"
	fakeslack "github.com/trestle-bridge/trestle/adapters/fake/slack"
	"github.com/trestle-bridge/trestle/adapters/slack"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// A book is a sink that records, and knows a key when it comes again.
type book struct {
	mu      sync.Mutex // guards what follows
	updates []adapters.Update
	at      map[string]time.Time // of each key's first coming
	cursor  []byte
	heard   time.Time
	closed  bool // nothing is taken
}

func (b *book) Accept(ctx context.Context, batch adapters.UpdateBatch) error {
	for {
		b.mu.Lock()
		if !b.closed {
			break
		}
		b.mu.Unlock()
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	defer b.mu.Unlock()
	if b.at == nil {
		b.at = map[string]time.Time{}
	}
	for _, u := range batch.Updates {
		if _, known := b.at[u.Key]; !known {
			b.at[u.Key] = time.Now()
			b.updates = append(b.updates, u)
		}
	}
	if batch.Cursor != nil {
		b.cursor = batch.Cursor
	}
	return nil
}

func (b *book) Alive(at time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.heard = at
}

func (b *book) close(closed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = closed
}

// said returns the words that were recorded, in order; all returns everything.
func (b *book) said() []string {
	var words []string
	for _, u := range b.all() {
		if m, ok := u.Body.(adapters.IncomingMessage); ok {
			words = append(words, m.Text)
		}
	}
	return words
}

func (b *book) all() []adapters.Update {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.updates)
}

func (b *book) saved() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.cursor
}

// runs has a client receive into a book, through as many lives as its connection
// has. end stops it.
func (w *workspace) runs(b *book, o slack.Options) (c *slack.Client, end func()) {
	w.t.Helper()
	c = w.adapter(o)
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if err := c.Receive(ctx, b.saved(), b); err != nil {
				w.t.Logf("receive ended: %v", err)
				<-time.After(time.Second)
			}
		}
	}()
	end = sync.OnceFunc(func() { cancel(); <-done })
	w.t.Cleanup(end)
	synctest.Wait()
	return c, end
}

// inBubble plays a story in a workspace that an app listens to by sockets.
func inBubble(t *testing.T, play func(w *workspace)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		play(newWorkspace(t, fakeslack.Options{}, fakeslack.AppProfile{AppToken: appToken}))
	})
}

// listening is inBubble with the app receiving into a book.
func listening(t *testing.T, play func(w *workspace, b *book)) {
	t.Helper()
	inBubble(t, func(w *workspace) {
		b := new(book)
		w.runs(b, w.options())
		play(w, b)
	})
}

func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// R-SL: Slack retires every socket now and then; two of them leave no hole.
func TestRoutineDisconnectsLeaveNoHole(t *testing.T) {
	listening(t, func(w *workspace, b *book) {
		t := w.t
		pass(2 * time.Second)
		if n := w.app.Sockets(); n != 2 {
			t.Fatalf("%d sockets are open, want two", n)
		}
		var want []string
		slowest := time.Duration(0)
		for i := range 60 {
			if i%5 == 0 {
				w.app.Disconnect([]string{"warning", "refresh_requested", "too_many_websockets"}[i/5%3])
			}
			words := fmt.Sprintf("line %d", i)
			began := time.Now()
			ts := w.ops.Says(w.maya, words, fakeslack.PostOptions{})
			want = append(want, words)
			pass(4 * time.Second)
			if at, ok := b.at["message:"+w.ops.ID+":"+ts]; ok {
				slowest = max(slowest, at.Sub(began))
			}
		}
		testutil.Same(t, "recorded", want, b.said())
		if slowest > time.Second {
			t.Errorf("a message waited %s", slowest)
		}
		if n := len(w.Ledger().Expired); n != 0 {
			t.Errorf("%d events were given up", n)
		}
	})
}

// R-SL: both sockets are retired while Slack opens no others for a while. What was said
// then, and given up by Slack, is read as soon as one listens again.
func TestWhatIsSaidBetweenSocketsIsReadOnceOneListens(t *testing.T) {
	listening(t, func(w *workspace, b *book) {
		t := w.t
		pass(3 * time.Minute)
		w.Fault(fake.CallFault{Method: "apps.connections.open", Do: fake.Refuse, Status: 429, RetryAfter: 30, Times: 4})
		w.app.Disconnect("refresh_requested")
		w.app.Disconnect("refresh_requested")
		pass(20 * time.Second)
		if n := w.app.Sockets(); n != 0 {
			t.Fatalf("%d sockets are open: the story shows nothing", n)
		}
		w.ops.Says(w.maya, "between", fakeslack.PostOptions{})
		w.app.Forget()
		pass(3 * time.Minute)
		if n := w.app.Sockets(); n != 2 {
			t.Fatalf("%d sockets are open", n)
		}
		testutil.Same(t, "recorded", []string{"between"}, b.said())
	})
}

// F28: a half-open socket swallows what is sent, and nothing says so.
func TestAFrozenSocketIsLeft(t *testing.T) {
	listening(t, func(w *workspace, b *book) {
		t := w.t
		pass(time.Minute)
		w.app.Freeze()
		w.ops.Says(w.maya, "into the void", fakeslack.PostOptions{})
		frozen := time.Now()
		pass(90 * time.Second)
		b.mu.Lock()
		heard := b.heard
		b.mu.Unlock()
		if heard.Before(frozen.Add(30 * time.Second)) {
			t.Errorf("last heard %s after the sockets froze: they were not replaced", heard.Sub(frozen))
		}
		testutil.Same(t, "recorded", []string{"into the void"}, b.said())
	})
}

// F26, M5: what comes as a retry may be the first to reach us.
func TestRetriesAreNeverDropped(t *testing.T) {
	inBubble(t, func(w *workspace) {
		t := w.t
		b := new(book)
		o := w.options()
		_, end := w.runs(b, o)
		pass(time.Minute)
		end()
		w.Fault(fake.CallFault{Method: "conversations.history", Do: fake.Refuse, Description: "missing_scope", Times: -1})
		w.ops.Says(w.maya, "is anybody there?", fakeslack.PostOptions{}) // no socket is open
		pass(10 * time.Second)
		w.runs(b, o)
		pass(2 * time.Minute)
		testutil.Same(t, "recorded", []string{"is anybody there?"}, b.said())
		for _, a := range w.Ledger().Acked {
			if a.Kind == "message" && a.Attempt == 0 {
				t.Errorf("acknowledged at the first attempt: the story shows nothing")
			}
		}
	})
}

// F26: further copies of what is in hand wait for its verdict; a disk that is full
// for minutes loses nothing.
func TestASinkThatRefusesForMinutesLosesNothing(t *testing.T) {
	listening(t, func(w *workspace, b *book) {
		t := w.t
		pass(time.Minute)
		b.close(true)
		var want []string
		for i := range 5 {
			words := fmt.Sprintf("line %d", i)
			want = append(want, words)
			w.ops.Says(w.maya, words, fakeslack.PostOptions{})
		}
		pass(4 * time.Minute)
		if n := len(w.Ledger().Acked); n > 1 { // that we were invited
			t.Errorf("%d events were acknowledged while nothing was recorded", n)
		}
		b.close(false)
		pass(time.Minute)
		testutil.Same(t, "recorded", want, b.said())
		if n := w.app.Pending(); n != 0 {
			t.Errorf("%d events are still to be acknowledged", n)
		}
	})
}

// R-SL, DELIVERY 2.2: what Slack gave up is read from history.
func TestALongSilenceIsFilledFromHistory(t *testing.T) {
	inBubble(t, func(w *workspace) {
		t := w.t
		b := new(book)
		o := w.options()
		w.ops.Says(w.maya, "before we came", fakeslack.PostOptions{})
		w.forget()
		_, end := w.runs(b, o)
		pass(time.Second)
		root := w.ops.Says(w.maya, "a question", fakeslack.PostOptions{})
		w.ops.Says(w.maya, "an answer", fakeslack.PostOptions{Thread: root})
		changed := w.direct.Says(w.maya, "first words", fakeslack.PostOptions{})
		pass(time.Minute)
		end()
		w.ops.Says(w.maya, "meanwhile", fakeslack.PostOptions{})
		w.ops.Says(w.maya, "in the old thread", fakeslack.PostOptions{Thread: root})
		fresh := w.ops.Says(w.maya, "another question", fakeslack.PostOptions{})
		w.ops.Says(w.maya, "in the new thread", fakeslack.PostOptions{Thread: fresh})
		w.ops.Says(w.maya, "told to all", fakeslack.PostOptions{Thread: fresh, Broadcast: true})
		w.direct.Edits(changed, "second words")
		w.direct.Says(w.maya, "just us", fakeslack.PostOptions{})
		pass(time.Hour) // Slack gives up after six minutes
		if n := w.app.Pending(); n != 0 {
			t.Fatalf("Slack still holds %d events: the story shows nothing", n)
		}
		w.runs(b, o)
		w.ops.Says(w.maya, "and live again", fakeslack.PostOptions{})
		pass(2 * time.Minute)
		want := []string{
			"a question", "an answer", "first words", "meanwhile", "in the old thread", "another question", "in the new thread",
			"told to all", "just us", "and live again",
		}
		got := b.said()
		slices.Sort(want)
		slices.Sort(got)
		testutil.Same(t, "recorded", want, got)
	})
}

// R-SL, DELIVERY 2.2: while the client is disconnected for long, a person replies in an
// old thread; its parent is older than the history that is read again.
func TestAnOldThreadTakenUpInASilenceIsFound(t *testing.T) {
	inBubble(t, func(w *workspace) {
		t := w.t
		b := new(book)
		o := w.options()
		_, end := w.runs(b, o)
		pass(time.Second)
		var roots []string
		for i := range 90 { // more than are remembered, and more than one
			root := w.ops.Says(w.maya, fmt.Sprintf("question %d", i), fakeslack.PostOptions{})
			w.ops.Says(w.maya, fmt.Sprintf("answer %d", i), fakeslack.PostOptions{Thread: root})
			roots = append(roots, root)
		}
		pass(time.Hour)
		last := w.ops.Says(w.maya, "the channel went on", fakeslack.PostOptions{})
		pass(time.Minute)
		end()
		pass(20 * 24 * time.Hour) // longer than a quiet thread is remembered
		w.ops.Says(w.maya, "late answer 7", fakeslack.PostOptions{Thread: roots[7]})
		w.ops.Says(w.maya, "late answer 80", fakeslack.PostOptions{Thread: roots[80]})
		w.ops.Says(w.maya, "answer to the last", fakeslack.PostOptions{Thread: last})
		pass(time.Hour)
		before := len(b.said())
		w.runs(b, o)
		pass(time.Minute)
		testutil.Same(t, "recorded after the silence", []string{"late answer 7", "late answer 80", "answer to the last"}, b.said()[before:])
	})
}

// R-SL: every ten minutes, so that what no socket brought is not missed for long.
func TestWhatNoSocketBroughtComesWithTheNextLook(t *testing.T) {
	listening(t, func(w *workspace, b *book) {
		t := w.t
		pass(3 * time.Minute)
		w.app.Freeze()
		w.ops.Says(w.maya, "lost on the way", fakeslack.PostOptions{})
		w.app.Forget()
		pass(11 * time.Minute)
		w.ops.Says(w.maya, "and on it goes", fakeslack.PostOptions{})
		pass(11 * time.Minute)
		testutil.Same(t, "recorded", []string{"lost on the way", "and on it goes"}, b.said())
	})
}

// Sockets that stay open and bring no events are found by history and opened anew, but
// not again and again; where other events come, a subscription is missing instead.
func TestDeafSocketsAreOpenedAnew(t *testing.T) {
	inBubble(t, func(w *workspace) {
		t := w.t
		b := new(book)
		c := w.adapter(w.options())
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		deaf := make(chan error, 8)
		go func() {
			for ctx.Err() == nil {
				if err := c.Receive(ctx, b.saved(), b); err != nil {
					deaf <- err
				}
			}
		}()
		pass(13 * time.Minute)
		w.ops.Says(w.maya, "heard", fakeslack.PostOptions{})
		pass(time.Minute)
		w.app.Deafen()
		w.ops.Says(w.maya, "unheard", fakeslack.PostOptions{})
		pass(11 * time.Minute)
		if len(deaf) != 1 || !errors.Is(<-deaf, adapters.ErrDeaf) {
			t.Fatal("the sockets are not opened anew")
		}
		testutil.Same(t, "recorded", []string{"heard", "unheard"}, b.said())
		w.ops.Says(w.maya, "again", fakeslack.PostOptions{})
		pass(time.Second)
		testutil.Same(t, "recorded at once", []string{"heard", "unheard", "again"}, b.said())

		w.app.Deafen()
		pass(time.Minute)
		w.ops.Says(w.maya, "still", fakeslack.PostOptions{})
		pass(25 * time.Minute)
		testutil.Same(t, "recorded by the look", []string{"heard", "unheard", "again", "still"}, b.said())
		if len(deaf) > 0 {
			t.Error("the sockets are opened anew again and again")
		}
		pass(time.Hour)
		w.ops.Says(w.maya, "an hour later", fakeslack.PostOptions{})
		pass(11 * time.Minute)
		if len(deaf) != 1 {
			t.Error("the sockets are not opened anew an hour later")
		}
	})
}

// The limits of reading: Slack's pace is kept, and a Retry-After is waited out.
func TestManyChannelsAreFilledWithinTheTiers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorkspace(t, fakeslack.Options{Limits: true}, fakeslack.AppProfile{AppToken: appToken})
		var channels []*fakeslack.WorkspaceChannel
		for i := range 120 {
			ch := w.NewChannel(fmt.Sprintf("room-%d", i), w.maya)
			ch.Invites(w.maya, w.app)
			channels = append(channels, ch)
		}
		b := new(book)
		o := w.options()
		_, end := w.runs(b, o)
		pass(10 * time.Minute)
		end()
		for i, ch := range channels {
			ch.Says(w.maya, fmt.Sprintf("gap %d", i), fakeslack.PostOptions{})
		}
		pass(time.Hour)
		w.runs(b, o)
		pass(time.Second)
		live := time.Now()
		ts := channels[119].Says(w.maya, "live", fakeslack.PostOptions{})
		pass(8 * time.Minute)
		if n := len(b.said()); n != 121 {
			t.Errorf("recorded %d messages, want 121", n)
		}
		if took := b.at["message:"+channels[119].ID+":"+ts].Sub(live); took > 5*time.Second {
			t.Errorf("a live message waited %s for the gaps of other channels", took)
		}
		for _, c := range w.Ledger().Calls {
			if c.Early > 0 {
				t.Errorf("%s came %s too early", c.Method, c.Early)
			}
		}
	})
}

// PLATFORMS 2.2: an app that is told at every hello that it has too many sockets
// does not ask for the next one as fast as it can.
func TestSocketsThatAreRetiredAtOnceAreNotOpenedInALoop(t *testing.T) {
	listening(t, func(w *workspace, b *book) {
		t := w.t
		pass(2 * time.Second)
		before := opened(w)
		for range 1200 {
			w.app.Disconnect("too_many_websockets")
			pass(50 * time.Millisecond)
		}
		w.ops.Says(w.maya, "in the crowd", fakeslack.PostOptions{})
		if n := opened(w) - before; n > 30 {
			t.Errorf("%d sockets were asked for in a minute", n)
		}
		pass(5 * time.Minute)
		if n := w.app.Sockets(); n != 2 {
			t.Errorf("%d sockets are open afterwards, want two", n)
		}
		testutil.Same(t, "recorded", []string{"in the crowd"}, b.said())
	})
}

// PLATFORMS 2.4: a limit on opening sockets is waited out, and what was said meanwhile
// is not lost.
func TestALimitOnSocketsIsWaitedOut(t *testing.T) {
	inBubble(t, func(w *workspace) {
		t := w.t
		w.Fault(fake.CallFault{Method: "apps.connections.open", Do: fake.Refuse, RetryAfter: 90, Times: 1})
		b := new(book)
		w.runs(b, w.options())
		w.ops.Says(w.maya, "meanwhile", fakeslack.PostOptions{})
		pass(4 * time.Minute)
		for _, c := range w.Ledger().Calls {
			if c.Early > 0 && c.At.Sub(w.Ledger().Calls[0].At) > time.Second { // both are asked for at once
				t.Errorf("%s came %s before Slack allows it", c.Method, c.Early)
			}
		}
		if diff := cmp.Diff([]string{"meanwhile"}, b.said()); diff != "" || w.app.Sockets() != 2 {
			t.Errorf("%d sockets, recorded (-want +got):\n%s", w.app.Sockets(), diff)
		}
	})
}

// PLATFORMS 2.2: where Socket Mode is switched off, receiving ends with the reason,
// and not for good: it may be switched on again.
func TestAnAppWithSocketModeSwitchedOffSaysSo(t *testing.T) {
	inBubble(t, func(w *workspace) {
		t := w.t
		b := new(book)
		c := w.adapter(w.options())
		ended := make(chan error, 1)
		go func() { ended <- c.Receive(t.Context(), nil, b) }()
		pass(time.Minute)
		before := opened(w)
		off := w.Fault(fake.CallFault{Method: "apps.connections.open", Do: fake.Refuse, Description: "link_disabled", Times: -1})
		w.app.Disconnect("link_disabled")
		w.app.Disconnect("link_disabled")
		select {
		case err := <-ended:
			if adapters.KindOf(err) != adapters.Forbidden || !strings.Contains(err.Error(), "link_disabled") {
				t.Errorf("receiving ended with %v, want forbidden: link_disabled", err)
			}
		case <-time.After(5 * time.Minute):
			t.Fatal("receiving goes on without Socket Mode")
		}
		if n := opened(w) - before; n > 12 {
			t.Errorf("%d sockets were asked for", n)
		}
		w.ops.Says(w.maya, "while it is off", fakeslack.PostOptions{})
		off.Clear()
		w.runs(b, w.options())
		pass(2 * time.Minute)
		if diff := cmp.Diff([]string{"while it is off"}, b.said()); diff != "" || w.app.Sockets() != 2 {
			t.Errorf("%d sockets, recorded (-want +got):\n%s", w.app.Sockets(), diff)
		}
	})
}

// PLATFORMS 2.3: above 30,000 events an hour Slack drops what comes and says so; what
// it dropped is read from history at once.
func TestWhatSlackDropsForTheRateIsReadAtOnce(t *testing.T) {
	listening(t, func(w *workspace, b *book) {
		t := w.t
		pass(3 * time.Minute)
		w.ops.Says(w.maya, "before", fakeslack.PostOptions{})
		pass(time.Second)
		w.app.Drops(func() { w.ops.Says(w.maya, "dropped", fakeslack.PostOptions{}) })
		pass(time.Minute)
		if diff := cmp.Diff([]string{"before", "dropped"}, b.said()); diff != "" || len(heard[adapters.UpdateGap](b)) != 1 {
			t.Errorf("gaps %+v, recorded (-want +got):\n%s", heard[adapters.UpdateGap](b), diff)
		}
	})
}

// opened returns how many sockets were asked for.
func opened(w *workspace) int {
	n := 0
	for _, c := range w.Ledger().Calls {
		if c.Method == "apps.connections.open" {
			n++
		}
	}
	return n
}
