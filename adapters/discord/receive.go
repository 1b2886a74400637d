package discord

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/bwmarrin/discordgo"
	"golang.org/x/sync/errgroup"

	"github.com/trestle-bridge/trestle/adapters"
)

const (
	// maxWaiting bounds the events that are read and not yet recorded; beyond it
	// the platform waits.
	maxWaiting = 256
	// maxBatch bounds the events recorded together.
	maxBatch = 100
	// renewal is how old the stored cursor may grow while nothing has to be recorded.
	renewal = 30 * time.Second
)

// Receive reads the gateway until ctx is done or Discord is out of reach.
//
// A session is resumed after every loss of the connection, and after a restart
// with the cursor of the one before; only when Discord no longer has it a new one
// begins, and what was said meanwhile is read from history. When the sink
// refuses, the same batch is handed in again after a pause. Close codes after
// which Discord must not be asked again are Unauthorized, for good but for those
// about the number of shards, which the next Receive asks for anew.
func (c *Client) Receive(ctx context.Context, cursor []byte, sink adapters.UpdateSink) error {
	at, err := parsePosition(cursor)
	if err != nil {
		return &adapters.Error{Kind: adapters.Invalid, Op: "gateway", Err: err}
	}
	self, err := c.me(ctx)
	if err != nil {
		return adapters.OrDone(ctx, err)
	}
	gateway, err := c.gateway(ctx)
	if err != nil {
		return adapters.OrDone(ctx, err)
	}
	g, work := errgroup.WithContext(ctx)
	events := make(chan event, maxWaiting)
	asks := make(chan ask)
	acks := newAcks(c)
	defer acks.wait()
	now := time.Now()
	r := &receiver{client: c, self: self, sink: sink, at: at, shards: gateway.Shards, calls: make(chan interactionCall), stored: now, told: visibilityChange{}, allowed: gateway.Start.from(now), silence: newSilenceCheck(c, gateway.Shards, now)}
	c.receives.Store(r)
	defer c.receives.Store(nil)
	defer r.silence.looks.Wait()
	for id := range gateway.Shards {
		s := &shard{
			client: c, id: id, count: gateway.Shards, gateway: gateway.URL, intents: intents(self),
			out: events, heard: sink.Alive, acks: acks, session: at.session(id, gateway.Shards),
			identify: func(ctx context.Context) error { return askFor(ctx, asks) },
		}
		s.seq.Store(s.session.Seq)
		s.inherited = s.session.ID != ""
		g.Go(func() error { return s.run(work) })
	}
	g.Go(func() error { return r.run(work, events, asks) })
	return adapters.OrDone(ctx, g.Wait())
}

// intents returns what we ask to be told. Who is on a server is only asked for
// where the developer portal allows it; without the words of messages there is
// nothing to do here, so a refusal of those must show.
func intents(self account) discordgo.Intent {
	wanted := discordgo.IntentGuilds | discordgo.IntentGuildEmojis | discordgo.IntentGuildMessages | discordgo.IntentGuildMessageReactions |
		discordgo.IntentDirectMessages | discordgo.IntentDirectMessageReactions | discordgo.IntentMessageContent
	if self.flags&(flagMembers|flagMembersLimited) != 0 {
		wanted |= discordgo.IntentGuildMembers
	}
	return wanted
}

// Flags of an application (docs.discord.com, resources/application#application-flags).
const (
	flagMembers        = 1 << 14
	flagMembersLimited = 1 << 15
	flagContent        = 1 << 18
	flagContentLimited = 1 << 19
)

// receiver turns events into updates and hands them in. It is one goroutine,
// which owns the position.
type receiver struct {
	client *Client
	self   account
	sink   adapters.UpdateSink
	at     *position
	shards int
	calls  chan interactionCall // interactions that Discord calls us with

	began   time.Time        // when the last session began
	allowed allowance        // what Discord lets us begin
	stored  time.Time        // when the position was last stored
	pending map[string]bool  // servers whose gap is to be filled
	told    visibilityChange // by which what an event changes is known
	owed    pendingHistories
	silence *silenceCheck
	unsaid  time.Time // when Discord last did not say who a person is
}

// run records events in their order until ctx is done or one cannot be.
func (r *receiver) run(ctx context.Context, events <-chan event, asks <-chan ask) error {
	for {
		var err error
		select {
		case <-ctx.Done():
			return nil
		case a := <-asks:
			err = r.grant(ctx)
			a.granted <- err
		case <-r.retryTimer():
			err = r.retryPending(ctx)
		case <-r.silence.timer():
			r.silence.look(ctx, r.at)
		case shard := <-r.silence.found:
			err = r.endSilence(ctx, shard)
		case one := <-r.calls:
			err = r.takeCalled(ctx, one)
		case e := <-events:
			err = r.takeBatch(ctx, e, events)
		}
		if err != nil {
			return err
		}
	}
}

// takeBatch records an event with those that wait behind it.
func (r *receiver) takeBatch(ctx context.Context, e event, events <-chan event) error {
	var updates []adapters.Update
	for n := 1; ; n++ {
		more, err := r.take(ctx, e)
		if err != nil {
			return err
		}
		updates = append(updates, more...)
		if n == maxBatch || len(events) == 0 {
			return r.settle(ctx, updates)
		}
		e = <-events // this loop is the only reader
	}
}

// take reads one event and moves the position past it.
func (r *receiver) take(ctx context.Context, e event) ([]adapters.Update, error) {
	r.silence.heard(e)
	if e.Type == "READY" {
		r.ready(e)
		return nil, r.fillDirect(ctx)
	}
	read := r.readOther
	if slices.Contains(saying, e.Type) {
		read = r.readSaid
	}
	updates, err := read(ctx, e)
	if err != nil {
		return nil, err
	}
	if e.kept {
		updates = kept(updates)
	}
	r.at.at(e.shard, e.session.Seq)
	return updates, nil
}

// ready notes a new session.
func (r *receiver) ready(e event) {
	r.at.begin(e.shard, r.shards, e.session, time.Now())
	r.stored = time.Time{}
	var said struct {
		Guilds []struct {
			ID string `json:"id"`
		} `json:"guilds"`
	}
	if err := json.Unmarshal(e.RawData, &said); err != nil {
		r.client.log.Warn("the servers of the session are not told", "error", err)
	}
	if r.pending == nil {
		r.pending = map[string]bool{}
	}
	for _, g := range said.Guilds {
		r.pending[g.ID] = true
	}
}

// settle hands updates in, with the cursor, if there is anything to store.
func (r *receiver) settle(ctx context.Context, updates []adapters.Update) error {
	if r.at.Gap != 0 && len(r.pending) == 0 {
		r.at.Gap, r.stored = 0, time.Time{}
	}
	if len(updates) == 0 && time.Since(r.stored) < renewal {
		return nil
	}
	return r.record(ctx, updates)
}

// record hands updates in until they are taken. They and the cursor are durable
// when it returns nil.
func (r *receiver) record(ctx context.Context, updates []adapters.Update) error {
	err := adapters.DeliverBatch(ctx, r.sink, adapters.UpdateBatch{Updates: updates, Cursor: r.at.cursor()}, r.client.log)
	if err == nil {
		r.stored = time.Now()
	}
	return err
}
