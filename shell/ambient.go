package shell

import (
	"hash/fnv"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// An AmbientPolicy says when messages that address no agent wake one, in a room in which every
// message does. With the zero value each does at once.
type AmbientPolicy struct {
	Debounce time.Duration // how long the room has to have been quiet
	Longest  time.Duration // how long a message waits for that, at most; 0: as long as it takes
	Share    float64       // of the bursts of messages that wake; 0, as where it is not set, and 1: each
	InTurn   bool          // one agent speaks after the other
}

// yieldTime is how long agents wait, where one speaks after the other, with a message that
// names another one: that one begins.
const yieldTime = 2 * time.Second

// apply changes verdicts about messages that address no agent: a burst of them is one wake,
// once the room is quiet. They join a wake by a message that addresses the agent.
func (p AmbientPolicy) apply(g Gate, j spaces.GateInput, verdicts []spaces.GateDecision) {
	if p.Debounce == 0 && !p.InTurn && (p.Share <= 0 || p.Share >= 1) {
		return
	}
	var ambient []int
	addressed := false
	for i, v := range verdicts {
		switch {
		case !v.Wake:
		case v.Reason != GateAll || j.Rows[i].Attempts+j.Rows[i].Crashes > 0: // it was let through before
			addressed = true
		case j.Rows[i].Seq <= j.Uplink.Cursor:
			verdicts[i].Wake, verdicts[i].Reason = false, GateSeen
		default:
			ambient = append(ambient, i)
		}
	}
	if len(ambient) == 0 || addressed {
		return
	}
	until, newest := time.Time{}, j.Events[ambient[0]].RecvAt
	for _, i := range ambient {
		if at := j.Events[i].RecvAt; at.After(newest) {
			newest = at
		}
	}
	for _, i := range ambient {
		due := p.due(g, j, i, newest)
		if until.IsZero() || due.Before(until) {
			until = due
		}
	}
	later, last := until.After(j.At), j.Events[ambient[len(ambient)-1]]
	for _, i := range ambient {
		v := &verdicts[i]
		switch {
		case later:
			v.Wake, v.Later = false, until
		case !p.picks(last.ID):
			v.Wake, v.Reason = false, GateSampled
		}
	}
}

// due returns when a message that addresses no agent wakes this one, where the newest such
// message was recorded at newest.
func (p AmbientPolicy) due(g Gate, j spaces.GateInput, i int, newest time.Time) time.Time {
	e := j.Events[i]
	due := e.RecvAt
	if p.Debounce > 0 {
		due = newest.Add(p.Debounce)
		if longest := e.RecvAt.Add(p.Longest); p.Longest > 0 && due.After(longest) {
			due = longest
		}
	}
	if yields := e.RecvAt.Add(yieldTime); p.InTurn && due.Before(yields) && g.namesAnother(j, e) {
		due = yields
	}
	return due
}

// namesAnother reports whether a message names another agent of the room.
func (g Gate) namesAnother(j spaces.GateInput, e spaces.Event) bool {
	said, _ := e.Body.(spaces.MessagePosted)
	return slices.ContainsFunc(slices.Concat(ParseMentions(said.Text, j.Members), said.Mentions), func(id spaces.EntityID) bool {
		_, agent := id.IsAgent()
		return agent && id != g.Agent.Entity()
	})
}

// picks reports whether the burst that ends with a message is among those that wake. It says
// the same of the same message each time.
func (p AmbientPolicy) picks(last spaces.EventID) bool {
	if p.Share <= 0 || p.Share >= 1 {
		return true
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(last)) // a hash takes everything
	return float64(h.Sum32()%1000) < p.Share*1000
}
