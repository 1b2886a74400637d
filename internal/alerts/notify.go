package alerts

import (
	"fmt"
	"time"
)

// dueAfter is when an operator is told, counted from the opening. After the last of
// them it is told once in every daily.
var dueAfter = []time.Duration{0, time.Hour, 6 * time.Hour, 24 * time.Hour}

const daily = 24 * time.Hour

// sinceOpening returns how long after the opening the nth telling, from 0, is due.
func sinceOpening(n int) time.Duration {
	if n < len(dueAfter) {
		return dueAfter[n]
	}
	return dueAfter[len(dueAfter)-1] + time.Duration(n-len(dueAfter)+1)*daily
}

// due reports whether an operator must be told of p now.
func due(p Alert, at time.Time) bool {
	if !p.Closed.IsZero() {
		return p.Told > 0 && !p.Over
	}
	return !p.Quiet(at) && !at.Before(p.Opened.Add(sinceOpening(p.Told)))
}

// told returns p after an operator was told. Tellings that were missed meanwhile,
// while it was quiet for instance, are not made up for.
func told(p Alert, at time.Time) Alert {
	if !p.Closed.IsZero() {
		p.Over = true
		return p
	}
	for p.Told++; !at.Before(p.Opened.Add(sinceOpening(p.Told))); {
		p.Told++
	}
	return p
}

// Alarm returns the text of a problem for a chat, in CommonMark.
func Alarm(p Alert, at time.Time) string {
	if !p.Closed.IsZero() {
		return fmt.Sprintf("✅ %s · over: %s. It lasted %s.", p.Code, p.What(), Span(p.Closed.Sub(p.Opened)))
	}
	since := ""
	if p.Told > 0 {
		since = ", for " + Span(at.Sub(p.Opened))
	}
	text := fmt.Sprintf("⚠️ **%s** · %s%s.", p.Code, p.What(), since)
	if p.Evidence != "" {
		text += "\n" + p.Evidence
	}
	next := p.Opened.Add(sinceOpening(told(p, at).Told)).Sub(at)
	return text + fmt.Sprintf("\n\nDo: %s\nAnswer `ack 2h` for silence; else I say it again in %s.", p.Remedy(), Span(next))
}

// Span writes a length of time as people say it: "40 s", "6 m", "3 h 20 m", "2 d".
func Span(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d m", int(d.Minutes()))
	case d < 24*time.Hour && d%time.Hour >= time.Minute:
		return fmt.Sprintf("%d h %d m", int(d.Hours()), int(d.Minutes())%60)
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	days, hours := int(d.Hours())/24, int(d.Hours())%24
	if hours == 0 {
		return fmt.Sprintf("%d d", days)
	}
	return fmt.Sprintf("%d d %d h", days, hours)
}
