//go:build faultinject

package crashtest

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
)

// A part is one message as the platform got it, over all its copies.
type part struct {
	order  order
	text   string
	first  int // place of the first copy in the ledger
	before int // copies before the kill
	after  int
	at     []time.Time // of each copy
}

// outward follows every decided message to the platform: I6, I7, I9.
func (e *evidence) outward(v *verdict, answers map[string]order) {
	parts := e.parts(v, answers)
	inFlight := map[string]order{}
	for _, o := range e.atKill.orders {
		if o.state == "sending" {
			inFlight[o.id] = o
		}
	}
	v.bound = len(inFlight)
	count := map[string]int{}
	for _, p := range parts {
		count[p.order.id]++
		v.copies += p.before + p.after - 1
		_, flying := inFlight[p.order.id]
		switch {
		case len(e.losses) > 0:
			e.explained(v, p)
		case p.before > 1 || p.before+p.after > 2: // what was on the wire at the kill may come behind it
			v.fault("I6", "a part of %s was sent %d times before the kill and %d times after it", p.order.id, p.before, p.after)
		case p.before+p.after > 1 && !flying:
			v.fault("I6", "a part of %s was sent twice and was not in flight at the kill", p.order.id)
		}
	}
	twice := map[string]int{}
	for _, p := range parts {
		if p.before+p.after > 1 {
			twice[p.order.id]++
		}
	}
	for id, n := range twice {
		if n > 1 && len(e.losses) == 0 {
			v.fault("I6", "%d parts of %s were sent twice, one may be", n, id)
		}
	}
	for _, o := range e.end.orders {
		_, flying := inFlight[o.id]
		e.settled(v, o, count[o.id], flying)
	}
	ordered(v, parts)
}

// settled checks that an order came to an end, and that as a whole. One that was in
// flight at the kill and whose time was over before it could be sent again is unknown.
func (e *evidence) settled(v *verdict, o order, parts int, flying bool) {
	late := o.expires > 0 && o.settled >= o.expires
	switch o.state {
	case "sent":
		if o.kind == "send" && parts != o.part {
			v.fault("I6", "%s is sent in %d parts and the platform has %d", o.id, o.part, parts)
		}
	case "expired":
	case "unknown":
		if !flying || !late {
			v.fault("I6", "%s is unknown", o.id)
		}
	default:
		v.fault("I6", "%s is %s", o.id, o.state)
	}
}

// parts groups the accepted sends by their words.
func (e *evidence) parts(v *verdict, answers map[string]order) []*part {
	var all []*part
	known := map[string]*part{}
	for i, c := range e.calls {
		if !strings.EqualFold(c.Method, "sendMessage") {
			continue
		}
		// A wait that a kill kept from being recorded is asked for again (K21).
		forgot := e.limited && e.kills > 0 && i >= e.killed || e.lost(c.At.Add(-longestWait), c.At)
		if c.Early > 0 && !forgot && !crossed(e.calls[:i], c) {
			v.fault("I6", "a send came %s before it was welcome", c.Early)
		}
		if !c.Applied {
			continue
		}
		tk := token.FindString(c.Text)
		o, ok := answers[tk]
		if !ok {
			v.fault("I6", "the platform got a message that nobody decided: %.60q", c.Text)
			continue
		}
		e.fresh(v, o, c)
		key := o.id + "\x00" + c.Text
		p := known[key]
		if p == nil {
			p = &part{order: o, text: c.Text, first: i}
			known[key] = p
			all = append(all, p)
		}
		p.at = append(p.at, c.At)
		if i < e.killed {
			p.before++
		} else {
			p.after++
		}
	}
	return all
}

// onTheWire is how long a call and an answer may take past each other.
const onTheWire = 50 * time.Millisecond

// crossed reports whether a call was on its way when the chat was told to wait:
// another topic of it had asked.
func crossed(earlier []faketelegram.APICall, c faketelegram.APICall) bool {
	for _, told := range slices.Backward(earlier) {
		if told.Chat == c.Chat && told.Status == http.StatusTooManyRequests && told.Early == 0 {
			return c.At.Sub(told.At) < onTheWire
		}
	}
	return false
}

// fresh checks that a send did not come after its expiry.
func (e *evidence) fresh(v *verdict, o order, c faketelegram.APICall) {
	if o.expires > 0 && c.At.After(time.UnixMilli(o.expires)) {
		v.stale++
		v.fault("I9", "%s left %s after its expiry", o.id, c.At.Sub(time.UnixMilli(o.expires)))
	}
	if o.chat != strconv.FormatInt(c.Chat, 10) {
		v.fault("I7", "%s of chat %s went to chat %d", o.id, o.chat, c.Chat)
	}
}

var lineNumber = regexp.MustCompile(`line (\d{3}) of`)

// ordered checks that within a lane first copies stand in the order in which
// they were decided, part by part. parts are in the order of the ledger.
func ordered(v *verdict, parts []*part) {
	type position struct {
		n    int64
		line string
	}
	last := map[string]position{}
	for _, p := range parts {
		lane := p.order.chat + "/" + p.order.thread
		at := position{n: p.order.n}
		if m := lineNumber.FindStringSubmatch(p.text); m != nil {
			at.line = m[1]
		}
		was := last[lane]
		if at.n < was.n || at.n == was.n && at.line <= was.line {
			v.fault("I7", "in %s, action %d line %q left after action %d line %q", lane, at.n, at.line, was.n, was.line)
		}
		last[lane] = at
	}
}
