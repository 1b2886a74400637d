package slack

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"time"
)

// An envelope is one event on its way to one app, with its attempts.
type envelope struct {
	app     *WorkspaceApp
	event   string // its id, the same for every attempt
	kind    string // events_api, slash_commands, interactive
	sort    string // the event's type
	channel string
	ts      string
	payload map[string]any
	raw     json.RawMessage // injected: the payload as it is

	attempt int    // how many were made before this one
	id      string // of the envelope under way
	ids     []string
	on      *socket
	settled bool   // acknowledged or given up
	acked   bool   // acknowledged in time
	once    bool   // never tried again: a person waits for it
	failed  func() // shows that person that it was not acknowledged in time; may be nil
	due     time.Time
	do      func() // what is to be done then; nil: nothing
}

// patience is how long an app has to acknowledge; then come the retries.
const patience = 3 * time.Second

// maxLast is how many acknowledged events can be delivered again.
const maxLast = 1000

// emit queues an event for the app, if it is subscribed to it and may see it. mu is
// held.
func (a *WorkspaceApp) emit(event map[string]any, channel, ts string) {
	sort, _ := event["type"].(string)
	in := a.of.channels[channel]
	if !a.subscribed(sort, event["channel_type"]) || sort == "message" && in != nil && !a.has(in.scope("history")) {
		return
	}
	id := a.of.id("Ev")
	a.enqueue(&envelope{
		kind: "events_api", event: id, sort: sort, channel: channel, ts: ts,
		payload: map[string]any{
			"type": "event_callback", "team_id": a.of.o.Team, "api_app_id": a.ID, "event_id": id, "event_time": a.of.now(),
			"event": event, "authorizations": []any{map[string]any{"team_id": a.of.o.Team, "user_id": a.user.ID, "is_bot": true}},
		},
	})
}

// subscribed reports whether the app is told of a kind of event.
func (a *WorkspaceApp) subscribed(kind string, in any) bool {
	if kind == "message" {
		kind += map[any]string{public: ".channels", private: ".groups", im: ".im", mpim: ".mpim"}[in]
	}
	return len(a.profile.Events) == 0 || slices.Contains(a.profile.Events, kind)
}

// Drops has everything that happens while do runs be dropped, as Slack does above
// 30,000 events an hour, and tells the app that it was.
func (a *WorkspaceApp) Drops(do func()) {
	set := func(on bool) {
		a.of.mu.Lock()
		defer a.of.mu.Unlock()
		a.drops = on
	}
	set(true)
	do()
	set(false)
	a.InjectPayload("events_api", encode(map[string]any{"type": "app_rate_limited", "team_id": a.of.o.Team, "api_app_id": a.ID, "minute_rate_limited": time.Now().Unix()}))
}

// Deafen has the sockets that are open stay open, with pings, and bring no events any
// more. Those that are opened later bring them.
func (a *WorkspaceApp) Deafen() {
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	for _, s := range a.sockets {
		s.deaf = true
	}
}

// isDeaf reports whether events go nowhere. mu is held.
func (a *WorkspaceApp) isDeaf() bool {
	return len(a.sockets) > 0 && !slices.ContainsFunc(a.sockets, func(s *socket) bool { return !s.deaf })
}

// Inject delivers an event as it is, inside a proper callback.
func (a *WorkspaceApp) Inject(event json.RawMessage) {
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	var head struct {
		Type    string          `json:"type"`
		Channel json.RawMessage `json:"channel"`
		TS      string          `json:"ts"`
	}
	_ = json.Unmarshal(event, &head) // anything may be injected
	id := a.of.id("Ev")
	var channel string
	_ = json.Unmarshal(head.Channel, &channel) // some events hold a whole channel
	a.enqueue(&envelope{
		kind: "events_api", event: id, sort: head.Type, channel: channel, ts: head.TS,
		payload: map[string]any{"type": "event_callback", "team_id": a.of.o.Team, "api_app_id": a.ID, "event_id": id, "event": event},
	})
}

// InjectPayload delivers a payload as it is in an envelope of a kind.
func (a *WorkspaceApp) InjectPayload(kind string, payload json.RawMessage) {
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	a.enqueue(&envelope{kind: kind, event: a.of.id("Ev"), sort: kind, raw: payload})
}

// InjectFrame sends bytes as they are over a socket, once.
func (a *WorkspaceApp) InjectFrame(frame []byte) {
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	if s := a.pick(nil); s != nil {
		s.send(frame)
	}
}

// enqueue begins to deliver an envelope. mu is held.
func (a *WorkspaceApp) enqueue(e *envelope) {
	if a.revoked || a.drops || a.isDeaf() {
		return
	}
	e.app = a
	a.pending = append(a.pending, e)
	for range max(a.disorder, 1) {
		e.try()
	}
}

