package slack

import (
	"encoding/json"
	"slices"
)

// A ButtonData is a button below a message.
type ButtonData struct {
	Action string // action_id
	Label  string
	Value  string
}

// buttons returns the buttons in the rows of blocks; false when Slack would refuse one.
func buttons(raw json.RawMessage) (all []ButtonData, valid bool) {
	for _, b := range splitBlocks(string(raw)) {
		var row struct {
			Type     string `json:"type"`
			Elements []struct {
				Type  string `json:"type"`
				ID    string `json:"action_id"`
				Value string `json:"value"`
				Text  struct {
					Type string `json:"type"`
					Text string `json:"text"`
				} `json:"text"`
			} `json:"elements"`
		}
		if json.Unmarshal(b, &row) != nil || row.Type != "actions" {
			continue
		}
		if len(row.Elements) == 0 || len(row.Elements) > 25 {
			return nil, false
		}
		for _, e := range row.Elements {
			one := ButtonData{e.ID, e.Text.Text, e.Value}
			twice := slices.ContainsFunc(all, func(o ButtonData) bool { return o.Action == one.Action })
			if e.Type != "button" || e.Text.Type != "plain_text" || one.Label == "" || len([]rune(one.Label)) > 75 ||
				len([]rune(one.Value)) > 2000 || len(one.Action) > 255 || twice {
				return nil, false
			}
			all = append(all, one)
		}
	}
	return all, true
}

// A ButtonPress is a press of a button and what came of it.
type ButtonPress struct {
	Who   string // the user's id
	TS    string // of the message
	Value string
	Acked bool // within three seconds; else the person sees a warning

	envelope *envelope
}

// Presses has a person press the button with that label or value below a message of an
// app. It reports whether the message has it.
func (c *WorkspaceChannel) Presses(p *HumanUser, ts, button string) bool {
	s := c.of
	s.mu.Lock()
	defer s.mu.Unlock()
	m := c.find(ts)
	if m == nil || m.app == nil {
		return false
	}
	all, _ := buttons(m.blocks) // they were checked when they came
	i := slices.IndexFunc(all, func(b ButtonData) bool { return b.Label == button || b.Value == button })
	if i < 0 {
		return false
	}
	c.press(p, m, all[i])
	return true
}

// PressesStale has a person press a button that a client still shows, although the
// message may have it no more.
func (c *WorkspaceChannel) PressesStale(p *HumanUser, ts, value string) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if m := c.find(ts); m != nil && m.app != nil {
		c.press(p, m, ButtonData{"choice:0", value, value})
	}
}

// press tells the app. mu is held.
func (c *WorkspaceChannel) press(p *HumanUser, m *message, b ButtonData) {
	s := c.of
	trigger := s.id("Tr")
	s.responses[trigger] = &response{in: c, to: p.ID, left: 5}
	container := map[string]any{"type": "message", "message_ts": m.ts, "channel_id": c.ID, "is_ephemeral": false}
	if m.thread != "" {
		container["thread_ts"] = m.thread
	}
	name := c.name
	if c.kind == im {
		name = "directmessage"
	}
	e := &envelope{
		kind: "interactive", event: trigger, channel: c.ID, sort: "interactive", once: true,
		raw: encode(map[string]any{
			"type": "block_actions", "api_app_id": m.app.ID, "token": "old-verification-token", "trigger_id": trigger,
			"user":      map[string]any{"id": p.ID, "username": p.profile.Handle, "name": p.profile.Handle, "team_id": p.profile.Team},
			"team":      map[string]any{"id": s.o.Team, "domain": "acme"},
			"container": container, "channel": map[string]any{"id": c.ID, "name": name}, "message": m.wire(c),
			"response_url": s.origin + "/respond/" + trigger,
			"actions": []any{map[string]any{
				"type": "button", "action_id": b.Action, "block_id": "b2", "value": b.Value, "action_ts": s.ts(),
				"text": map[string]any{"type": "plain_text", "text": b.Label, "emoji": false},
			}},
		}),
	}
	c.presses = append(c.presses, &ButtonPress{Who: p.ID, TS: m.ts, Value: b.Value, envelope: e})
	m.app.enqueue(e)
}

// PressedButtons returns the presses of buttons in the channel, oldest first.
func (c *WorkspaceChannel) PressedButtons() []ButtonPress {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	var all []ButtonPress
	for _, p := range c.presses {
		one := *p
		one.Acked = p.envelope.acked
		all = append(all, one)
	}
	return all
}

func (c *call) postEphemeral() answer {
	ch, bad := c.channelFor()
	to, said := c.args.Get("user"), &message{}
	switch {
	case bad.err != "":
		return bad
	case !ch.members[to]:
		return refuse("user_not_in_channel")
	}
	thread := c.args.Get("thread_ts")
	if thread != "" && ch.find(thread) == nil {
		return refuse("thread_not_found")
	}
	if _, bad := c.content(said); bad.err != "" {
		return bad
	}
	ch.whispers = append(ch.whispers, EphemeralMessage{To: to, Thread: thread, Text: said.read().text})
	return ok(map[string]any{"message_ts": c.of.ts()})
}
