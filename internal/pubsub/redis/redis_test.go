package redis_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	library "github.com/redis/go-redis/v9"

	"github.com/trestle-bridge/trestle/internal/pubsub"
	"github.com/trestle-bridge/trestle/internal/pubsub/pubsubtest"
	"github.com/trestle-bridge/trestle/internal/pubsub/redis"
	"github.com/trestle-bridge/trestle/internal/testservers"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// server is what all tests of the package share.
var server testservers.RedisServer

func TestMain(m *testing.M) { os.Exit(server.Main(m)) }

// late ends a test in which something does not happen.
const late = 30 * time.Second

// begin opens a client of a process and lets it run until the test ends. It
// returns once the client hears the server.
func begin(t *testing.T, o redis.Options) *redis.Client {
	t.Helper()
	c, _ := begun(t, o)
	return c
}

// begun is begin for who stops it: stop returns when nothing runs any more.
func begun(t *testing.T, o redis.Options) (c *redis.Client, stop func()) {
	t.Helper()
	if o.URL == "" {
		o.URL = emptied(t)
	}
	if o.Installation == "" {
		o.Installation = t.Name()
	}
	c, err := redis.Open(o)
	testutil.OK(t, err)
	heard, forget := c.Listen("begun")
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := c.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	stop = sync.OnceFunc(func() {
		cancel()
		running.Wait()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	pubsubtest.Within(t, heard, "the client does not begin") // it rings everything when it has
	forget()
	return c, stop
}

// troubled says what is wrong with the server; empty when nothing is.
func troubled(c *redis.Client) string {
	if _, why := c.Trouble(); why != nil {
		return why.Error()
	}
	return ""
}

// emptied returns the address of the shared server, which forgets what t left there
// when t ends: a test finds the same however often it runs.
func emptied(t *testing.T) string {
	t.Helper()
	url := server.URL(t)
	t.Cleanup(func() {
		o, err := library.ParseURL(url)
		testutil.OK(t, err)
		c := library.NewClient(o)
		if err := errors.Join(c.FlushAll(context.WithoutCancel(t.Context())).Err(), c.Close()); err != nil {
			t.Error(err)
		}
	})
	return url
}

// raw is a client without any of our words.
func raw(t *testing.T) *library.Client {
	t.Helper()
	o, err := library.ParseURL(emptied(t))
	testutil.OK(t, err)
	c := library.NewClient(o)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestBell(t *testing.T) {
	pubsubtest.Bells(t, func(t *testing.T) (here, there pubsubtest.SuiteNotifier) {
		t.Helper()
		return begin(t, redis.Options{Process: "here"}), begin(t, redis.Options{Process: "there"})
	})
}

// F38: while the server is away notifications reach this process, and no caller waits.
func TestRingsStayInTheProcessWhileTheServerIsAway(t *testing.T) {
	c, err := redis.Open(redis.Options{URL: "redis://127.0.0.1:1", Process: "alone"})
	testutil.OK(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = c.Run(ctx) })
	rings, stop := c.Listen("inbox")
	defer stop()
	for range 10_000 { // more than is kept for a server
		c.Ring("inbox")
		c.Call("minds", "a")
		c.Show(pubsub.LiveEvent{Type: "x"})
	}
	pubsubtest.Within(t, rings, "the ring was not heard at home")
	pubsubtest.Eventually(t, "nobody says that the server is away", func() bool { return troubled(c) != "" })
	cancel()
	running.Wait()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// ownServer returns a server that ends with the test, which may crash it, and its
// address.
func ownServer(t *testing.T) (own *testservers.RedisServer, url string) {
	t.Helper()
	own = &testservers.RedisServer{}
	t.Cleanup(func() { testutil.OK(t, own.Stop()) })
	return own, own.URL(t)
}

// F38: what was missed while the server was away is made good by one ring.
func TestEverythingRingsWhenTheServerIsBack(t *testing.T) {
	own, url := ownServer(t)
	c := begin(t, redis.Options{URL: url, Process: "a"})
	rings, stop := c.Listen("inbox")
	defer stop()
	own.Crash(t)
	pubsubtest.Eventually(t, "nobody says that the server is away", func() bool { return troubled(c) != "" })
	for len(rings) > 0 {
		<-rings
	}
	own.Return(t)
	pubsubtest.Within(t, rings, "the server is back and nothing rings")
	other := begin(t, redis.Options{URL: url, Process: "b"})
	pubsubtest.Eventually(t, "rings are not heard after the return", func() bool {
		other.Ring("inbox")
		return len(rings) > 0
	})
}

// F38: after a flush, with a clock that has gone back meanwhile (F43), what is
// new comes before what was heard; it is heard all the same.
func TestRingsAreHeardAfterAFlushAndAClockThatWentBack(t *testing.T) {
	c := begin(t, redis.Options{Process: "a"})
	rings, stop := c.Listen("inbox")
	defer stop()
	r, stream := raw(t), "trestle:"+t.Name()+":bells"
	future := &library.XAddArgs{Stream: stream, ID: "99999999999999-0", Values: []string{"key", "inbox", "from", "b"}}
	testutil.OK(t, r.XAdd(t.Context(), future).Err())
	pubsubtest.Within(t, rings, "the first ring was not heard")
	testutil.OK(t, r.Del(t.Context(), stream).Err())
	pubsubtest.Within(t, rings, "a flush is not noticed")
	testutil.OK(t, r.XAdd(t.Context(), &library.XAddArgs{Stream: stream, Values: []string{"key", "inbox", "from", "b"}}).Err())
	pubsubtest.Within(t, rings, "nothing is heard after a flush")
}

// PRD-6.2: one process shows what happens in another, and not its own twice.
func TestLiveEventsAreShownInOtherProcesses(t *testing.T) {
	heard, own := make(chan pubsub.LiveEvent, 8), make(chan pubsub.LiveEvent, 8)
	here := begin(t, redis.Options{Process: "here", Heard: func(e pubsub.LiveEvent) { own <- e }})
	there := begin(t, redis.Options{Process: "there", Heard: func(e pubsub.LiveEvent) { heard <- e }})
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, content := range []string{"one", "two"} {
		here.Show(pubsub.LiveEvent{Type: "agent_thinking", Content: content, Metadata: map[string]any{"step": 1}, At: noon})
	}
	for _, want := range []string{"one", "two"} {
		select {
		case e := <-heard:
			if e.Content != want || e.From != "here" || !e.At.Equal(noon) || e.Metadata["step"] != 1.0 {
				t.Errorf("got %+v, want %q of here", e, want)
			}
		case <-time.After(late):
			t.Fatalf("%q is not shown", want)
		}
	}
	there.Show(pubsub.LiveEvent{Type: "end"})
	if e := <-own; e.Type != "end" {
		t.Errorf("a process was shown its own %q", e.Content)
	}
}

// The address may hold a password; no error repeats it.
func TestAddressIsNotRepeated(t *testing.T) {
	_, err := redis.Open(redis.Options{URL: "redis://user:hunter2@host:port:port", Process: "a"})
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
}

// attend answers calls until the test ends; the returned function ends it early.
func attend(t *testing.T, c *redis.Client, answer func(note string) error) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var attending sync.WaitGroup
	attending.Go(func() {
		_ = c.Attend(ctx, "minds", func(_ context.Context, note string) error { return answer(note) })
	})
	stop = sync.OnceFunc(func() { cancel(); attending.Wait() })
	t.Cleanup(stop)
	return stop
}

// CON-36: a call goes to one of the attendants, and is gone once it is answered.
func TestEachCallIsAnsweredOnce(t *testing.T) {
	answers := make(chan string, 100)
	var all []*redis.Client
	for _, process := range []string{"a", "b"} {
		c := begin(t, redis.Options{Process: process})
		attend(t, c, func(note string) error { answers <- note; return nil })
		all = append(all, c)
	}
	var want, got []string
	for note := range strings.SplitSeq("abcdefghijklmnopqrst", "") {
		all[0].Call("minds", note)
		want = append(want, note)
	}
	for range want {
		select {
		case note := <-answers:
			got = append(got, note)
		case <-time.After(late):
			t.Fatalf("answered: %v", got)
		}
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("answered: %v", got)
	}
	empties(t, "trestle:"+t.Name()+":calls:minds")
}

// empties waits until a stream holds nothing.
func empties(t *testing.T, stream string) {
	t.Helper()
	r := raw(t)
	pubsubtest.Eventually(t, "what is over is still on the server", func() bool {
		n, err := r.XLen(t.Context(), stream).Result()
		return err == nil && n == 0
	})
}

// CON-36: the calls of a process that died are answered by another.
func TestCallsOfTheDeadAreAnswered(t *testing.T) {
	r, stream := raw(t), "trestle:"+t.Name()+":calls:minds"
	testutil.OK(t, r.XGroupCreateMkStream(t.Context(), stream, "attendants", "0").Err())
	testutil.OK(t, r.XAdd(t.Context(), &library.XAddArgs{Stream: stream, Values: []string{"note", "ada"}}).Err())
	testutil.OK(t, r.XReadGroup(t.Context(), &library.XReadGroupArgs{Group: "attendants", Consumer: "dead", Streams: []string{stream, ">"}}).Err())
	answered := make(chan struct{}, 8)
	c := begin(t, redis.Options{Process: "alive", Reclaim: 20 * time.Millisecond})
	attend(t, c, func(string) error { answered <- struct{}{}; return nil })
	pubsubtest.Within(t, answered, "the call was not taken over")
	empties(t, stream)
}

// DELIVERY 2.7: a call that no process can answer is given up and logged.
func TestCallIsGivenUpAfterFiveTries(t *testing.T) {
	var log bytes.Buffer
	c, stop := begun(t, redis.Options{Process: "a", Reclaim: 10 * time.Millisecond, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	tries := make(chan struct{}, 100)
	end := attend(t, c, func(string) error { tries <- struct{}{}; return errors.New("no") })
	c.Call("minds", "poison")
	for range 5 {
		pubsubtest.Within(t, tries, "it is not tried again")
	}
	empties(t, "trestle:"+t.Name()+":calls:minds")
	end()
	stop()
	if len(tries) != 0 {
		t.Errorf("it was tried %d times more", len(tries))
	}
	if !strings.Contains(log.String(), "call given up") {
		t.Errorf("nothing says so:\n%s", log.String())
	}
}

// F38, F39: a group that is lost is made again, from the oldest call there is; calls
// that were trimmed before an answer do not stop the others.
func TestCallsGoOnAfterTheGroupIsLostAndTheStreamIsTrimmed(t *testing.T) {
	answered, hold := make(chan string, 100), make(chan struct{})
	c := begin(t, redis.Options{Process: "a", Reclaim: 20 * time.Millisecond})
	attend(t, c, func(note string) error {
		answered <- note
		if note == "first" {
			<-hold
		}
		return nil
	})
	c.Call("minds", "first")
	if got := <-answered; got != "first" {
		t.Fatalf("got %q", got)
	}
	r, stream := raw(t), "trestle:"+t.Name()+":calls:minds"
	if err := r.XTrimMaxLen(t.Context(), stream, 0).Err(); err != nil { // under what is open
		t.Fatal(err)
	}
	testutil.OK(t, r.XGroupDestroy(t.Context(), stream, "attendants").Err())
	testutil.OK(t, r.XAdd(t.Context(), &library.XAddArgs{Stream: stream, Values: []string{"note", "before the group"}}).Err())
	close(hold)
	select {
	case got := <-answered:
		if got != "before the group" {
			t.Errorf("got %q", got)
		}
	case <-time.After(late):
		t.Fatal("nothing is answered any more")
	}
}

// DELIVERY 2.7: a process that leaves the group removes its consumer, unless it has
// open calls.
func TestAttendantLeavesTheGroupOnlyWithoutOpenCalls(t *testing.T) {
	r, stream := raw(t), "trestle:"+t.Name()+":calls:minds"
	for _, test := range []struct {
		answer error
		left   int
	}{{nil, 0}, {errors.New("no"), 1}} {
		answered := make(chan struct{}, 8)
		c := begin(t, redis.Options{Process: "a"})
		end := attend(t, c, func(string) error { answered <- struct{}{}; return test.answer })
		c.Call("minds", "x")
		pubsubtest.Within(t, answered, "nobody answers")
		end()
		there, err := r.XInfoConsumers(t.Context(), stream, "attendants").Result()
		if err != nil || len(there) != test.left {
			t.Errorf("after an answer of %v the group has %d members (%v), want %d", test.answer, len(there), err, test.left)
		}
	}
}

// DELIVERY 2.7: a process that starts removes the consumers of killed processes, except
// one that has open calls.
func TestTheDeadAreTakenOutOfTheGroup(t *testing.T) {
	r, stream := raw(t), "trestle:"+t.Name()+":calls:minds"
	testutil.OK(t, r.XGroupCreateMkStream(t.Context(), stream, "attendants", "0").Err())
	testutil.OK(t, r.XAdd(t.Context(), &library.XAddArgs{Stream: stream, Values: []string{"note", "ada"}}).Err())
	testutil.OK(t, r.XReadGroup(t.Context(), &library.XReadGroupArgs{Group: "attendants", Consumer: "busy", Streams: []string{stream, ">"}}).Err())
	testutil.OK(t, r.XGroupCreateConsumer(t.Context(), stream, "attendants", "dead").Err())
	attend(t, begin(t, redis.Options{Process: "a", Dead: time.Nanosecond}), func(string) error { return nil })
	pubsubtest.Eventually(t, "the dead are still there", func() bool {
		there, err := r.XInfoConsumers(t.Context(), stream, "attendants").Result()
		names := map[string]bool{}
		for _, one := range there {
			names[one.Name] = true
		}
		return err == nil && maps.Equal(names, map[string]bool{"a": true, "busy": true})
	})
}

// F38: a server that takes nothing any more is said to be in trouble, though it
// answers, and rings are heard at home.
func TestServerWithoutRoomIsTrouble(t *testing.T) {
	_, url := ownServer(t)
	c := begin(t, redis.Options{URL: url, Process: "a"})
	o, err := library.ParseURL(url)
	testutil.OK(t, err)
	r := library.NewClient(o)
	t.Cleanup(func() { _ = r.Close() })
	testutil.OK(t, r.ConfigSet(t.Context(), "maxmemory", "1").Err())
	rings, stop := c.Listen("inbox")
	defer stop()
	c.Ring("inbox")
	pubsubtest.Within(t, rings, "the ring was not heard at home")
	pubsubtest.Eventually(t, "nobody says that the server is full", func() bool { return strings.Contains(troubled(c), "OOM") })
	testutil.OK(t, r.ConfigSet(t.Context(), "maxmemory", "0").Err())
	pubsubtest.Eventually(t, "it is in trouble for ever", func() bool {
		c.Ring("inbox")
		return troubled(c) == ""
	})
}
