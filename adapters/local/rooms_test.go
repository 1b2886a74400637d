package local_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/local"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// log is a sink that keeps the updates, and can be told to refuse or to dawdle.
type log struct {
	mu      sync.Mutex // guards what follows
	updates []adapters.Update
	err     error
	during  func() // runs while an update is being taken
}

func (l *log) Accept(_ context.Context, b adapters.UpdateBatch) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.during != nil {
		l.during()
	}
	if l.err != nil {
		return l.err
	}
	l.updates = append(l.updates, b.Updates...)
	return nil
}

func (*log) Alive(time.Time) {}

func (l *log) refuse(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = err
}

// running opens one room and receives from it until the test ends.
func running(t *testing.T, sink adapters.UpdateSink) *local.RoomAdapter {
	t.Helper()
	r := local.New(local.Options{NewID: counter(), Handle: "ada"})
	r.Open(adapters.Chat{ID: "lobby", Kind: adapters.Direct, Title: "Lobby"})
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- r.Receive(ctx, nil, sink) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("receive: %v", err)
		}
	})
	return r
}

func TestSayReturnsOnceTheLineIsDurable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &log{during: func() { <-time.After(time.Second) }}
		r := running(t, sink)
		start := time.Now()
		id, err := r.Say(t.Context(), maya, local.HumanLine{Chat: "lobby", Text: "/stop @ada now"})
		if err != nil || time.Since(start) != time.Second {
			t.Fatalf("after %s: %v; want nil after the second the sink took", time.Since(start), err)
		}
		want := adapters.Update{
			ID: id, Key: "said:" + id, At: start, From: maya,
			Chat: adapters.Chat{ID: "lobby", Kind: adapters.Direct, Title: "Lobby"},
			Body: adapters.IncomingMessage{ID: id, Text: "/stop @ada now", ToUs: true, Command: &adapters.ChatCommand{Name: "stop", Args: "@ada now"}},
		}
		if d := cmp.Diff([]adapters.Update{want}, sink.updates); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
	})
}

func TestARefusedLineIsTheSameLineWhenTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("the disk is full")
		sink := &log{err: full}
		r := running(t, sink)
		sub, err := r.Subscribe("lobby", 10)
		testutil.OK(t, err)
		defer sub.Close()
		id, err := r.Say(t.Context(), maya, local.HumanLine{Chat: "lobby", Text: "hello"})
		if !errors.Is(err, full) || id == "" {
			t.Fatalf("got %q, %v; want an id and what the sink said", id, err)
		}
		sink.refuse(nil)
		again, err := r.Say(t.Context(), maya, local.HumanLine{ID: id, Chat: "lobby", Text: "hello"})
		if err != nil || again != id || len(sink.updates) != 1 || sink.updates[0].Key != "said:"+id {
			t.Errorf("got %q, %v and %+v; want the line %s once", again, err, sink.updates, id)
		}
		if s, err := sub.Next(t.Context()); err != nil || s.(local.LineSaid).Message != id {
			t.Errorf("shown %+v, %v; want the line once it was durable", s, err)
		}
	})
}

func TestSayWithoutAReceiverEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := local.New(local.Options{NewID: counter()})
		r.Open(adapters.Chat{ID: "lobby"})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := r.Say(ctx, maya, local.HumanLine{Chat: "lobby", Text: "hello"})
		if adapters.KindOf(err) != adapters.NotSent || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want not sent", err)
		}
	})
}

func TestNobodySeesAnAnswerBeforeTheLineItAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := new(log)
		r := running(t, sink)
		sink.during = func() { // the line is committed, and an agent is quick
			if _, err := r.Send(t.Context(), adapters.OutgoingMessage{Chat: "lobby", Text: "answer"}); err != nil {
				t.Error(err)
			}
		}
		sub, err := r.Subscribe("lobby", 10)
		testutil.OK(t, err)
		defer sub.Close()
		if _, err := r.Say(t.Context(), maya, local.HumanLine{Chat: "lobby", Text: "question"}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for range 2 {
			s, err := sub.Next(t.Context())
			testutil.OK(t, err)
			got = append(got, fmt.Sprintf("%T", s))
		}
		if d := cmp.Diff([]string{"local.LineSaid", "local.MessagePosted"}, got); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
	})
}

func TestASlowSubscriberIsToldHowMuchItMissed(t *testing.T) {
	r := local.New(local.Options{NewID: counter()})
	r.Open(adapters.Chat{ID: "lobby"})
	slow, err := r.Subscribe("lobby", 3)
	testutil.OK(t, err)
	for i := range 10 {
		if _, err := r.Send(t.Context(), adapters.OutgoingMessage{Chat: "lobby", Text: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for range 4 {
		s, err := slow.Next(t.Context())
		testutil.OK(t, err)
		switch s := s.(type) {
		case local.EventsDropped:
			got = append(got, fmt.Sprintf("skipped %d", s.N))
		case local.MessagePosted:
			got = append(got, s.Text)
		default:
			t.Fatalf("shown %+v", s)
		}
	}
	if d := cmp.Diff([]string{"skipped 7", "7", "8", "9"}, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	slow.Close()
	if _, err := r.Send(t.Context(), adapters.OutgoingMessage{Chat: "lobby", Text: "unseen"}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if s, err := slow.Next(ctx); err == nil {
		t.Errorf("a closed subscription was shown %+v", s)
	}
}

func TestARoomThatIsNotThereIsNoTarget(t *testing.T) {
	r := local.New(local.Options{NewID: counter()})
	ref := adapters.MessageRef{Chat: "attic", Message: "1"}
	_, sending := r.Send(t.Context(), adapters.OutgoingMessage{Chat: "attic", Text: "x"})
	_, saying := r.Say(t.Context(), maya, local.HumanLine{Chat: "attic", Text: "x"})
	_, watching := r.Subscribe("attic", 1)
	for what, err := range map[string]error{
		"send": sending, "say": saying, "subscribe": watching,
		"edit": r.Edit(t.Context(), ref, "x"), "delete": r.Delete(t.Context(), ref),
		"react": r.React(t.Context(), ref, "👍"), "typing": r.Typing(t.Context(), adapters.MessageRef{Chat: "attic"}),
	} {
		if adapters.KindOf(err) != adapters.NoTarget {
			t.Errorf("%s: %v, want no target", what, err)
		}
	}
}

func TestAnEmptyPostIsInvalid(t *testing.T) {
	r := local.New(local.Options{NewID: counter()})
	r.Open(adapters.Chat{ID: "lobby"})
	if _, err := r.Send(t.Context(), adapters.OutgoingMessage{Chat: "lobby"}); adapters.KindOf(err) != adapters.Invalid {
		t.Errorf("got %v, want invalid", err)
	}
}

func TestMessageIDsGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := running(t, new(log))
		last := ""
		for i := range 50 {
			var id string
			if i%2 == 0 {
				said, err := r.Say(t.Context(), maya, local.HumanLine{Chat: "lobby", Text: "x"})
				testutil.OK(t, err)
				id = said
			} else {
				rec, err := r.Send(t.Context(), adapters.OutgoingMessage{Chat: "lobby", Text: "x"})
				testutil.OK(t, err)
				id = rec.Message
			}
			if id <= last {
				t.Fatalf("id %q came after %q", id, last)
			}
			last = id
		}
	})
}
