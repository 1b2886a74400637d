package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/cenkalti/backoff/v5"
	"github.com/gorilla/websocket"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/httpx"
)

// shard keeps one connection of the gateway up, over as many websockets as it
// takes, and hands on what it reads, in order.
type shard struct {
	client   *Client
	id       int
	count    int
	gateway  string // where new sessions begin
	intents  discordgo.Intent
	out      chan<- event
	heard    func(time.Time)
	acks     *acks
	identify func(context.Context) error // waits until a new session may begin

	session session      // the reader's; its Seq is in seq
	seq     atomic.Int64 // of the last event read
	// inherited tells that the session is an earlier process's and that its first
	// connection of ours is not over. What the session has missed comes by that one, and
	// nothing tells for certain where it ends: an earlier RESUMED is replayed as well.
	inherited bool
}

// event is one event with where it came from.
type event struct {
	discordgo.Event
	shard   int
	session session
	kept    bool // an earlier process's session may have missed it
}

const (
	// steady is how long a connection has to last to be no part of a series of failures.
	steady = time.Minute
	// settled is how long one has to last for the next to follow at once, when
	// Discord asks for that.
	settled = 5 * time.Second
	// maxFailures is how many connections in a row may come to nothing before we
	// say that the platform is out of reach.
	maxFailures = 4
)

// run reads until ctx is done, and then returns nil, or until there is no use in
// going on: the account may not connect, or Discord cannot be reached.
func (s *shard) run(ctx context.Context) error {
	pause := &backoff.ExponentialBackOff{
		InitialInterval: time.Second, RandomizationFactor: 0.3, Multiplier: 2, MaxInterval: 30 * time.Second,
	}
	pause.Reset()
	failures := 0
	for ctx.Err() == nil {
		began := time.Now()
		ready, err := s.connect(ctx)
		if ctx.Err() != nil {
			return nil
		}
		next, fatal := s.after(err)
		if fatal != nil {
			return fatal
		}
		s.client.log.Info("gateway connection ended", "shard", s.id, "reason", err, "resume", s.session.ID != "")
		if failures++; ready {
			failures, s.inherited = 0, false
		}
		if failures >= maxFailures {
			return &adapters.Error{Kind: adapters.NotSent, Op: "gateway", Err: httpx.RedactError(err, 0, s.client.token)}
		}
		lasted := time.Since(began)
		if lasted >= steady {
			pause.Reset()
		}
		if rest := pause.NextBackOff(); !next || lasted < settled {
			adapters.SleepContext(ctx, rest)
		}
	}
	return nil
}

// after says what the end of a connection means: whether the next may be made at
// once, or that there is none.
func (s *shard) after(err error) (atOnce bool, fatal error) {
	if e, ok := errors.AsType[*adapters.Error](err); ok {
		return false, e // the identify budget, or the sink
	}
	if errors.Is(err, errSilent) {
		s.session.URL = "" // perhaps another one answers
	}
	closed, ok := errors.AsType[*websocket.CloseError](err)
	if !ok {
		return errors.Is(err, errReconnect), nil
	}
	if advice, ok := fatalCodes[closed.Code]; ok {
		return false, &adapters.Error{
			Kind: adapters.Unauthorized, Op: "gateway", Final: closed.Code != invalidShard && closed.Code != tooFewShards,
			Err: fmt.Errorf("closed with %d: %s", closed.Code, advice),
		}
	}
	if closed.Code == invalidSeq || closed.Code == sessionTimedOut {
		s.forget()
	}
	return false, nil
}

const (
	// After these another session has to begin.
	invalidSeq      = 4007
	sessionTimedOut = 4009
	// After these Discord may say another number of shards.
	invalidShard = 4010
	tooFewShards = 4011
)

// fatalCodes are those after which Receive ends, with what can be done
// (docs.discord.com, topics/opcodes-and-status-codes#gateway).
var fatalCodes = map[int]string{
	4004: "the token is not valid; take a new one from the developer portal, page Bot",

	invalidShard: "the shard is not valid; discord is asked again how many connections it wants",
	tooFewShards: "the bot is on too many servers for one connection; discord is asked again how many it wants",

	4012: "discord no longer serves this version of its gateway; trestle has to be updated",
	4013: "the intents are not valid; trestle has to be updated",
	4014: "an intent is not allowed; switch on Message Content Intent in the developer portal, page Bot",
}

// forget gives the session up.
func (s *shard) forget() {
	s.session = session{}
	s.seq.Store(0)
}

