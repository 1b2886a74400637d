package demo

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"
)

// A Stage is every platform of the demo with its rooms.
type Stage struct {
	hosts map[string]*Host  // by the adapter's name
	chats map[string]string // of rooms, as the configuration names them
	rooms []Room
}

// NewStage opens the demo's rooms on their platforms. Run must follow.
func NewStage(ctx context.Context, listen Listen) (*Stage, error) {
	s := &Stage{hosts: map[string]*Host{}, chats: map[string]string{}, rooms: Rooms()}
	for name, w := range map[string]World{"telegram": NewTelegram(), "slack": NewSlack(), "discord": NewDiscord()} {
		h, err := NewHost(ctx, w, listen)
		if err != nil {
			return nil, err
		}
		s.hosts[name] = h
	}
	for _, r := range s.rooms {
		s.chats[r.Key] = r.Platform + ":" + s.hosts[r.Platform].Open(r)
	}
	return s, nil
}

// Run serves the platforms until ctx is done.
func (s *Stage) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, h := range s.hosts {
		g.Go(func() error { return h.Run(ctx) })
	}
	return g.Wait()
}

// Config returns the configuration of the demo: its platforms, agents and rooms.
// Where its record is and which model answers is for the caller to add.
func (s *Stage) Config() string {
	var text strings.Builder
	text.WriteString("adapters:\n")
	for _, name := range s.platforms() {
		fmt.Fprintf(&text, "  %s: %s\n", name, s.hosts[name].Entry(s.hosts[name].URL()))
	}
	text.WriteString("default_agents: [" + adaID + "]\nagents:\n" +
		"  " + adaID + `: {name: Ada, persona: "You keep track of things for these people, and carry word between their rooms."}` + "\n" +
		"  " + maxID + `: {name: Max, persona: "You look after the servers, and say how they are in one line.", phases: one}` + "\nspaces:\n")
	for _, r := range s.rooms {
		fmt.Fprintf(&text, "  %s: {name: %q, circle: %s, agents: [%s], wake: mention, relay: %v, chats: [%q]}\n",
			r.Key, r.Name, r.Circle, strings.Join(r.Agents, ", "), r.Relay, s.chats[r.Key])
	}
	return text.String()
}

// platforms returns the names of the adapters, in the order of the rooms.
func (s *Stage) platforms() []string {
	var names []string
	seen := map[string]bool{}
	for _, r := range s.rooms {
		if !seen[r.Platform] {
			seen[r.Platform] = true
			names = append(names, r.Platform)
		}
	}
	return names
}

// Legend names the rooms with the platforms they are on, in one line.
func (s *Stage) Legend() string {
	var all []string
	for _, r := range s.rooms {
		all = append(all, fmt.Sprintf("%s (%s*)", r.Name, r.Platform))
	}
	return strings.Join(all, "   ")
}

// room returns the room of a key.
func (s *Stage) room(key string) Room {
	for _, r := range s.rooms {
		if r.Key == key {
			return r
		}
	}
	panic("demo: the story is about a room that is not there")
}
