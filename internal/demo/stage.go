package demo

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"
)

// A PlatformSet is every platform of the demo with its rooms.
type PlatformSet struct {
	hosts map[string]*PlatformHost // by the adapter's name
	chats map[string][]string      // of rooms, as the configuration names them
	rooms []StoryRoom
}

// NewStage opens the demo's rooms on their platforms. Run must follow.
func NewStage(ctx context.Context, listen ListenFunc) (*PlatformSet, error) {
	s := &PlatformSet{hosts: map[string]*PlatformHost{}, chats: map[string][]string{}, rooms: Rooms()}
	for name, w := range map[string]FakePlatform{"telegram": NewTelegram(), "slack": NewSlack(), "discord": NewDiscord()} {
		h, err := NewHost(ctx, w, listen)
		if err != nil {
			return nil, err
		}
		s.hosts[name] = h
	}
	for _, r := range s.rooms {
		for _, on := range r.platforms() {
			s.chats[r.Key] = append(s.chats[r.Key], strconv.Quote(on+":"+s.hosts[on].Open(r)))
		}
	}
	return s, nil
}

// Run serves the platforms until ctx is done.
func (s *PlatformSet) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, h := range s.hosts {
		g.Go(func() error { return h.Run(ctx) })
	}
	return g.Wait()
}

// Config returns the configuration of the demo: its platforms, agents and rooms.
// Where its record is and which model answers is for the caller to add.
func (s *PlatformSet) Config() string {
	var text strings.Builder
	text.WriteString("adapters:\n")
	for _, name := range s.platforms() {
		fmt.Fprintf(&text, "  %s: %s\n", name, s.hosts[name].Entry(s.hosts[name].URL()))
	}
	text.WriteString("default_agents: [" + adaID + "]\nagents:\n" +
		"  " + adaID + `: {name: Ada, persona: "You keep track of things for these people, and carry word between their rooms."}` + "\n" +
		"  " + maxID + `: {name: Max, persona: "You look after the servers, and say how they are in one line.", phases: one}` + "\nspaces:\n")
	for _, r := range s.rooms {
		fmt.Fprintf(&text, "  %s: {name: %q, circle: %s, agents: [%s], wake: mention, relay: %v, chats: [%s]}\n",
			r.Key, r.Name, r.Circle, strings.Join(r.Agents, ", "), r.Relay, strings.Join(s.chats[r.Key], ", "))
	}
	return text.String()
}

// platforms returns the names of the adapters, in the order of the rooms.
func (s *PlatformSet) platforms() []string {
	var names []string
	seen := map[string]bool{}
	for _, r := range s.rooms {
		for _, on := range r.platforms() {
			if !seen[on] {
				seen[on] = true
				names = append(names, on)
			}
		}
	}
	return names
}

// Legend names the rooms with the platforms they are on, in one line.
func (s *PlatformSet) Legend() string {
	var all []string
	for _, r := range s.rooms {
		all = append(all, fmt.Sprintf("%s (%s*)", r.Name, strings.Join(r.platforms(), "*, ")))
	}
	return strings.Join(all, "   ")
}

func (s *PlatformSet) room(key string) StoryRoom {
	for _, r := range s.rooms {
		if r.Key == key {
			return r
		}
	}
	panic("demo: the story is about a room that is not there")
}
