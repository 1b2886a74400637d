package slack

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
)

func (c *call) authTest() answer {
	return ok(map[string]any{
		"url": "https://example.slack.com/", "team": "Example", "user": c.app.profile.Handle,
		"team_id": c.of.o.Team, "user_id": c.app.user.ID, "bot_id": c.app.BotID, "is_enterprise_install": false,
	})
}

func (c *call) openConnection() answer {
	ticket := c.of.id("Tk")
	c.of.tickets[ticket] = c.app
	return ok(map[string]any{"url": "ws" + strings.TrimPrefix(c.base, "http") + "/socket?ticket=" + ticket + "&app_id=" + c.app.ID})
}

func (c *call) teamInfo() answer {
	return ok(map[string]any{"team": map[string]any{"id": c.of.o.Team, "name": "Example", "domain": "example"}})
}

func (c *call) userInfo() answer {
	p := c.of.people[c.args.Get("user")]
	if p == nil {
		return refuse("user_not_found")
	}
	return ok(map[string]any{"user": p.wire()})
}

func (c *call) userList() answer {
	var list []map[string]any
	for _, p := range c.of.people {
		list = append(list, p.wire())
	}
	slices.SortFunc(list, func(a, b map[string]any) int { return strings.Compare(a["id"].(string), b["id"].(string)) })
	part, next := page(c, list, 1000)
	return ok(map[string]any{"members": part, "response_metadata": map[string]any{"next_cursor": next}})
}

// page cuts a list as cursor and limit ask.
func page[E any](c *call, list []E, most int) (part []E, next string) {
	at := 0
	if raw, err := base64.StdEncoding.DecodeString(c.args.Get("cursor")); err == nil {
		at, _ = strconv.Atoi(strings.TrimPrefix(string(raw), "next:")) // anything else is the beginning
	}
	limit, _ := strconv.Atoi(c.args.Get("limit"))
	if limit <= 0 || limit > most {
		limit = min(100, most)
	}
	at = min(max(at, 0), len(list))
	end := min(at+limit, len(list))
	if end < len(list) {
		next = base64.StdEncoding.EncodeToString([]byte("next:" + strconv.Itoa(end)))
	}
	return list[at:end], next
}

func (c *call) channels() answer {
	types := strings.Split(c.args.Get("types"), ",")
	kinds := map[string]string{"public_channel": public, "private_channel": private, "mpim": mpim, "im": im}
	var all []map[string]any
	for _, ch := range c.of.order {
		in := ch.members[c.app.user.ID]
		wanted := slices.ContainsFunc(types, func(t string) bool { return kinds[strings.TrimSpace(t)] == ch.kind }) ||
			c.args.Get("types") == "" && ch.kind == public
		if !wanted || !in && (c.method == "users.conversations" || ch.kind != public) || ch.archived && c.args.Get("exclude_archived") == "true" {
			continue
		}
		all = append(all, ch.wire(c.app))
	}
	part, next := page(c, all, 1000)
	return ok(map[string]any{"channels": part, "response_metadata": map[string]any{"next_cursor": next}})
}

// readable returns the channel of a call whose messages ("history") or members ("read")
// the app may read.
func (c *call) readable(what string) (*WorkspaceChannel, answer) {
	ch := c.of.channels[c.args.Get("channel")]
	switch {
	case ch == nil:
		return nil, refuse("channel_not_found")
	case !ch.members[c.app.user.ID] && ch.kind == public:
		return nil, refuse("not_in_channel")
	case !ch.members[c.app.user.ID]:
		return nil, refuse("channel_not_found")
	case !c.app.has(ch.scope(what)):
		return nil, c.app.lacks(ch.scope(what))
	}
	return ch, answer{}
}

func (c *call) channelInfo() answer {
	ch := c.of.channels[c.args.Get("channel")]
	if ch == nil || ch.kind != public && !ch.members[c.app.user.ID] {
		return refuse("channel_not_found")
	}
	return ok(map[string]any{"channel": ch.wire(c.app)})
}

func (c *call) members() answer {
	ch, bad := c.readable("read")
	if bad.err != "" {
		return bad
	}
	var all []string
	for id := range ch.members {
		all = append(all, id)
	}
	slices.Sort(all)
	part, next := page(c, all, 1000)
	return ok(map[string]any{"members": part, "response_metadata": map[string]any{"next_cursor": next}})
}

func (c *call) openDirect() answer {
	id := c.args.Get("users")
	p := c.of.people[id]
	if p == nil {
		return refuse("user_not_found")
	}
	ch := c.app.direct[id]
	if ch == nil {
		ch = c.of.openLocked("D", im, "", []*HumanUser{p, c.app.user})
		c.app.direct[id] = ch
	}
	return ok(map[string]any{"channel": map[string]any{"id": ch.ID}})
}

// within reports whether a message lies in the time a call asks for.
func (c *call) within(ts string) bool {
	oldest, latest := c.args.Get("oldest"), c.args.Get("latest")
	inclusive := c.args.Get("inclusive") == "1" || c.args.Get("inclusive") == "true"
	switch {
	case oldest != "" && (ts < oldest || ts == oldest && !inclusive):
		return false
	case latest != "" && (ts > latest || ts == latest && !inclusive):
		return false
	}
	return true
}

// history answers a channel's messages, the newest first, without those that are
// only in threads.
func (c *call) history() answer {
	ch, bad := c.readable("history")
	if bad.err != "" {
		return bad
	}
	var all []map[string]any
	for _, m := range slices.Backward(ch.messages) {
		if !m.deleted && (m.thread == "" || m.thread == m.ts || m.broadcast) && c.within(m.ts) {
			all = append(all, c.withMetadata(m, ch))
		}
	}
	return c.listed(all)
}

// replies answers a thread, its parent first.
func (c *call) replies() answer {
	ch, bad := c.readable("history")
	if bad.err != "" {
		return bad
	}
	parent := ch.find(c.args.Get("ts"))
	if parent == nil {
		return refuse("thread_not_found")
	}
	all := []map[string]any{c.withMetadata(parent, ch)}
	for _, m := range ch.messages {
		if !m.deleted && m.thread == parent.ts && m != parent && c.within(m.ts) {
			all = append(all, c.withMetadata(m, ch))
		}
	}
	return c.listed(all)
}

// listed answers a page of messages.
func (c *call) listed(all []map[string]any) answer {
	part, next := page(c, all, 999)
	return ok(map[string]any{"messages": part, "has_more": next != "", "response_metadata": map[string]any{"next_cursor": next}})
}

// withMetadata is a message with its metadata, if the call asks for it.
func (c *call) withMetadata(m *message, ch *WorkspaceChannel) map[string]any {
	w := m.wire(ch)
	if m.metadata != nil && (c.args.Get("include_all_metadata") == "1" || c.args.Get("include_all_metadata") == "true") {
		w["metadata"] = m.metadata
	}
	return w
}

func (c *call) publishView() answer {
	var who string
	if who = c.args.Get("user_id"); c.of.people[who] == nil {
		return refuse("user_not_found")
	}
	c.app.homes[who] = []byte(c.args.Get("view"))
	return ok(map[string]any{"view": map[string]any{"id": c.of.id("V")}})
}