// connect makes one connection and reads it to its end. ready tells that the
// session was begun or resumed.
func (s *shard) connect(ctx context.Context) (ready bool, err error) {
	resume := s.session.ID != ""
	address := s.gateway
	if resume && s.session.URL != "" {
		address = s.session.URL
	}
	if !resume {
		if err := s.identify(ctx); err != nil {
			return false, err
		}
	}
	c, err := s.dial(ctx, address)
	if err != nil {
		if resume {
			s.session.URL = "" // perhaps that one is gone; the session may live on behind the other
		}
		return false, err
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() {
		<-ctx.Done()
		c.close(context.Canceled)
	})
	interval, err := c.hello()
	if err != nil {
		return false, c.reason(err)
	}
	wg.Go(func() { c.beat(ctx, interval) })
	if resume {
		err = c.write(opResume, resumeData{Token: "Bot " + string(s.client.token), Session: s.session.ID, Seq: s.seq.Load()})
	} else {
		err = c.write(opIdentify, s.identity())
	}
	if err != nil {
		return false, c.reason(err)
	}
	silent := time.AfterFunc(beginWait, func() { c.close(errSilent) })
	defer silent.Stop()
	return s.listen(ctx, c, silent)
}

type resumeData struct {
	Token   string `json:"token"`
	Session string `json:"session_id"`
	Seq     int64  `json:"seq"`
}

// identity is what begins a session.
func (s *shard) identity() any {
	i := discordgo.Identify{
		Token: "Bot " + string(s.client.token), Compress: true, LargeThreshold: 50, Intents: s.intents,
		Properties: discordgo.IdentifyProperties{OS: "linux", Browser: "trestle", Device: "trestle"},
	}
	if s.count > 1 {
		i.Shard = &[2]int{s.id, s.count}
	}
	return i
}

// listen reads a connection whose session is to be begun or resumed. The first event
// stops silent.
func (s *shard) listen(ctx context.Context, c *connection, silent *time.Timer) (ready bool, err error) {
	for {
		e, err := c.read()
		if err != nil {
			return ready, c.reason(err)
		}
		s.heard(time.Now())
		switch e.Operation {
		case opDispatch:
			silent.Stop()
			up, err := s.dispatch(ctx, c, e)
			if err != nil {
				return ready, err
			}
			ready = ready || up
		case opHeartbeat:
			if err := c.heartbeat(); err != nil {
				return ready, c.reason(err)
			}
		case opHeartbeatAck:
			c.acked.Store(true)
		case opReconnect:
			c.close(errReconnect)
			return ready, errReconnect
		case opInvalidSession:
			return ready, s.invalid(ctx, c, e.RawData)
		case opHello:
		default:
			if err := s.hand(ctx, c, event{Event: e, shard: s.id}); err != nil {
				return ready, err
			}
		}
	}
}

// dispatch hands an event on and advances the session. It calls up once the session is
// established.
func (s *shard) dispatch(ctx context.Context, c *connection, e discordgo.Event) (up bool, err error) {
	switch e.Type {
	case "READY":
		var said struct {
			Session string `json:"session_id"`
			Resume  string `json:"resume_gateway_url"`
		}
		if json.Unmarshal(e.RawData, &said) == nil {
			s.session = session{ID: said.Session, URL: said.Resume}
		}
		up, s.inherited = true, false
	case "RESUMED":
		up = true
	case "INTERACTION_CREATE":
		s.acks.see(ctx, e.RawData) // at once: what is before it may take longer than Discord waits
	}
	s.session.Seq = e.Sequence
	if err := s.hand(ctx, c, event{Event: e, shard: s.id, session: s.session, kept: s.inherited}); err != nil {
		return up, err
	}
	if e.Sequence > 0 {
		s.seq.Store(e.Sequence)
	}
	return up, nil
}

// hand passes an event to the receiver and blocks until it is taken, so that the
// platform is slowed down too.
func (s *shard) hand(ctx context.Context, c *connection, e event) error {
	c.handing.Store(true)
	defer c.handing.Store(false)
	select {
	case s.out <- e:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// invalid answers op 9: the session is resumed once more where Discord says that
// it can be, else given up; both after the pause that Discord asks for.
func (s *shard) invalid(ctx context.Context, c *connection, data json.RawMessage) error {
	var can bool
	if json.Unmarshal(data, &can) != nil || !can {
		s.forget()
	}
	c.close(errInvalid)
	adapters.SleepContext(ctx, time.Second+rand.N(4*time.Second)) //nolint:gosec // only spreads the load
	return errInvalid
}
