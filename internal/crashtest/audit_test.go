//go:build faultinject

package crashtest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
)

// Evidence is everything one case leaves behind.
type evidence struct {
	said    []saying
	atKill  record                 // zero when nothing was killed
	end     record                 // after the last stop
	calls   []faketelegram.APICall // of the platform's ledger
	acked   []faketelegram.UpdateAck
	killed  int // how many of calls came before the kill
	kills   int
	model   []llmtest.LedgerEntry
	asked   int // how many of model came before the kill
	totals  llmtest.ServerTotals
	limited bool // the platform said wait now and then
	losses  []loss
}

// A verdict is what an audit found: faults, and the numbers to publish.
type verdict struct {
	faults  []string
	lost    int // messages without event, or without an answer
	doubled int // messages with two events
	copies  int // sends the platform got twice
	bound   int // sends that may have been in flight at the kill
	stale   int // sends after their expiry
}

func (v *verdict) fault(invariant, format string, args ...any) {
	v.faults = append(v.faults, invariant+": "+fmt.Sprintf(format, args...))
}

// audit checks every invariant that one case can break (DELIVERY 2.5: I1–I7, I9,
// I11, I12, I16).
func (e *evidence) audit() verdict {
	var v verdict
	for _, f := range e.end.checked {
		v.fault(f.Invariant, "%s: %s", f.Subject, f.Detail)
	}
	answers := e.inward(&v)
	e.outward(&v, answers)
	e.thought(&v)
	return v
}

// inward follows every message from the platform to the answer that was decided:
// I1, I2, I3, I4. It returns the order that answers each token.
func (e *evidence) inward(v *verdict) map[string]order {
	events, rows := map[string][]event{}, map[string][]row{}
	for _, ev := range e.end.events {
		if ev.kind != "said" || strings.HasPrefix(ev.actor, "agent:") {
			continue
		}
		for _, tk := range token.FindAllString(ev.body, -1) {
			events[tk] = append(events[tk], ev)
		}
	}
	for _, r := range e.end.rows {
		rows[r.event] = append(rows[r.event], r)
	}
	acked := map[message]bool{}
	for _, a := range e.acked {
		acked[message{strconv.FormatInt(a.Chat, 10), strconv.FormatInt(a.Message, 10)}] = true
	}
	for _, s := range e.said {
		at := message{strconv.FormatInt(s.chat, 10), strconv.FormatInt(s.message, 10)}
		found := events[s.token]
		switch {
		case len(found) == 0:
			v.lost++
			v.fault("I1", "%s is in no event; acknowledged: %t", s.token, acked[at])
			continue
		case len(found) > 1:
			v.doubled++
			v.fault("I2", "%s is in %d events", s.token, len(found))
		case e.end.mapped[at] != found[0].id:
			v.fault("I2", "%s stands at %v, which is event %q, not %q", s.token, at, e.end.mapped[at], found[0].id)
		}
		e.consumed(v, s, rows[found[0].id])
	}
	return e.answers(v)
}

// consumed checks that a message's row ended in one cycle that is closed.
func (e *evidence) consumed(v *verdict, s saying, rows []row) {
	if len(rows) != 1 {
		v.fault("I3", "%s has %d inbox rows", s.token, len(rows))
		return
	}
	r := rows[0]
	if y := e.end.cycles[r.cycle]; r.state != "consumed" || y.state != "closed" {
		v.fault("I4", "%s is %s (%s) by cycle %s, which is %q", s.token, r.state, r.reason, r.cycle, y.state)
	}
}

// answers checks that every message is answered by one order at its place.
func (e *evidence) answers(v *verdict) map[string]order {
	by := map[string][]order{}
	for _, o := range e.end.orders {
		for _, tk := range words(o.text) {
			by[tk] = append(by[tk], o)
		}
	}
	one := map[string]order{}
	for _, s := range e.said {
		found := by[s.token]
		switch {
		case len(found) == 0:
			v.lost++
			v.fault("I4", "%s is answered by nothing", s.token)
			continue
		case len(found) > 1:
			v.fault("I4", "%s is answered %d times, by %s of %s and %s of %s", s.token, len(found), found[0].id, found[0].cycle, found[1].id, found[1].cycle)
		}
		o, thread := found[0], ""
		if s.thread != 0 {
			thread = strconv.FormatInt(s.thread, 10)
		}
		if o.chat != strconv.FormatInt(s.chat, 10) || o.thread != thread {
			v.fault("I7", "%s of chat %d thread %d is answered in chat %s thread %q", s.token, s.chat, s.thread, o.chat, o.thread)
		}
		one[s.token] = o
	}
	return one
}

// words returns the different tokens of a text, in order.
func words(text string) []string {
	var all []string
	for _, tk := range token.FindAllString(text, -1) {
		if !slices.Contains(all, tk) {
			all = append(all, tk)
		}
	}
	return all
}

// thought checks what the model was shown and how the cycles ended: I16, I5, and
// that no recorded step was asked for again (K10, K13).
func (e *evidence) thought(v *verdict) {
	if e.totals.Violations > 0 {
		v.fault("I16", "%d requests break the transcript's form, first: %v", e.totals.Violations, e.totals.First)
	}
	for id, y := range e.end.cycles {
		if y.state != "closed" || y.stop != "completed" && y.stop != "silent" {
			v.fault("I5", "cycle %s is %s, stopped by %q: %s", id, y.state, y.stop, y.detail)
		}
	}
	thought := map[string]bool{} // tokens whose cycle had finished its thought at the kill
	events := map[string]string{}
	for _, ev := range e.atKill.events {
		events[ev.id] = ev.body
	}
	for _, r := range e.atKill.rows {
		if e.atKill.cycles[r.cycle].done > 0 {
			for _, tk := range token.FindAllString(events[r.event], -1) {
				thought[tk] = true
			}
		}
	}
	for _, entry := range e.model[min(e.asked, len(e.model)):] {
		if !entry.Request.NoCalls {
			continue
		}
		for _, tk := range newest(entry.Request.Messages) {
			if thought[tk] {
				v.fault("K10", "%s was thought about again after its thought was recorded", tk)
			}
		}
	}
}
