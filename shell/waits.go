package shell

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/spaces"
)

// The words that say in place of a number how many of those asked are waited for.
const (
	answersAll = "all"
	answersAny = "any"
)

// needed reads how many answers the message waits for, as [spaces.WaitSpec] has it; for
// other words the number is -1 and the result a denial.
func (a sendMessage) needed(s *stepContext) (int, toolResult) {
	switch words := strings.ToLower(strings.TrimSpace(a.Answers)); words {
	case "", answersAll:
		return 0, toolResult{}
	case answersAny:
		return 1, toolResult{}
	default:
		if n, err := strconv.Atoi(words); err == nil && n > 0 {
			return n, toolResult{}
		}
		return -1, s.deny("bad_answers", "answers is "+hud.Quote(words)+", which is neither all, any nor a number from 1.", `Write "all", "any" or a number such as "2", and name those who are asked with @ in the text.`)
	}
}

// await says a message and ends the cycle until it is answered: by those whom w names, as
// many as it needs, or, where it names no member, by any, people if there are some in the
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
	if len(named) > 0 && len(w.Who) == 0 {
		return s.deny("only_you", "You cannot wait for yourself.", "Name another member with @, or name no one to wait for anybody.")
	}
	if could := mayAnswer(room, others, &w); could >= 0 && w.Need > could {
		return s.deny("too_few_asked", fmt.Sprintf("You want %d answers and ask %d who can give one (%s). Each member counts once, you do not count.",
			w.Need, could, cmp.Or(strings.Join(names, ", "), "the members of this space")), `Name more members with @, or write a smaller number, "all" or "any".`)
	}
	e.Wait = &w
	s.stop, s.stopDetail = spaces.StopWaitingReply, "for "+waitedFor(e.Wait, names)
	out := s.do(e)
	out.body["waitingFor"], out.body["spaceId"] = asked, s.short(room)
	return out
}

// mayAnswer returns how many members can answer, each once; -1 where not all are known.
func mayAnswer(room *hud.SharedRoom, others []spaces.SpaceMember, w *spaces.WaitSpec) (n int) {
	switch {
	case len(w.Who) > 0:
		return len(w.Who)
	case !room.Space().Closed:
		return -1
	}
	for _, m := range others {
		if !w.People || m.Kind == spaces.Human {
			n++
		}
	}
	return n
}

// waitedFor names those a message waits for.
func waitedFor(a *spaces.WaitSpec, names []string) string {
	who := strings.Join(names, ", ")
	switch {
	case len(names) > 1 && a.Need == 1:
		return "any of " + who
	case len(names) > 1 && a.Need > 1:
		return strconv.Itoa(a.Need) + " of " + who
	case len(names) > 0:
		return who
	case a.People && a.Need > 1:
		return strconv.Itoa(a.Need) + " people"
	case a.People:
		return "a person"
	case a.Need > 1:
		return strconv.Itoa(a.Need) + " members"
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
			Cycle: c.wake.Cycle.ID, Step: c.step, CallID: w.Call, OK: w.Replies() > 0 && w.Outcome != spaces.WaitTimeout, Note: string(w.Outcome), Refs: refs,
		})
	}
}
