package shell

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/spaces"
)

// await says a message and ends the cycle until it is answered: by everybody whom w
// names, or, where it names no member, by any, a person if there is one in the
// room (BLU-14, R-7).
func (s *stepContext) await(e spaces.RoomEffect, room *hud.SharedRoom, w spaces.WaitSpec) toolResult {
	if s.branch != "" {
		return s.deny("rehearsal", "Nobody answers in a rehearsal.", "Say it without wait.")
	}
	if s.stop == spaces.StopWaitingReply {
		return s.deny("waits_already", "You wait already, and this wake ends.", "Ask everybody in one message.")
	}
	others := slices.DeleteFunc(slices.Clone(room.Members()), func(m spaces.SpaceMember) bool { return m.ID == s.self() })
	if len(others) == 0 {
		return s.deny("nobody_here", "There is nobody here who could answer.", "Say it without wait.")
	}
	named := w.Who
	w.Call, w.Who = s.call, nil
	asked := []map[string]string{}
	var names []string
	for _, m := range others {
		w.People = w.People || m.Kind == spaces.Human
		if slices.Contains(named, m.ID) {
			name := hud.CleanName(m.Name)
			w.Who, names = append(w.Who, m.ID), append(names, name)
			asked = append(asked, map[string]string{"entityId": string(m.ID), "entityName": name})
		}
	}
	e.Wait = &w
	s.stop, s.stopDetail = spaces.StopWaitingReply, "for "+waitedFor(e.Wait, names)
	out := s.do(e)
	out.body["waitingFor"], out.body["spaceId"] = asked, s.short(room)
	return out
}

// waitedFor names those a message waits for.
func waitedFor(a *spaces.WaitSpec, names []string) string {
	switch {
	case len(names) > 0:
		return strings.Join(names, ", ")
	case a.People:
		return "a person"
	}
	return "anybody"
}

// expect reads what the mind waits for. Where it waited for nothing when it was
// last read, only the mind itself can have changed that. m.loading is held.
func (m *mind) expect(ctx context.Context) error {
	waits, fresh, err := reread(m, &m.expected, func() ([]spaces.PendingWait, error) { return m.shell.Record.Waits(ctx, m.id) })
	if err != nil {
		return fmt.Errorf("waits of %s: %w", m.id, err)
	}
	for i := range waits {
		waits[i].Due = waits[i].Due.In(m.shell.Now().Location())
	}
	if fresh {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.waits, m.expected = waits, len(waits) == 0
	}
	return nil
}

// reexpect has what the mind waits for read again.
func (m *mind) reexpect() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.expected = false
}

// hear shows the ends of waits, each once, as results of the calls that asked
// (BLU-19). m.mu is held.
func (c *cycle) hear(v *hud.MindView) {
	for ; c.heard < len(c.wake.Waits); c.heard++ {
		w := &c.wake.Waits[c.heard]
		if c.overs[w.Message] {
			continue
		}
		c.pending = append(c.pending, v.WaitOver(w))
		refs := []spaces.EventID{w.Message}
		for _, a := range w.Answers {
			if a.Event != "" {
				refs = append(refs, a.Event)
			}
		}
		c.ended = append(c.ended, spaces.ToolReturned{
			Cycle: c.wake.Cycle.ID, Step: c.step, CallID: w.Call, OK: w.Outcome == spaces.WaitReplied, Note: string(w.Outcome), Refs: refs,
		})
	}
}
