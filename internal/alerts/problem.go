package alerts

import (
	"context"
	"errors"
	"strings"
	"time"
)

// Calm is how long a condition must be gone before its problem closes.
const Calm = 60 * time.Second

// ErrUnknown is returned when no open problem has the id asked for.
var ErrUnknown = errors.New("there is no open problem with this number")

// AlertID numbers a problem for people. The store mints it, from 1; it is unique
// within one record.
type AlertID int64

// AlertSeverity says how much a problem matters.
type AlertSeverity string

// The severities.
const (
	Warn AlertSeverity = "warn" // it works, and an operator should look
	Fail AlertSeverity = "fail" // something does not work
)

// AtLeast reports whether s matters as much as least or more.
func (s AlertSeverity) AtLeast(least AlertSeverity) bool { return s == Fail || least == Warn }

// An Observation is a condition seen at one moment.
type Observation struct {
	Code     ProblemCode
	Subject  string // what it is about: an adapter's name, an entry's path, "agents.ada"
	Evidence string // what was seen, in plain words, without anything people wrote
}

// An Alert is a condition from when it was first seen until it has been gone
// for [Calm]. There is at most one open problem of a code and a subject.
type Alert struct {
	ID       AlertID       `json:"id"`
	Code     ProblemCode   `json:"code"`
	Severity AlertSeverity `json:"severity"`
	Subject  string        `json:"subject"`
	Evidence string        `json:"evidence"`
	Opened   time.Time     `json:"opened"`
	Seen     time.Time     `json:"seen"`            // last; behind by up to a minute
	Count    int           `json:"count"`           // how often it came, or came back before it closed
	Well     time.Time     `json:"well,omitzero"`   // since when it has not been seen; zero while it is
	Closed   time.Time     `json:"closed,omitzero"` // zero while it is open
	Acked    time.Time     `json:"acked,omitzero"`  // no notification before this

	Told int  `json:"told"` // how often an operator was told that it is there
	Over bool `json:"-"`    // an operator was told that it is over
}

// What says in a sentence what is so.
func (p Alert) What() string { return fill(kindOf(p.Code).Says, p.Subject) }

// Remedy returns the command or the step that helps.
func (p Alert) Remedy() string { return fill(kindOf(p.Code).Remedy, p.Subject) }

// Quiet reports whether an operator has taken the problem on for now.
func (p Alert) Quiet(at time.Time) bool { return p.Acked.After(at) }

// About reports whether the problem is about an adapter, which then cannot deliver its
// alarm.
func (p Alert) About(adapter string) bool { return p.Subject == adapter }

func fill(text, subject string) string { return strings.ReplaceAll(text, "{}", subject) }

// A Store keeps problems. Calls may overlap.
type Store interface {
	// Problems returns those that are open and those that closed after since,
	// oldest first.
	Problems(ctx context.Context, since time.Time) ([]Alert, error)
	// Keep writes problems as they are now, in one transaction. One without an id
	// is new and gets one, unless one like it is open: that one is then changed.
	// Acked is never written; see [Store.Ack].
	Keep(ctx context.Context, changed []Alert) error
	// Ack makes an open problem quiet until then. It fails with [ErrUnknown].
	Ack(ctx context.Context, id AlertID, until time.Time) error
}
