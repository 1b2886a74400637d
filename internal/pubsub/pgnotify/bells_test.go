package pgnotify_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/trestle-bridge/trestle/internal/pubsub/pgnotify"
	"github.com/trestle-bridge/trestle/internal/pubsub/pubsubtest"
	"github.com/trestle-bridge/trestle/internal/testservers"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// server is what all tests of the package share.
var server testservers.PostgresServer

func TestMain(m *testing.M) { os.Exit(server.Main(m)) }

// begin opens the bells of a process and lets them run until the test ends. It
// returns once they hear the server.
func begin(t *testing.T, o pgnotify.Options) *pgnotify.PostgresNotifier {
	t.Helper()
	b, err := pgnotify.Open(o)
	testutil.OK(t, err)
	heard, forget := b.Listen("begun")
	defer forget()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := b.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); running.Wait() })
	pubsubtest.Within(t, heard, "the bells do not begin") // everything rings when they have
	return b
}

// drain forgets the rings that were not answered.
func drain(rings <-chan struct{}) {
	for len(rings) > 0 {
		<-rings
	}
}

func troubled(b *pgnotify.PostgresNotifier) bool {
	_, why := b.Trouble()
	return why != nil
}

// linked returns the address of a database behind a link.
func linked(t *testing.T, link *testservers.FaultProxy, database string) string {
	t.Helper()
	return strings.Replace(server.URL(database), strconv.Itoa(server.Port), strconv.Itoa(link.Port()), 1)
}

// DELIVERY 2.7: what rings within one process rings between two.
func TestBell(t *testing.T) {
	url := server.URL(server.Database(t))
	pubsubtest.Bells(t, func(t *testing.T) (here, there pubsubtest.SuiteNotifier) {
		t.Helper()
		return begin(t, pgnotify.Options{URL: url, Process: "here"}), begin(t, pgnotify.Options{URL: url, Process: "there"})
	})
}

// F35, F40: while the server is out of reach notifications reach this process and no
// caller waits; when it is back every key notifies once, and those of other processes
// arrive again.
func TestLostConnectionCostsLatencyOnly(t *testing.T) {
	database := server.Database(t)
	link := testservers.NewLink(t, fmt.Sprintf("127.0.0.1:%d", server.Port))
	var log bytes.Buffer
	b := begin(t, pgnotify.Options{URL: linked(t, link, database), Process: "a", Logger: slog.New(slog.NewTextHandler(&log, nil))})
	rings, stop := b.Listen("inbox")
	defer stop()
	link.Cut()
	pubsubtest.Eventually(t, "nobody says that the server is away", func() bool { return troubled(b) })
	drain(rings)
	for n := range 10_000 { // more than is kept for a server
		b.Ring("inbox" + strconv.Itoa(n))
	}
	b.Ring("inbox")
	pubsubtest.Within(t, rings, "the ring was not heard at home")
	link.Mend()
	pubsubtest.Within(t, rings, "the server is back and nothing rings")
	pubsubtest.Eventually(t, "the trouble is over and still told of", func() bool { return !troubled(b) })
	other := begin(t, pgnotify.Options{URL: server.URL(database), Process: "b"})
	drain(rings)
	other.Ring("inbox")
	pubsubtest.Within(t, rings, "rings of others are not heard after the return")
}

// DELIVERY 2.7: however often something rings, the server is told fifty times a
// second at most.
func TestServerIsToldOnlySoOften(t *testing.T) {
	url := server.URL(server.Database(t))
	raw, err := pgx.Connect(t.Context(), url)
	testutil.OK(t, err)
	t.Cleanup(func() { _ = raw.Close(context.WithoutCancel(t.Context())) })
	if _, err := raw.Exec(t.Context(), "listen trestle_bells"); err != nil {
		t.Fatal(err)
	}
	b := begin(t, pgnotify.Options{URL: url, Process: "a", Silence: time.Hour})
	began := time.Now()
	for range 20_000 {
		b.Ring("inbox")
	}
	b.Ring("end")
	told := 0
	for {
		n, err := raw.WaitForNotification(t.Context())
		testutil.OK(t, err)
		if strings.HasSuffix(n.Payload, "\nend") {
			break
		}
		told++
	}
	if most := int(time.Since(began)/(20*time.Millisecond)) + 2; told > most { // one of them is the echo of the beginning
		t.Errorf("the server was told %d times, want %d at most", told, most)
	}
}

// The address may hold a password; no error repeats it.
func TestAddressIsNotRepeated(t *testing.T) {
	_, err := pgnotify.Open(pgnotify.Options{URL: "postgres://user:hunter2@host:port:port/x", Process: "a"})
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
}

// F40: whatever the way to the server suffers, rings are heard at home, the trouble
// is told, and all is well when it is over.
func TestHarmedLinkCostsLatencyOnly(t *testing.T) {
	database := server.Database(t)
	for name, harm := range map[string]testservers.ProxyFault{
		"answers held":   {Hold: testservers.Answers},
		"questions held": {Hold: testservers.Questions},
		"both held":      {Hold: testservers.Both},
		"cut in a word":  {After: 30},
		"far too slow":   {Slow: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			link := testservers.NewLink(t, fmt.Sprintf("127.0.0.1:%d", server.Port))
			process := strings.Repeat(name+" ", 50) // byte by byte, its echo takes several seconds
			b := begin(t, pgnotify.Options{URL: linked(t, link, database), Process: process, Silence: 50 * time.Millisecond})
			other := begin(t, pgnotify.Options{URL: server.URL(database), Process: "other of " + name})
			rings, stop := b.Listen(name)
			defer stop()
			link.Suffer(harm)
			pubsubtest.Eventually(t, "nobody says that the server passes nothing on", func() bool { return troubled(b) })
			drain(rings)
			b.Ring(name)
			pubsubtest.Within(t, rings, "the ring was not heard at home")
			link.Mend()
			pubsubtest.Eventually(t, "the trouble is over and still told of", func() bool { return !troubled(b) })
			drain(rings)
			other.Ring(name)
			pubsubtest.Within(t, rings, "rings of others are not heard after the harm")
		})
	}
}
