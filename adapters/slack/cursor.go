package slack

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
)

// position is where receiving stands: what was last said in each channel, as far
// as we have it. Slack keeps no place for us; the gap after a silence is read
// from history.
type position struct {
	// Since is the ts from which a channel that Last does not name is read.
	Since string `json:"since"`
	// Last is the newest message by channel.
	Last map[string]string `json:"last,omitempty"`
	// Threads are the threads that spoke lately, as channel/parent, with their newest message.
	Threads map[string]string `json:"threads,omitempty"`
	// Owed is what must still be read of channels about which Slack did not answer.
	Owed map[string]debt `json:"owed,omitempty"`
	// Heard is when Slack was last there, in Unix seconds.
	Heard int64 `json:"heard"`
}

// errCursor means that stored bytes are no cursor of ours.
var errCursor = errors.New("the stored cursor is not one of slack's")

// parsePosition reads a cursor; nil is the zero position.
func parsePosition(cursor []byte) (*position, error) {
	p := &position{Last: map[string]string{}, Threads: map[string]string{}, Owed: map[string]debt{}}
	if cursor == nil {
		return p, nil
	}
	if err := json.Unmarshal(cursor, p); err != nil || p.Since == "" {
		return p, errCursor
	}
	return p, nil
}

// cursor returns the stored form of p.
func (p *position) cursor() []byte {
	out, err := json.Marshal(p)
	if err != nil {
		panic("slack: a position does not marshal: " + err.Error())
	}
	return out
}

// clone returns a copy that shares nothing.
func (p *position) clone() *position {
	q := *p
	q.Last, q.Threads, q.Owed = maps.Clone(p.Last), maps.Clone(p.Threads), maps.Clone(p.Owed)
	return &q
}

const (
	maxThreads  = 64                 // remembered over all channels
	threadsKept = 7 * 24 * time.Hour // since they last spoke
)

// advance notes that a message was taken. History has a channel's messages and a
// thread's apart, so that each has its own place.
func (p *position) advance(channel, thread, ts string) {
	if timeOf(ts).IsZero() {
		return
	}
	if thread == "" {
		if later(ts, p.Last[channel]) {
			p.Last[channel] = ts
		}
		return
	}
	name := channel + "/" + thread
	if later(ts, p.Threads[name]) {
		p.Threads[name] = ts
	}
	if len(p.Threads) > maxThreads {
		oldest := slices.MinFunc(slices.Collect(maps.Keys(p.Threads)), func(a, b string) int {
			return cmp.Or(compareTS(p.Threads[a], p.Threads[b]), cmp.Compare(a, b))
		})
		delete(p.Threads, oldest)
	}
}

// from returns the ts after which a channel is read: one that never spoke, or
// that we came into meanwhile, from when we last listened.
func (p *position) from(channel string) string {
	if ts := p.Last[channel]; ts != "" {
		return ts
	}
	if heard := tsAt(time.Unix(p.Heard, 0).Add(-clockSkew)); later(heard, p.Since) {
		return heard
	}
	return p.Since
}

// clockSkew is how far Slack's clock, by which messages are named, may be behind
// ours.
const clockSkew = 10 * time.Second

// retryWindow is how long Slack brings again what was not acknowledged.
const retryWindow = 5 * time.Minute

// lookBack returns the ts after which a channel is read after a silence until
// now. Slack keeps no order: while it still brings again what we did not
// acknowledge, that makes up for it; later an overlap does.
func (p *position) lookBack(channel string, now time.Time) string {
	from := p.from(channel)
	if now.Sub(time.Unix(p.Heard, 0)) < retryWindow {
		return from
	}
	earlier := tsAt(timeOf(from).Add(-retryWindow))
	if later(p.Since, earlier) {
		return p.Since
	}
	return earlier
}

// threadsOf returns the threads of a channel that spoke within threadsKept.
func (p *position) threadsOf(channel string, now time.Time) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(p.Threads)) {
		parent, ok := strings.CutPrefix(name, channel+"/")
		if ok && now.Sub(timeOf(p.Threads[name])) < threadsKept {
			out = append(out, parent)
		}
	}
	return out
}

// stale reports whether the stored time of the last sign of life should be
// renewed even though nothing was said.
func (p *position) stale(now time.Time) bool { return now.Sub(time.Unix(p.Heard, 0)) >= renewal }

// renewal is how old the stored time of the last sign of life may grow.
const renewal = 2 * time.Minute
