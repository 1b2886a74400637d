package cli

import (
	"time"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/internal/alerts"
)

// A timeFormat writes moments as a reader wants them: how long ago for a person at a
// terminal, and otherwise as they are (ECOSYSTEM 3.1).
type timeFormat struct {
	now      time.Time
	relative bool
}

func (p *CLI) clock() timeFormat { return timeFormat{time.Now(), p.onTerminal()} }

// ago writes how long ago a moment was, or the moment; a dash for none.
func (c timeFormat) ago(t time.Time) string {
	if !c.relative || t.IsZero() {
		return textout.FormatTime(t)
	}
	return alerts.Span(c.now.Sub(t))
}

// past writes a moment with the word that makes it one: "2 m ago".
func (c timeFormat) past(t time.Time) string {
	if !c.relative || t.IsZero() {
		return textout.FormatTime(t)
	}
	return c.ago(t) + " ago"
}

// moment is ago for a moment that may not be there.
func (c timeFormat) moment(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return c.ago(*t)
}
