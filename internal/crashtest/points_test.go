//go:build faultinject

package crashtest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
)

// A point is one crash point of DELIVERY 2.3 and how it is told from the others.
type point struct {
	id   string // K1 …
	name string // in the plan
	most int    // the highest hit worth waiting for
	// seen returns an error unless what the kill left is what the point leaves.
	seen func(e *evidence) error
}

// points are the crash points that the whole path has.
var points = []point{
	{"K1", "ingest.received", 6, batchIsNot},
	{"K2", "ingest.before_commit", 6, batchIsNot},
	{"K3", "ingest.after_commit", 6, batchIsKept},
	{"K4", "ingest.after_ack", 6, batchIsForgotten},
	{"K5", "ingest.before_commit", 1, nothingIs},
	{"K6", "file.fetched", 4, fileIsWanted},
	{"K7", "wake.claimed", 8, cycleIs(func(y cycle) bool { return y.state == "open" && y.done == 0 })},
	{"K8", "model.before_call", 12, cycleIs(func(y cycle) bool { return y.state == "open" })},
	{"K9", "model.after_call", 12, wasAsked},
	{"K10", "step.recorded", 8, cycleIs(func(y cycle) bool { return y.state == "open" && y.done > 0 })},
	{"K13", "acts.recorded", 8, cycleIs(func(y cycle) bool { return y.state == "open" && y.acted > 0 })},
	{"K14", "cycle.before_commit", 6, cycleIs(func(y cycle) bool { return y.state == "open" && y.done > 0 })},
	{"K15", "cycle.after_commit", 6, cycleIs(func(y cycle) bool { return y.state == "closed" })},
	{"K16", "outbox.sending", 8, orderIs(func(o order, _ int) bool { return o.state == "sending" })},
	{"K17", "send.after_write", 8, orderIs(func(o order, got int) bool { return o.state == "sending" && got > o.part })},
	{"K18", "send.accepted", 8, orderIs(func(o order, got int) bool { return o.state == "sending" && got > o.part })},
	{"K19", "send.part", 4, orderIs(func(o order, got int) bool { return o.state == "sending" && o.part > 0 && got >= o.part })},
	{"K20", "receipt.committed", 8, orderIs(func(o order, got int) bool { return o.state == "sent" && got > 0 })},
	{"K21", "send.limited", 3, wasLimited},
}

// at reports where the record at the kill has each message: its token's events.
func (e *evidence) recorded() map[string]bool {
	found := map[string]bool{}
	for _, ev := range e.atKill.events {
		if ev.kind == "said" && !strings.HasPrefix(ev.actor, "agent:") {
			for _, tk := range token.FindAllString(ev.body, -1) {
				found[tk] = true
			}
		}
	}
	return found
}

// forgotten returns the tokens of messages that the platform forgot before call
// number killed.
func (e *evidence) forgotten() map[string]bool {
	found := map[string]bool{}
	for _, s := range e.said {
		if slices.ContainsFunc(e.acked, func(a faketelegram.UpdateAck) bool { return a.Chat == s.chat && a.Message == s.message }) {
			found[s.token] = true
		}
	}
	return found
}

// batchIsNot holds when the platform handed out what the record does not have.
func batchIsNot(e *evidence) error {
	in, gone := e.recorded(), e.forgotten()
	for _, s := range e.said {
		if gone[s.token] && !in[s.token] {
			return fmt.Errorf("%s is forgotten and not recorded", s.token)
		}
	}
	handed := 0
	for _, c := range e.calls {
		handed += c.Handed
	}
	if handed <= len(e.acked) {
		return fmt.Errorf("the platform handed out %d updates and forgot %d: none was at hand at the kill", handed, len(e.acked))
	}
	return nil
}

// batchIsKept holds when the record has what the platform still keeps.
func batchIsKept(e *evidence) error {
	in, gone := e.recorded(), e.forgotten()
	for tk := range in {
		if !gone[tk] {
			return nil
		}
	}
	return fmt.Errorf("all of the %d recorded messages are acknowledged", len(in))
}

// batchIsForgotten holds when the platform forgot everything the record has.
func batchIsForgotten(e *evidence) error {
	in, gone := e.recorded(), e.forgotten()
	for tk := range in {
		if !gone[tk] {
			return fmt.Errorf("%s is recorded and not acknowledged", tk)
		}
	}
	if len(in) == 0 {
		return fmt.Errorf("nothing was recorded")
	}
	return nil
}

// fileIsWanted holds when a file that the platform has handed out is still to be
// fetched, as the record sees it (K6).
func fileIsWanted(e *evidence) error {
	asked := slices.ContainsFunc(e.calls, func(c faketelegram.APICall) bool { return c.Method == "getFile" })
	if wanted := e.atKill.files["wanted"]; wanted == 0 || !asked {
		return fmt.Errorf("%d files are wanted, one was asked for: %t", wanted, asked)
	}
	return nil
}

// nothingIs holds when a batch of several updates left nothing (K5).
func nothingIs(e *evidence) error {
	most := 0
	for _, c := range e.calls {
		most = max(most, c.Handed)
	}
	if in := e.recorded(); most < 3 || len(in) > 0 {
		return fmt.Errorf("%d updates were handed out at once and %d messages recorded, want several and none", most, len(in))
	}
	return batchIsNot(e)
}

func cycleIs(wanted func(cycle) bool) func(*evidence) error {
	return func(e *evidence) error {
		for _, y := range e.atKill.cycles {
			if wanted(y) {
				return nil
			}
		}
		return fmt.Errorf("no cycle is as the point leaves it: %v", e.atKill.cycles)
	}
}

// wasAsked holds when the endpoint answered more than the record knows.
func wasAsked(e *evidence) error {
	served, done := 0, 0
	for _, m := range e.model {
		if m.Served {
			served++
		}
	}
	for _, y := range e.atKill.cycles {
		done += y.done
	}
	if served <= done {
		return fmt.Errorf("the endpoint answered %d times and %d steps are recorded", served, done)
	}
	return nil
}

// orderIs holds when there is an order of which the platform got so many sends.
func orderIs(wanted func(o order, got int) bool) func(*evidence) error {
	return func(e *evidence) error {
		for _, o := range e.atKill.orders {
			if wanted(o, e.gotten(o)) {
				return nil
			}
		}
		return fmt.Errorf("no action is as the point leaves it, of %d", len(e.atKill.orders))
	}
}

// gotten counts the sends of an order that the platform accepted.
func (e *evidence) gotten(o order) int {
	n := 0
	for _, c := range e.calls {
		if c.Applied && strings.EqualFold(c.Method, "sendMessage") && strconv.FormatInt(c.Chat, 10) == o.chat &&
			token.FindString(c.Text) != "" && token.FindString(c.Text) == token.FindString(o.text) {
			n++
		}
	}
	return n
}

// wasLimited holds when an order is under way that the platform told to wait.
func wasLimited(e *evidence) error {
	for _, o := range e.atKill.orders {
		limited := slices.ContainsFunc(e.calls, func(c faketelegram.APICall) bool {
			return c.Status == 429 && token.FindString(c.Text) == token.FindString(o.text)
		})
		if o.state == "sending" && limited {
			return nil
		}
	}
	return fmt.Errorf("no action under way was told to wait")
}
