package redis

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/trestle-bridge/trestle/internal/pubsub"
	"github.com/trestle-bridge/trestle/internal/pubsub/inproc"
)

// The times of a server that is expected to be near.
const (
	patience = 2 * time.Second // for any answer
	block    = time.Second     // how long a read may wait for something to happen
)

// Options name the server and this process. URL and Process are required, and
// Installation unless the client only pings.
type Options struct {
	// URL is the address: redis:// or rediss:// with TLS; a path is the number of
	// the database.
	URL string
	// Process names this process among all that share the server, for ever.
	Process string
	// Installation names the processes that exchange notifications, among all that share
	// the server: no key of one is another's. Default: empty.
	Installation string
	// Heard takes the live events of other processes, one at a time. Default: none
	// are read.
	Heard func(pubsub.LiveEvent)
	// Reclaim is after how long an unanswered call is given to another process. Default:
	// 10 s.
	Reclaim time.Duration
	// Dead is after how long without a word a process is taken out of the groups, if
	// it has no open calls. Default: 24 h.
	Dead time.Duration
	// Logger takes a line when the server is lost or back, and for each call that is
	// given up. Default: none are written.
	Logger *slog.Logger
}

// A Client is this process's part of the doorbells. Its methods may overlap.
type Client struct {
	o      Options
	server *redis.Options
	quick  *redis.Client        // for commands that are answered at once
	bells  inproc.LocalNotifier // of this process
	out    sendQueue
	failed atomic.Pointer[time.Time] // when the server last left a send waiting

	mu       sync.Mutex // guards what follows
	troubles []failure  // the oldest first
	emptied  time.Time  // when it was last found without what it had
}

var (
	_ pubsub.Notifier       = (*Client)(nil)
	_ pubsub.Subscriber     = (*Client)(nil)
	_ pubsub.WorkDispatcher = (*Client)(nil)
)

// Open prepares a client. It makes no call: a server that is away is no error. The
// caller closes it after [Client.Run] has returned.
func Open(o Options) (*Client, error) {
	server, err := redis.ParseURL(o.URL)
	if err != nil {
		return nil, errors.New("redis: the address is none of a Redis server") // the library's words may hold the password
	}
	logging.Disable() // what the library would print, the client says in its own log
	server.MaxRetries = -1
	server.ContextTimeoutEnabled = true
	server.DialTimeout, server.ReadTimeout, server.WriteTimeout = patience, patience, patience
	server.DialerRetries = 1
	server.Protocol = 2
	server.DisableIdentity = true
	if o.Reclaim <= 0 {
		o.Reclaim = 10 * time.Second
	}
	if o.Dead <= 0 {
		o.Dead = 24 * time.Hour
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Client{o: o, server: server, quick: redis.NewClient(server), out: newOutgoing()}, nil
}

// Run sends and hears until ctx is done and returns nil.
func (c *Client) Run(ctx context.Context) error {
	var both sync.WaitGroup
	both.Go(func() { c.send(ctx) })
	both.Go(func() { c.listen(ctx) })
	both.Wait()
	return nil
}

// Close gives the connections back.
func (c *Client) Close() error { return c.quick.Close() }

// Ping asks the server whether it is there and will keep what it is told.
func (c *Client) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := c.quick.Set(ctx, c.key("asked"), c.o.Process, time.Second).Err(); err != nil {
		return fmt.Errorf("ask redis: %w", err)
	}
	return nil
}

// Trouble returns why the server cannot be used, and since when; nil when it can.
func (c *Client) Trouble() (since time.Time, why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.troubles) == 0 {
		return time.Time{}, nil
	}
	return c.troubles[0].since, c.troubles[0].why
}

// Emptied returns when the server was last found without what this process had on it;
// zero where it never was. What it needs there is made anew by then.
func (c *Client) Emptied() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.emptied
}

// wasEmptied notes that the server has lost what it had.
func (c *Client) wasEmptied() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.emptied) > time.Second { // each key is found missing by itself
		c.o.Logger.Warn("redis was emptied; what is needed there is made anew, and nothing is lost")
	}
	c.emptied = time.Now()
}

// What is done only when there is something to do, so that nothing tells whether it
// would go well again; the other things are tried until they do.
var seldom = []string{telling, pacing, acknowledging}

const (
	telling       = "send"
	pacing        = "pace"
	acknowledging = "acknowledge"
)

// A failure is why one of the things that are done goes wrong.
type failure struct {
	doing string
	why   error
	since time.Time
}

// retry asks the server itself where something went wrong that is done seldom, and takes
// its answer for all of those.
func (c *Client) retry(ctx context.Context) {
	c.mu.Lock()
	wrong := slices.ContainsFunc(c.troubles, func(t failure) bool { return slices.Contains(seldom, t.doing) })
	c.mu.Unlock()
	if !wrong || c.Ping(ctx) != nil {
		return
	}
	for _, doing := range seldom {
		c.saw(doing, nil)
	}
}

// saw notes how something went, and says so when that is news.
func (c *Client) saw(doing string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.troubles, func(t failure) bool { return t.doing == doing })
	switch {
	case err == nil && i >= 0:
		c.troubles = slices.Delete(c.troubles, i, i+1)
		if len(c.troubles) == 0 {
			c.o.Logger.Info("redis is back")
		}
	case err != nil && i >= 0:
		c.troubles[i].why = err
	case err != nil:
		c.troubles = append(c.troubles, failure{doing, err, time.Now()})
		if len(c.troubles) == 1 {
			c.o.Logger.Warn("redis lost, doorbells stay in this process", "doing", doing, "error", err)
		}
	}
}

// waiting returns a connection of its own for reads that wait; they end with ctx.
// The caller calls stop.
func (c *Client) waiting(ctx context.Context) (rdb *redis.Client, stop func()) {
	own := *c.server
	own.PoolSize = 1
	rdb = redis.NewClient(&own)
	undo := context.AfterFunc(ctx, func() { _ = rdb.Close() })
	return rdb, func() {
		if undo() {
			_ = rdb.Close()
		}
	}
}

// keepOn calls do until ctx is done, and less and less often while it fails.
func (c *Client) keepOn(ctx context.Context, doing string, do func() error) {
	wait := backoff.ExponentialBackOff{InitialInterval: 50 * time.Millisecond, RandomizationFactor: 0.5, Multiplier: 2, MaxInterval: 5 * time.Second}
	for ctx.Err() == nil {
		err := do()
		if ctx.Err() != nil {
			return
		}
		c.saw(doing, err)
		if err == nil {
			wait.Reset()
			continue
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait.NextBackOff()):
		}
	}
}

// key returns the name of something on the server.
func (c *Client) key(parts string) string { return "trestle:" + c.o.Installation + ":" + parts }
