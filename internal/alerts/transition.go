package alerts

import (
	"slices"
	"time"
)

// note is how old the stored moment of the last sighting may become.
const note = time.Minute

// A probeResult holds the codes that were checked at one moment and the observations.
type probeResult struct {
	covered []ProblemCode // that were checked without an error
	seen    []Observation
	at      time.Time
	// settling is true soon after a stop of the process: no problem opens then.
	settling bool
}

// advance returns the open problems that the observations change, and new ones for
// unknown observations. Problems that the probe did not look for are unchanged.
func advance(open []Alert, o probeResult) (changed []Alert) {
	for _, s := range dedupe(o.seen) {
		i := slices.IndexFunc(open, func(p Alert) bool { return p.Code == s.Code && p.Subject == s.Subject })
		if i < 0 && o.settling {
			continue
		}
		if i < 0 {
			changed = append(changed, Alert{
				Code: s.Code, Severity: kindOf(s.Code).Severity, Subject: s.Subject, Evidence: s.Evidence,
				Opened: o.at, Seen: o.at, Count: 1,
			})
			continue
		}
		if p, moved := again(open[i], s, o.at); moved {
			changed = append(changed, p)
		}
	}
	for _, p := range open {
		missed := !slices.ContainsFunc(o.seen, func(s Observation) bool { return p.Code == s.Code && p.Subject == s.Subject })
		if !missed || !slices.Contains(o.covered, p.Code) {
			continue
		}
		switch {
		case p.Well.IsZero():
			p.Well = o.at
		case o.at.Sub(p.Well) >= Calm:
			p.Closed = o.at
		default:
			continue
		}
		changed = append(changed, p)
	}
	return changed
}

// again is p seen once more; false when that is not worth a write.
func again(p Alert, s Observation, at time.Time) (Alert, bool) {
	back := !p.Well.IsZero()
	if !back && at.Sub(p.Seen) < note {
		return p, false
	}
	if back {
		p.Count++
	}
	p.Well, p.Seen, p.Evidence = time.Time{}, at, s.Evidence
	return p, true
}

// dedupe keeps the first sighting of a code and a subject.
func dedupe(all []Observation) []Observation {
	var out []Observation
	for _, s := range all {
		if !slices.ContainsFunc(out, func(o Observation) bool { return o.Code == s.Code && o.Subject == s.Subject }) {
			out = append(out, s)
		}
	}
	return out
}
