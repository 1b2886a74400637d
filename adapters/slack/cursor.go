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

// position is how far receiving has come: the last message of each channel that was
// handed in. Slack keeps no cursor; the gap after a disconnection is read from history.
type position struct {
	// Since is the ts from which a channel that Last does not name is read.
	Since string `json:"since"`
	// Last is the newest message by channel.
	Last map[string]string `json:"last,omitempty"`
	// Threads are the threads that spoke lately, as channel/parent, with their newest message.
	Threads map[string]string `json:"threads,omitempty"`
	// Owed is what must still be read of channels about which Slack did not answer.
	Owed map[string]pendingHistory `json:"owed,omitempty"`
	// Newest are the messages taken within retryWindow of the last one, as
	// channel:ts: the next look reaches back over them.
	Newest []string `json:"newest,omitempty"`
	// Moved are the channels that have another id by now, by the one before it.
	Moved map[string]string `json:"moved,omitempty"`
	// Heard is when history was last read to its end, in Unix seconds: of what was
	// said before, nothing is missing but what is owed.
	Heard int64 `json:"heard"`
}

// errCursor means that stored bytes are no cursor of ours.
var errCursor = errors.New("the stored cursor is not one of slack's")

// parsePosition reads a cursor; nil is the zero position.
func parsePosition(cursor []byte) (*position, error) {
	p := &position{Last: map[string]string{}, Threads: map[string]string{}, Owed: map[string]pendingHistory{}, Moved: map[string]string{}}
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
	q.Last, q.Threads, q.Owed, q.Moved = maps.Clone(p.Last), maps.Clone(p.Threads), maps.Clone(p.Owed), maps.Clone(p.Moved)
	q.Newest = slices.Clone(p.Newest)
	return &q
}

const (
	maxThreads  = 64                 // remembered over all channels
	threadsKept = 7 * 24 * time.Hour // since they last spoke
	maxNewest   = 128                // of them, beyond which the record alone knows what is told twice
)

// advance notes that a message was taken. History has a channel's messages and a
// thread's apart, so that each has its own place.
func (p *position) advance(channel, thread, ts string) {
	if timeOf(ts).IsZero() {
		return
	}
	p.taken(channel, ts)
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

// move takes what is known of a channel to its new id, so that the next look goes on
// where the last one ended, in its threads too.
func (p *position) move(from, to string) {
	delete(p.Moved, to) // where it came back to it is
	p.Moved[from] = to
	if ts := p.Last[from]; later(ts, p.Last[to]) {
		p.Last[to] = ts
	}
	if d, owes := p.Owed[from]; owes {
		p.Owed[to] = d
	}
	delete(p.Last, from)
	delete(p.Owed, from)
	for name, ts := range p.Threads {
		if parent, of := strings.CutPrefix(name, from+"/"); of {
			delete(p.Threads, name)
			p.Threads[to+"/"+parent] = ts
		}
	}
	for i, said := range p.Newest {
		if ts, of := strings.CutPrefix(said, from+":"); of {
			p.Newest[i] = to + ":" + ts
		}
	}
}

// ids returns the id that a channel has by now, and the first that we know of it.
func (p *position) ids(id string) (now, first string) {
	now, first = id, id
	for to := p.Moved[now]; to != ""; to = p.Moved[now] {
		now = to
	}
	for more := true; more; {
		more = false
		for from, to := range p.Moved {
			if to == first {
				first, more = from, true
				break
			}
		}
	}
	return now, first
}

// taken notes a message among the newest, and forgets those that no look reaches.
func (p *position) taken(channel, ts string) {
	p.Newest = append(p.Newest, channel+":"+ts)
	beyond := max(len(p.Newest)-maxNewest, 0)
	p.Newest = slices.DeleteFunc(p.Newest[beyond:], func(said string) bool {
		_, at, _ := strings.Cut(said, ":")
		return timeOf(ts).Sub(timeOf(at)) > retryWindow
	})
}

// from returns the ts after which a channel is read: one that never spoke, or
// that we came into meanwhile, from when all was last read.
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
const retryWindow = 6 * time.Minute

// lookBack returns the ts after which a channel is read when listening begins
// anew. Slack keeps no order: what it tried in vain may be older than the newest
// message that we have, so that the look reaches back as far as that may be.
func (p *position) lookBack(channel string) string {
	earlier := tsAt(timeOf(p.from(channel)).Add(-retryWindow))
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
