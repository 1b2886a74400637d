package discord

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

const (
	// silenceEvery is how long a shard brings no event before its servers are looked
	// at, and how often they are.
	silenceEvery = 10 * time.Minute
	// silenceGuilds is how many servers one look asks about.
	silenceGuilds = 3
	// silenceMargin is how late an event may be, and how wrong a clock.
	silenceMargin = 2 * time.Minute
)

// A silenceCheck finds sessions whose heartbeats are answered and that bring no events
// although people write: the channels of a quiet shard's servers, of which Discord says
// the newest message, are compared with what the shard has told. Its looks run beside
// the receiver, which they do not hold up; the other methods are the receiver's.
type silenceCheck struct {
	client *Client
	last   []time.Time // when each shard last brought an event
	next   time.Time   // when to look
	looks  sync.WaitGroup
	found  chan int // the shard that a look found deaf, or -1; nil while no look is under way
	turn   int      // how many servers were asked about; the look's
}

func newSilenceCheck(c *Client, shards int, now time.Time) *silenceCheck {
	return &silenceCheck{client: c, last: slices.Repeat([]time.Time{now}, shards), next: now.Add(silenceEvery)}
}

// heard notes an event.
func (s *silenceCheck) heard(e event) {
	if e.Operation == opDispatch && e.shard < len(s.last) {
		s.last[e.shard] = time.Now()
	}
}

// timer rings when the next look is due; nil while one is under way.
func (s *silenceCheck) timer() <-chan time.Time {
	if s.found != nil {
		return nil
	}
	return time.After(time.Until(s.next))
}

// look begins a look, which sends its result to found.
func (s *silenceCheck) look(ctx context.Context, at *position) {
	s.next = time.Now().Add(silenceEvery)
	l := silenceLook{check: s, last: slices.Clone(s.last), told: slices.Clone(at.Sessions), newest: maps.Clone(at.Last)}
	if !slices.ContainsFunc(l.last, l.isQuiet) {
		return
	}
	found := make(chan int, 1)
	s.found = found
	s.looks.Go(func() { found <- l.deafShard(ctx) })
}

// A silenceLook is one look, over what was known when it began.
type silenceLook struct {
	check  *silenceCheck
	last   []time.Time          // when each shard last brought an event
	told   []session            // with the newest message that each told
	newest map[string]snowflake // by channel
}

// isQuiet reports whether a shard that last brought an event then is quiet.
func (silenceLook) isQuiet(last time.Time) bool { return time.Since(last) >= silenceEvery }

// deafShard looks at servers of quiet shards, in turn, and returns the number of a shard
// that is deaf, or -1. What Discord does not answer says nothing.
func (l silenceLook) deafShard(ctx context.Context) int {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	guilds := l.check.client.known.guildIDs()
	for asked := 0; asked < min(silenceGuilds, len(guilds)); asked++ {
		id := guilds[l.check.turn%len(guilds)]
		l.check.turn++
		shard := shardOf(id, len(l.last))
		if l.isQuiet(l.last[shard]) && shard < len(l.told) && l.untold(ctx, id, shard) {
			return shard
		}
	}
	return -1
}

// untold reports whether a channel of a server has a message that the server's shard
// should have told by now.
func (l silenceLook) untold(ctx context.Context, guild string, shard int) bool {
	var channels []channel
	if err := l.check.client.readWithRetry(ctx, guildRoute("get channels", guild, "/channels"), &channels); err != nil {
		return false
	}
	for _, ch := range channels {
		newest := flake(ch.LastMessageID)
		if !holdsMessages(ch.Type) || isForum(ch.Type) || newest <= max(l.told[shard].Mark, l.newest[ch.ID]) {
			continue
		}
		if list, _, err := l.check.client.page(ctx, ch.ID, newest-1); err == nil && slices.ContainsFunc(list, func(raw json.RawMessage) bool {
			var m message
			return adapters.DecodeFields(raw, &m, essential...) == nil && m.Timestamp.After(l.last[shard].Add(silenceMargin)) && m.Timestamp.Before(time.Now().Add(-silenceMargin))
		}) {
			return true
		}
	}
	return false
}

// shardOf returns the shard that tells of a server
// (docs.discord.com, topics/gateway#sharding).
func shardOf(guild string, shards int) int {
	id, err := strconv.ParseUint(guild, 10, 64)
	if err != nil || shards < 2 {
		return 0
	}
	return int((id >> sinceBits) % uint64(shards)) //nolint:gosec // less than shards
}

// A deafReport keeps how often an account is connected anew for being deaf.
type deafReport struct {
	mu   sync.Mutex // guards last
	last time.Time
}

// due reports whether it may be connected anew, and notes that.
func (d *deafReport) due(now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.last.IsZero() && now.Sub(d.last) < adapters.DeafAgain {
		return false
	}
	d.last = now
	return true
}

// endSilence ends Receive where a look has found a session deaf and nothing came from it
// since. That session is given up: a new one reads what was said meanwhile from history.
func (r *receiver) endSilence(ctx context.Context, shard int) error {
	r.silence.found = nil
	if shard < 0 || shard >= len(r.at.Sessions) || time.Since(r.silence.last[shard]) < silenceEvery || !r.client.deaf.due(time.Now()) {
		return nil
	}
	r.at.Sessions[shard] = session{Mark: r.at.Sessions[shard].Mark}
	if err := r.record(ctx, nil); err != nil {
		return err
	}
	return &adapters.Error{Kind: adapters.NotSent, Op: "gateway", Err: adapters.ErrDeaf}
}
