package pgnotify

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/trestle-bridge/trestle/internal/pubsub"
	"github.com/trestle-bridge/trestle/internal/pubsub/inproc"
)

// mostRings bounds the keys that wait to be told. More are dropped: a lost ring
// costs a poll.
const mostRings = 1024

// Options say where the server is and who asks it. URL and Process are needed.
type Options struct {
	// URL names the database that the processes share.
	URL string
	// Process names this process among them, for ever.
	Process string
	// Silence is how long nothing may be heard before the server is asked to pass
	// something on. Default: 5 s.
	Silence time.Duration
	// Logger takes a line when the connection is lost or back. Default: none are
	// written.
	Logger *slog.Logger
}

// PostgresNotifier are this process's part of the doorbells. Their methods may overlap.
type PostgresNotifier struct {
	o      Options
	server *pgx.ConnConfig
	here   inproc.LocalNotifier

	mu      sync.Mutex // guards what follows
	waiting []string   // keys that the server has not been told of, each once
	stir    func()     // ends the wait for notifications; nil while there is none
	since   time.Time  // of the trouble
	why     error
}

var (
	_ pubsub.Notifier   = (*PostgresNotifier)(nil)
	_ pubsub.Subscriber = (*PostgresNotifier)(nil)
)

// Open prepares bells. It makes no call: a server that is away is no error.
func Open(o Options) (*PostgresNotifier, error) {
	c, err := pgxpool.ParseConfig(o.URL) // it knows the settings of a pool, which the address may hold
	if err != nil {
		return nil, errors.New("bells: the address of the database cannot be read") // the error quotes it
	}
	if o.Silence <= 0 {
		o.Silence = 5 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	c.ConnConfig.ConnectTimeout = patience
	return &PostgresNotifier{o: o, server: c.ConnConfig}, nil
}

// Listen returns the rings of key in this process and in all others, from now on,
// and what ends the listening.
func (b *PostgresNotifier) Listen(key string) (rings <-chan struct{}, stop func()) {
	return b.here.Listen(key)
}

// Ring wakes those who listen to key: in this process at once, in others as soon
// as the server has told them.
func (b *PostgresNotifier) Ring(key string) {
	b.here.Ring(key)
	b.RingOthers(key)
}

// RingOthers is Ring for those who know already what it is about here.
func (b *PostgresNotifier) RingOthers(key string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) >= mostRings || slices.Contains(b.waiting, key) {
		return
	}
	b.waiting = append(b.waiting, key)
	if b.stir != nil {
		b.stir()
	}
}

// Run tells the server and hears it until ctx is done and returns nil.
func (b *PostgresNotifier) Run(ctx context.Context) error {
	pause := backoff.ExponentialBackOff{InitialInterval: 50 * time.Millisecond, RandomizationFactor: 0.5, Multiplier: 2, MaxInterval: 5 * time.Second}
	for ctx.Err() == nil {
		err := b.connected(ctx, pause.Reset)
		if ctx.Err() != nil {
			break
		}
		b.saw(err)
		select {
		case <-ctx.Done():
		case <-time.After(pause.NextBackOff()):
		}
	}
	return nil
}

// Trouble returns why the server passes nothing on, and since when; nil when it
// does.
func (b *PostgresNotifier) Trouble() (since time.Time, why error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.since, b.why
}

// saw notes how the connection is, and says so when that is news.
func (b *PostgresNotifier) saw(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case err == nil && b.why != nil:
		b.o.Logger.Info("notifications are back")
		b.since = time.Time{}
	case err != nil && b.why == nil:
		b.o.Logger.Warn("notifications lost, doorbells stay in this process", "error", err)
		b.since = time.Now()
	}
	b.why = err
}

// take empties what waits.
func (b *PostgresNotifier) take() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	keys := b.waiting
	b.waiting = nil
	return keys
}

// await has stir called when a key comes to wait, and reports whether one does.
func (b *PostgresNotifier) await(stir func()) (waits bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stir = stir
	return len(b.waiting) > 0
}
