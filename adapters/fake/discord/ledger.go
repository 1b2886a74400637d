package discord

import (
	"encoding/json"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/adapters/fake"
)

// A CallLog is everything a fake Discord saw and was told, in order of time.
type CallLog struct {
	Calls    []APICall       `json:"calls"`    // every request of the API, also refused ones
	Sessions []SessionStart  `json:"sessions"` // sessions begun and resumed, and what was refused to be
	Unfurled []LinkPreview   `json:"unfurled"` // addresses that would have been fetched for a preview
	Called   []MentionNotice `json:"called"`   // who was notified by a bot's message
	Dropped  int             `json:"dropped"`  // older entries given up to stay within the limit
}

// An APICall is one request that reached the API.
type APICall struct {
	At      time.Time      `json:"at"`
	Bot     SnowflakeID    `json:"bot"`
	Method  string         `json:"method"` // "create message"
	Channel SnowflakeID    `json:"channel,omitzero"`
	Text    string         `json:"text,omitzero"` // as sent, markup included
	Nonce   string         `json:"nonce,omitzero"`
	Body    []byte         `json:"body,omitzero"` // as sent, where it was JSON
	Status  int            `json:"status"`        // answered; 0 when the connection was cut or left hanging
	Code    int            `json:"code,omitzero"` // of a refusal
	Message SnowflakeID    `json:"message,omitzero"`
	Applied bool           `json:"applied"` // the call had its effect, whatever was answered
	Early   time.Duration  `json:"early,omitzero"`
	Fault   fake.FaultKind `json:"fault,omitzero"`
}

// SessionStart is one session that a client began or resumed.
type SessionStart struct {
	At      time.Time   `json:"at"`
	Bot     SnowflakeID `json:"bot"`
	Session string      `json:"session"`
	Resumed bool        `json:"resumed"`
	Refused bool        `json:"refused,omitzero"` // there is no such session any more
	Path    string      `json:"path"`             // of the address it was dialled at
}

// A LinkPreview is one address that Discord would have fetched to show a preview.
type LinkPreview struct {
	At      time.Time   `json:"at"`
	Bot     SnowflakeID `json:"bot"`
	Channel SnowflakeID `json:"channel"`
	URL     string      `json:"url"`
}

// A MentionNotice is a person whom a bot's message notified.
type MentionNotice struct {
	Bot      SnowflakeID `json:"bot"`
	Message  SnowflakeID `json:"message"`
	User     SnowflakeID `json:"user,omitzero"`
	Everyone bool        `json:"everyone,omitzero"`
}

// ledger keeps a Record within a limit. A negative limit keeps nothing.
type ledger struct {
	limit int

	mu  sync.Mutex // guards what follows
	rec CallLog
}

func (l *ledger) note(add func(*CallLog)) {
	if l.limit < 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rec.Calls = fake.TrimHalf(l.rec.Calls, l.limit, &l.rec.Dropped)
	l.rec.Sessions = fake.TrimHalf(l.rec.Sessions, l.limit, &l.rec.Dropped)
	l.rec.Unfurled = fake.TrimHalf(l.rec.Unfurled, l.limit, &l.rec.Dropped)
	l.rec.Called = fake.TrimHalf(l.rec.Called, l.limit, &l.rec.Dropped)
	add(&l.rec)
}

// snapshot returns a copy the caller owns.
func (l *ledger) snapshot() CallLog {
	l.mu.Lock()
	defer l.mu.Unlock()
	return CallLog{
		Calls: slices.Clone(l.rec.Calls), Sessions: slices.Clone(l.rec.Sessions), Unfurled: slices.Clone(l.rec.Unfurled),
		Called: slices.Clone(l.rec.Called), Dropped: l.rec.Dropped,
	}
}

// WriteJSON writes the record as one indented JSON object.
func (r CallLog) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}
