package telegram

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"
)

// delivery is one update that waits for its bot.
type delivery struct {
	id       int64
	kind     string
	members  json.RawMessage // an object without update_id
	at       time.Time
	chat     int64
	message  int64
	editDate int64
}

func (d delivery) wire() json.RawMessage {
	rest := bytes.TrimLeft(d.members, " \t\r\n")
	b := make([]byte, 0, len(rest)+32)
	b = append(b, `{"update_id":`...)
	b = strconv.AppendInt(b, d.id, 10)
	if inner := bytes.TrimSpace(rest[1:]); len(inner) > 0 && inner[0] != '}' {
		b = append(b, ',')
	}
	return append(b, rest[1:]...)
}

// retention is how long the platform keeps an update that is not fetched.
const retention = 24 * time.Hour

// QueueReordering makes a queue deliver worse than it promises, as after a fault on
// the platform's side. The updates stay true; none is lost.
type QueueReordering struct {
	// Copies delivers every update between two and that many times, the later
	// ones with following polls and whatever the offset. Default: once.
	Copies int `json:"copies,omitzero"`
	// Shuffle mixes the updates of each answer.
	Shuffle bool `json:"shuffle,omitzero"`
}

// queue holds the updates of one bot until they are confirmed by a higher offset.
type queue struct {
	bot    int64
	ledger *ledger

	mu       sync.Mutex // guards what follows
	pending  []delivery // by ascending id
	next     int64      // the id the next update gets
	arrived  chan struct{}
	allowed  map[string]bool // nil: all but the ones that must be named
	names    []string        // allowed as it was given
	poll     *poll
	last     pollMark
	disorder QueueReordering
	rng      *rand.Rand
	owed     []delivery // copies still to be delivered
	done     []delivery // confirmed lately, for Redeliver
}

// open readies the queue of one bot. The same seed gives the same disorder.
func (q *queue) open(bot int64, l *ledger, seed uint64) {
	q.bot, q.ledger = bot, l
	q.next = 100_000_001
	q.arrived = make(chan struct{})
	q.rng = rand.New(rand.NewPCG(uint64(bot), seed))
}

// put queues an update whatever its kind and returns its id.
func (q *queue) put(d delivery) int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.add(d)
	return q.next - 1
}

// offer queues an update if the bot asked for its kind.
func (q *queue) offer(d delivery) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.allowed == nil {
		switch d.kind {
		case "chat_member", "message_reaction", "message_reaction_count":
			return
		}
	} else if !q.allowed[d.kind] {
		return
	}
	q.add(d)
}

func (q *queue) add(d delivery) {
	d.id = q.next
	q.next++
	q.pending = append(q.pending, d)
	close(q.arrived)
	q.arrived = make(chan struct{})
}

// RestartUpdateIDs gives the next update this id, as the platform does at random
// after a week of silence. Updates still waiting are numbered anew, too.
func (b *BotUser) RestartUpdateIDs(next int64) {
	q := &b.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range q.pending {
		q.pending[i].id = next
		next++
	}
	q.next = next
}

// Disorder sets how badly the bot's updates are delivered from now on.
func (b *BotUser) Disorder(d QueueReordering) {
	b.queue.mu.Lock()
	defer b.queue.mu.Unlock()
	b.queue.disorder = d
}

// Redeliver hands the last n confirmed updates over once more, under their old
// ids, with the next poll. It returns how many there were.
func (b *BotUser) Redeliver(n int) int {
	q := &b.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	again := q.done[max(0, len(q.done)-n):]
	q.owed = append(q.owed, again...)
	close(q.arrived)
	q.arrived = make(chan struct{})
	return len(again)
}

// Pending tells how many updates the bot has not confirmed.
func (b *BotUser) Pending() int {
	b.queue.mu.Lock()
	defer b.queue.mu.Unlock()
	return len(b.queue.pending)
}

// confirm forgets the updates below offset, and the ones that are too old.
func (q *queue) confirm(offset int64, now time.Time) {
	n, _ := slices.BinarySearchFunc(q.pending, offset, func(d delivery, id int64) int { return int(d.id - id) })
	if n > 0 {
		q.ledger.acked(q.acks(q.pending[:n], now))
		q.done = append(q.done, q.pending[:n]...)
		q.done = q.done[max(0, len(q.done)-100):]
		q.pending = q.pending[n:]
	}
	old := 0
	for old < len(q.pending) && now.Sub(q.pending[old].at) > retention {
		old++
	}
	q.ledger.expired(q.acks(q.pending[:old], now))
	q.pending = q.pending[old:]
}

func (q *queue) acks(ds []delivery, now time.Time) []UpdateAck {
	if len(ds) == 0 || q.ledger.limit < 0 {
		return nil
	}
	as := make([]UpdateAck, len(ds))
	for i, d := range ds {
		as[i] = UpdateAck{At: now, Bot: q.bot, Update: d.id, Kind: d.kind, Chat: d.chat, Message: d.message, EditDate: d.editDate}
	}
	return as
}

// take returns up to limit updates from the given id on, disordered as wanted.
func (q *queue) take(from int64, limit int) []json.RawMessage {
	n, _ := slices.BinarySearchFunc(q.pending, from, func(d delivery, id int64) int { return int(d.id - id) })
	batch := slices.Clone(q.pending[n:min(len(q.pending), n+limit)])
	room := limit - len(batch)
	again := q.owed[:min(room, len(q.owed))]
	q.owed = q.owed[len(again):]
	fresh := len(batch)
	batch = append(batch, again...)
	if q.disorder.Copies > 1 {
		for _, d := range batch[:fresh] {
			for range 1 + q.rng.IntN(q.disorder.Copies-1) {
				q.owed = append(q.owed, d)
			}
		}
	}
	if q.disorder.Shuffle {
		q.rng.Shuffle(len(batch), func(i, j int) { batch[i], batch[j] = batch[j], batch[i] })
	}
	out := make([]json.RawMessage, len(batch))
	for i, d := range batch {
		out[i] = d.wire()
	}
	return out
}
