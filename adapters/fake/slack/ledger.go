package slack

import (
	"slices"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/adapters/fake"
)

// A CallLog is everything a workspace saw of its apps, in order of time.
type CallLog struct {
	Calls    []APICall     `json:"calls"`    // every request, also refused ones
	Acked    []EventAck    `json:"acked"`    // events that an app acknowledged
	Expired  []EventAck    `json:"expired"`  // events given up after the last retry
	Unfurled []LinkPreview `json:"unfurled"` // addresses that a preview would have fetched
	Called   []ChannelPing `json:"called"`   // messages that call a whole channel or a group
	Dropped  int           `json:"dropped"`  // older entries given up to stay within the limit
}

// An APICall is one request that reached the workspace.
type APICall struct {
	At      time.Time      `json:"at"`
	App     string         `json:"app,omitzero"`
	Method  string         `json:"method"`
	Channel string         `json:"channel,omitzero"`
	Thread  string         `json:"thread,omitzero"`
	Target  string         `json:"target,omitzero"` // the message changed
	Text    string         `json:"text,omitzero"`   // as sent, markup included; of a reaction its name
	Key     string         `json:"key,omitzero"`    // the id in the metadata
	Status  int            `json:"status"`          // answered; 0 when the connection was cut or left hanging
	Error   string         `json:"error,omitzero"`
	Message string         `json:"message,omitzero"` // the ts made
	Applied bool           `json:"applied"`
	Early   time.Duration  `json:"early,omitzero"` // by how much it came before a Retry-After had passed
	Fault   fake.FaultKind `json:"fault,omitzero"`
}

// An EventAck is one event that an app acknowledged, or that was given up.
type EventAck struct {
	At      time.Time `json:"at"`
	App     string    `json:"app"`
	Event   string    `json:"event"` // its id
	Kind    string    `json:"kind"`
	Channel string    `json:"channel,omitzero"`
	TS      string    `json:"ts,omitzero"`
	Attempt int       `json:"attempt,omitzero"`
}

// A LinkPreview is one address that Slack would have fetched to show a preview.
type LinkPreview struct {
	App, Channel, TS, URL string
}

// ChannelPing is a message that notifies more people than it names.
type ChannelPing struct {
	App, Channel, TS, Whom string
}

// ledger keeps a Record within a limit. A negative limit keeps nothing.
type ledger struct {
	limit int

	mu  sync.Mutex // guards rec
	rec CallLog
}

// note adds an entry to one of the lists.
func note[E any](l *ledger, list func(*CallLog) *[]E, entry E) {
	if l.limit < 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	of := list(&l.rec)
	if len(*of) >= l.limit {
		half := len(*of) - l.limit/2
		l.rec.Dropped += half
		*of = slices.Delete(*of, 0, half)
	}
	*of = append(*of, entry)
}

func (l *ledger) call(c APICall) { note(l, func(r *CallLog) *[]APICall { return &r.Calls }, c) }

func (l *ledger) acked(a EventAck) { note(l, func(r *CallLog) *[]EventAck { return &r.Acked }, a) }

func (l *ledger) expired(a EventAck) { note(l, func(r *CallLog) *[]EventAck { return &r.Expired }, a) }

func (l *ledger) unfurled(u LinkPreview) {
	note(l, func(r *CallLog) *[]LinkPreview { return &r.Unfurled }, u)
}

func (l *ledger) loud(c ChannelPing) {
	note(l, func(r *CallLog) *[]ChannelPing { return &r.Called }, c)
}

// snapshot returns a copy the caller owns.
func (l *ledger) snapshot() CallLog {
	l.mu.Lock()
	defer l.mu.Unlock()
	return CallLog{
		Calls: slices.Clone(l.rec.Calls), Acked: slices.Clone(l.rec.Acked), Expired: slices.Clone(l.rec.Expired),
		Unfurled: slices.Clone(l.rec.Unfurled), Called: slices.Clone(l.rec.Called), Dropped: l.rec.Dropped,
	}
}
