package slack

import (
	"cmp"
	"encoding/json"
	"regexp"
	"sync"
)

// A delivery is one thing that Slack told us, by a socket or by a request, and
// wants acknowledged.
type delivery struct {
	id      string // the same for every attempt
	kind    string // events_api, slash_commands, interactive, or what we do not know
	payload []byte
	opened  opening // zero when the event is another
	acks    []func()
}

// acknowledge tells Slack that it may forget the delivery, once for each copy.
func (d *delivery) acknowledge() {
	for _, ack := range d.acks {
		ack()
	}
}

// envelope is what a socket brings.
type envelope struct {
	ID      string          `json:"envelope_id"`
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload"`
	Reason  string          `json:"reason"` // of disconnect
}

// envelopeID finds an envelope's id where JSON cannot be parsed.
var envelopeID = regexp.MustCompile(`"envelope_id"\s*:\s*"([^"\\]{1,128})"`)

// deliveryOf reads a socket's frame. A frame that is no JSON, or whose payload is
// none of ours, is a delivery all the same: it is recorded as unreadable and
// acknowledged, or Slack would bring it again and again. What has no id to
// acknowledge by is recorded too.
func deliveryOf(frame []byte) (*delivery, envelope) {
	var e envelope
	if err := json.Unmarshal(frame, &e); err != nil {
		if found := envelopeID.FindSubmatch(frame); found != nil {
			e.ID = string(found[1])
		}
		e.Type = "unreadable"
		return &delivery{id: e.ID, kind: e.Type, payload: frame}, e
	}
	switch e.Type {
	case "hello", "disconnect":
		return nil, e
	case "events_api", "slash_commands", "interactive":
		return &delivery{id: idIn(e.Payload, e.ID), kind: e.Type, payload: e.Payload, opened: openingIn(e.Type, e.Payload)}, e
	default:
		return &delivery{id: e.ID, kind: e.Type, payload: frame}, e
	}
}

// idIn returns what names a payload in every attempt: a redelivery comes in a new
// envelope.
func idIn(payload []byte, envelope string) string {
	var named struct {
		Event   string `json:"event_id"`
		Trigger string `json:"trigger_id"`
	}
	_ = json.Unmarshal(payload, &named) // what cannot be read has the envelope's name
	return cmp.Or(named.Event, named.Trigger, envelope)
}

// An inbox holds what was delivered and is not acknowledged yet. A further copy of
// what it holds waits for the same verdict; what was acknowledged is forgotten
// here, and known by its key in the record alone.
type inbox struct {
	bell chan struct{} // rung after add

	mu     sync.Mutex // guards what follows
	held   map[string]*delivery
	queue  []*delivery // in order of arrival, those not taken yet
	weight int         // bytes in the queue
}

const (
	maxQueue  = 4096     // deliveries that may wait
	maxWeight = 64 << 20 // and their bytes
)

func newInbox() *inbox {
	return &inbox{bell: make(chan struct{}, 1), held: map[string]*delivery{}}
}

// add takes a delivery in and reports whether there was room. What finds none is
// not acknowledged, and Slack brings it again.
func (b *inbox) add(d *delivery) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if have := b.held[d.id]; have != nil && d.id != "" {
		have.acks = append(have.acks, d.acks...)
		return true
	}
	if len(b.queue) >= maxQueue || b.weight > maxWeight {
		return false
	}
	b.held[d.id] = d
	b.queue = append(b.queue, d)
	b.weight += len(d.payload)
	select {
	case b.bell <- struct{}{}:
	default:
	}
	return true
}

// take returns up to n deliveries; they stay held until they are let go.
func (b *inbox) take(n int) []*delivery {
	b.mu.Lock()
	defer b.mu.Unlock()
	n = min(n, len(b.queue))
	taken := make([]*delivery, n)
	copy(taken, b.queue)
	b.queue = append(b.queue[:0], b.queue[n:]...)
	for _, d := range taken {
		b.weight -= len(d.payload)
	}
	return taken
}

// done acknowledges deliveries that are recorded and forgets them.
func (b *inbox) done(ds []*delivery) {
	b.mu.Lock()
	for _, d := range ds {
		if b.held[d.id] == d {
			delete(b.held, d.id)
		}
	}
	b.mu.Unlock()
	for _, d := range ds { // copies that came until now are in acks
		d.acknowledge()
	}
}
