package adaptertest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

// caseRun is one case under way: the rig, a sink, and the adapter receiving or not.
type caseRun struct {
	*testing.T
	SuiteFixture
	sink *sink

	cancel context.CancelFunc
	ended  chan error
}

func newStage(t *testing.T, rig SuiteFixture) *caseRun {
	t.Helper()
	s := &caseRun{T: t, SuiteFixture: rig, sink: new(sink)}
	t.Cleanup(func() {
		if s.cancel == nil {
			return
		}
		if err := s.stop(); err != nil {
			t.Errorf("cancelled when all was done, Receive returned %v, want nil", err)
		}
	})
	return s
}

// receive connects and starts receiving from the sink's cursor.
func (s *caseRun) receive() {
	s.Helper()
	if _, err := s.Adapter.Connect(s.Context()); err != nil {
		s.Fatalf("connect: %v", err)
	}
	ctx, cancel := context.WithCancel(s.Context())
	ended := make(chan error, 1)
	s.cancel, s.ended = cancel, ended
	a, cursor := s.Adapter, s.sink.saved()
	go func() { ended <- a.Receive(ctx, cursor, s.sink) }()
}

// stop ends receiving and returns what Receive did.
func (s *caseRun) stop() error {
	s.Helper()
	s.cancel()
	s.cancel = nil
	select {
	case err := <-s.ended:
		return err
	case <-time.After(time.Minute):
		s.Fatal("Receive is still running a minute after it was cancelled")
		return nil
	}
}

// dieWith has the person say the text and kills the adapter the moment the sink
// has it, before the platform can be told. It returns the message.
func (s *caseRun) dieWith(text string) string {
	s.Helper()
	s.message(s.say("first of all"))
	synctest.Wait()
	s.sink.mu.Lock()
	s.sink.then = s.cancel
	s.sink.mu.Unlock()
	id := s.say(text)
	s.message(id)
	if err := s.stop(); err != nil {
		s.Errorf("receive: %v", err)
	}
	return id
}

// failed waits for Receive to end by itself and returns its error.
func (s *caseRun) failed() error {
	s.Helper()
	select {
	case err := <-s.ended:
		s.cancel()
		s.cancel = nil
		return err
	case <-time.After(10 * time.Minute):
		s.Fatal("Receive is still running")
		return nil
	}
}

// restart replaces the adapter by a new one, as after a crash.
func (s *caseRun) restart() {
	s.Helper()
	s.Adapter = s.Restart()
	s.receive()
}

// until lets time go by until cond holds.
func (s *caseRun) until(what string, cond func() bool) {
	s.Helper()
	for deadline := time.Now().Add(10 * time.Minute); ; {
		synctest.Wait()
		if cond() {
			return
		}
		if time.Now().After(deadline) {
			s.Fatalf("waited in vain for %s; the sink has %d updates", what, len(s.sink.all()))
		}
		pass(100 * time.Millisecond)
	}
}

// say has the person say a text in the first chat.
func (s *caseRun) say(text string) string { return s.Say(HumanLine{Chat: s.Chat, Text: text}) }

// heardOf waits for the update whose body pick accepts.
func (s *caseRun) heardOf(what string, pick func(adapters.Update) bool) adapters.Update {
	s.Helper()
	var found adapters.Update
	s.until(what, func() bool {
		all := s.sink.all()
		i := slices.IndexFunc(all, pick)
		if i >= 0 {
			found = all[i]
		}
		return i >= 0
	})
	return found
}

// message waits for the message with that id.
func (s *caseRun) message(id string) (adapters.Update, adapters.IncomingMessage) {
	s.Helper()
	u := s.heardOf("message "+id, func(u adapters.Update) bool { return isMessage(u, id) })
	return u, u.Body.(adapters.IncomingMessage)
}

func isMessage(u adapters.Update, id string) bool {
	m, ok := u.Body.(adapters.IncomingMessage)
	return ok && m.ID == id
}

// pass lets that much of the bubble's time go by.
func pass(d time.Duration) { <-time.After(d) }

// errFull is what a refusing sink says.
var errFull = errors.New("the disk is full")

// sink records what it is handed, unless told to refuse or to hold on.
type sink struct {
	mu      sync.Mutex // guards what follows
	updates []adapters.Update
	cursor  []byte
	refuse  int           // that many batches
	refused int           // so many were
	hold    chan struct{} // Accept waits until it is closed
	waiting int           // calls of Accept that wait so
	then    func()        // runs once, when the next updates are recorded
	heard   []time.Time
}

var _ adapters.UpdateSink = (*sink)(nil)

// Accept records the batch.
func (k *sink) Accept(ctx context.Context, b adapters.UpdateBatch) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if hold := k.hold; hold != nil {
		k.waiting++
		k.mu.Unlock()
		var err error
		select {
		case <-hold:
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
		k.mu.Lock()
		k.waiting--
		if err != nil {
			return err
		}
	}
	if k.refuse > 0 && len(b.Updates) > 0 {
		k.refuse--
		k.refused++
		return errFull
	}
	k.updates = append(k.updates, b.Updates...)
	if b.Cursor != nil {
		k.cursor = b.Cursor
	}
	if k.then != nil && len(b.Updates) > 0 {
		k.then()
		k.then = nil
	}
	return nil
}

// Alive notes the moment.
func (k *sink) Alive(at time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.heard = append(k.heard, at)
}

func (k *sink) all() []adapters.Update {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.updates)
}

// messages returns the ids of the messages in the order they were recorded.
func (k *sink) messages(chat string) []string {
	var ids []string
	for _, u := range k.all() {
		if m, ok := u.Body.(adapters.IncomingMessage); ok && u.Chat.ID == chat {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// log returns the messages as a record has them that knows each by its key: what is
// read from history and told live is there once, where it came first.
func (k *sink) log(chat string) []string {
	known := map[string]bool{}
	return slices.DeleteFunc(k.messages(chat), func(id string) bool {
		again := known[id]
		known[id] = true
		return again
	})
}

func (k *sink) saved() []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.cursor)
}

func (k *sink) heards() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.heard)
}

// holds makes Accept wait, and returns what lets it go on.
func (k *sink) holds() (release func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	hold := make(chan struct{})
	k.hold = hold
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		close(hold)
		k.hold = nil
	}
}

func (k *sink) held() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.waiting
}

func (k *sink) refuses(n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.refuse = n
}
