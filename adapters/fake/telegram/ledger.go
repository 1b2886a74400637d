package telegram

import (
	"encoding/json"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/adapters/fake"
)

// A CallLog is everything a fake saw and was told, in order of time. The
// auditor joins it with the database: what was acknowledged must be there, and
// what was received must have been decided there.
type CallLog struct {
	Calls    []APICall     `json:"calls"`    // every request, also refused ones
	Acked    []UpdateAck   `json:"acked"`    // updates the client confirmed: the platform has forgotten them
	Expired  []UpdateAck   `json:"expired"`  // updates that were not fetched within a day
	Unfurled []LinkPreview `json:"unfurled"` // addresses a platform would have fetched for a preview
	Dropped  int           `json:"dropped"`  // older entries given up to stay within the limit
}

// An APICall is one request that reached a fake.
type APICall struct {
	At      time.Time      `json:"at"`
	Bot     int64          `json:"bot"`
	Method  string         `json:"method"`
	Chat    int64          `json:"chat,omitzero"`
	Thread  int64          `json:"thread,omitzero"`
	ReplyTo int64          `json:"reply_to,omitzero"`
	Target  int64          `json:"target,omitzero"` // the message edited, deleted or reacted to
	Text    string         `json:"text,omitzero"`   // as sent, markup included
	Offset  int64          `json:"offset,omitzero"` // of getUpdates
	Status  int            `json:"status"`          // answered; 0 when the connection was cut or left hanging
	Detail  string         `json:"detail,omitzero"` // the answer's description when it was refused
	Message int64          `json:"message,omitzero"`
	Applied bool           `json:"applied"`         // the call had its effect, whatever was answered
	Early   time.Duration  `json:"early,omitzero"`  // by how much it came before an earlier retry_after had passed
	Fault   fake.FaultKind `json:"fault,omitzero"`  // the fault that met it
	Handed  int            `json:"handed,omitzero"` // updates in the answer of getUpdates
}

// An UpdateAck is one update the platform forgot.
type UpdateAck struct {
	At       time.Time `json:"at"`
	Bot      int64     `json:"bot"`
	Update   int64     `json:"update"`
	Kind     string    `json:"kind"`
	Chat     int64     `json:"chat,omitzero"`
	Message  int64     `json:"message,omitzero"`
	EditDate int64     `json:"edit_date,omitzero"`
}

// A LinkPreview is one address a platform would have fetched to show a preview.
type LinkPreview struct {
	At      time.Time `json:"at"`
	Bot     int64     `json:"bot"`
	Chat    int64     `json:"chat"`
	Message int64     `json:"message"`
	URL     string    `json:"url"`
}

// ledger keeps a Record within a limit. A negative limit keeps nothing.
type ledger struct {
	limit int

	mu  sync.Mutex // guards what follows
	rec CallLog
}

func (l *ledger) call(c APICall) {
	if l.limit < 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rec.Calls = fake.TrimHalf(l.rec.Calls, l.limit, &l.rec.Dropped)
	l.rec.Calls = append(l.rec.Calls, c)
}

func (l *ledger) acked(as []UpdateAck) {
	if l.limit < 0 || len(as) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rec.Acked = fake.TrimHalf(l.rec.Acked, l.limit, &l.rec.Dropped)
	l.rec.Acked = append(l.rec.Acked, as...)
}

func (l *ledger) expired(as []UpdateAck) {
	if l.limit < 0 || len(as) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rec.Expired = fake.TrimHalf(l.rec.Expired, l.limit, &l.rec.Dropped)
	l.rec.Expired = append(l.rec.Expired, as...)
}

func (l *ledger) unfurled(u LinkPreview) {
	if l.limit < 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rec.Unfurled = fake.TrimHalf(l.rec.Unfurled, l.limit, &l.rec.Dropped)
	l.rec.Unfurled = append(l.rec.Unfurled, u)
}

// snapshot returns a copy the caller owns.
func (l *ledger) snapshot() CallLog {
	l.mu.Lock()
	defer l.mu.Unlock()
	return CallLog{
		Calls:    slices.Clone(l.rec.Calls),
		Acked:    slices.Clone(l.rec.Acked),
		Expired:  slices.Clone(l.rec.Expired),
		Unfurled: slices.Clone(l.rec.Unfurled),
		Dropped:  l.rec.Dropped,
	}
}

// WriteJSON writes the record as one indented JSON object.
func (r CallLog) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}