// try makes one attempt. mu is held.
func (e *envelope) try() {
	a := e.app
	if e.settled || a.revoked {
		return
	}
	if a.profile.EventsURL != "" {
		e.call()
		return
	}
	to := a.pick(nil)
	if to == nil {
		e.missed()
		return
	}
	e.id, e.on = a.of.id("Env"), to
	e.ids = append(e.ids, e.id)
	a.sent[e.id] = e
	to.send(e.wire())
	e.after(patience, func() { e.missed() })
}

// wire is the frame of the attempt. mu is held.
func (e *envelope) wire() []byte {
	w := map[string]any{
		"envelope_id": e.id, "type": e.kind, "accepts_response_payload": e.kind == "slash_commands",
		"retry_attempt": e.attempt, "retry_reason": "",
	}
	if e.attempt > 0 {
		w["retry_reason"] = "timeout"
	}
	switch {
	case e.raw != nil:
		w["payload"] = e.raw
	default:
		if e.kind == "slash_commands" {
			e.payload["trigger_id"] = e.event
		}
		w["payload"] = e.payload
	}
	return encode(w)
}

// after runs do with the lock held, unless the envelope is settled by then. What
// is due at the same time runs in the order in which it happened.
func (e *envelope) after(d time.Duration, do func()) {
	e.due, e.do = time.Now().Add(d), do
	time.AfterFunc(d, e.app.sweep)
}

// sweep runs what is due.
func (a *WorkspaceApp) sweep() {
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	now := time.Now()
	for _, e := range slices.Clone(a.pending) {
		if e.do == nil || e.settled || now.Before(e.due) {
			continue
		}
		do := e.do
		e.do = nil
		do()
	}
}

// missed plans the next attempt, or gives the event up. mu is held.
func (e *envelope) missed() {
	retries := e.app.of.o.Retries
	if e.once || e.attempt >= len(retries) {
		e.settle()
		e.app.of.ledger.expired(e.entry())
		if e.failed != nil {
			e.failed()
		}
		return
	}
	pause := retries[e.attempt]
	e.attempt++
	e.on, e.do = nil, nil
	if pause == 0 {
		e.try()
		return
	}
	e.after(pause, e.try)
}

// done notes that the app acknowledged the event. mu is held.
func (e *envelope) done() {
	if e.settled {
		return
	}
	e.settle()
	e.acked = true
	a := e.app
	a.of.ledger.acked(e.entry())
	if a.last = append(a.last, e); len(a.last) > maxLast {
		a.last = slices.Delete(a.last, 0, maxLast/2)
	}
}

func (e *envelope) settle() {
	e.settled = true
	for _, id := range e.ids {
		delete(e.app.sent, id)
	}
	e.do = nil
	if i := slices.Index(e.app.pending, e); i >= 0 {
		e.app.pending = slices.Delete(e.app.pending, i, i+1)
	}
}

func (e *envelope) entry() EventAck {
	return EventAck{At: time.Now(), App: e.app.ID, Event: e.event, Kind: e.sort, Channel: e.channel, TS: e.ts, Attempt: e.attempt}
}

// Pending returns how many events the app has not acknowledged.
func (a *WorkspaceApp) Pending() int {
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	return len(a.pending)
}

// Redeliver delivers the last n acknowledged events again, each in a new envelope
// with its old event id.
func (a *WorkspaceApp) Redeliver(n int) {
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	for _, e := range slices.Clone(a.last[max(len(a.last)-n, 0):]) {
		again := *e
		again.settled, again.do, again.attempt, again.ids = false, nil, 1, nil
		a.pending = append(a.pending, &again)
		again.try()
	}
}

// Disorder has everything from now on delivered so many times, over whichever
// socket.
func (a *WorkspaceApp) Disorder(copies int) {
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	a.disorder = copies
}

// pick returns the socket for the next envelope: the one that is open longest, or
// any of them while nothing is in order. mu is held.
func (a *WorkspaceApp) pick(not *socket) *socket {
	var open []*socket
	for _, s := range a.sockets {
		if s != not && !s.retired {
			open = append(open, s)
		}
	}
	switch {
	case len(open) == 0:
		return nil
	case a.disorder > 0:
		return open[rand.N(len(open))]
	default:
		return open[0]
	}
}

// end drops the app's sockets and gives up what is pending.
func (a *WorkspaceApp) end() {
	a.of.mu.Lock()
	for _, e := range slices.Clone(a.pending) {
		e.settle()
	}
	a.revoked = true
	a.of.mu.Unlock()
	a.Sever()
}

// Forget drops the events that the app has not acknowledged, as if no client had been
// connected.
func (a *WorkspaceApp) Forget() {
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	for _, e := range slices.Clone(a.pending) {
		e.settle()
	}
}
