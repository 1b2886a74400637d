package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	chatcommands "github.com/trestle-bridge/trestle/activity/commands"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/timezone"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// A MemoryChange has a mind forget a memory or, with a fact, replaces the memory's fact. The
// same value is the answer.
type MemoryChange struct {
	Mind string  `json:"mind"`
	ID   string  `json:"id"`
	Fact *string `json:"fact,omitempty"`
}

// A memoryEditor changes what minds remember; see [console.Process].
type memoryEditor interface {
	Forget(ctx context.Context, m spaces.Mind, id string) (bool, error)
	Correct(ctx context.Context, m spaces.Mind, id, fact string) (bool, error)
}

var _ memoryEditor = consoleBackend{}

// CheckFact returns a fact as it may be stored, or an error.
func CheckFact(conf *config.Config, m spaces.Mind, fact string) (string, error) {
	fact = strings.TrimSpace(fact)
	if wrong, better := shell.WrongFact(fact, conf.SettingsFor(string(m.Agent), "").Memory.MaxChars); wrong != "" {
		return "", &apperr.Error{What: wrong, Where: "memory of " + m.String(), Remedy: better, Code: apperr.Usage}
	}
	return fact, nil
}

// ringForgotten notifies other processes that memories have changed.
func (node *clusterNode) ringForgotten(changed bool) {
	if changed && node.remote != nil {
		node.remote.Ring(forgetBell)
	}
}

// A memoryDesk reads and changes for people in chats what agents keep of their own.
type memoryDesk struct{ *AccountManager }

var _ chatcommands.MemoryDesk = memoryDesk{}

// owned returns what an agent keeps in the circle of a space and may tell the person who asks.
// In a circle of the space alone that is all: it is a direct chat, and the person its one reader.
func (d memoryDesk) owned(ctx context.Context, agent spaces.AgentID, q chatcommands.CommandRequest) (m spaces.Mind, has console.Memory, err error) {
	room, _, err := d.Store.Shell().Space(ctx, q.Space)
	if err != nil {
		return m, has, err
	}
	m = spaces.Mind{Agent: agent, Circle: room.Circle}
	if has, err = d.Store.Console().Memory(ctx, m); err != nil || room.Circle == spaces.OwnCircle(q.Space) {
		return m, has, err
	}
	who, err := d.Store.Shell().PersonOf(ctx, q.Who)
	has.Self.Memories.All = slices.DeleteFunc(has.Self.Memories.All, func(x spaces.Memory) bool { return who == "" || !slices.Contains(x.Readers, who) })
	has.Plans = slices.DeleteFunc(has.Plans, func(t spaces.WakeTimer) bool { return t.Space != q.Space })
	return m, has, err
}

// Kept implements [chatcommands.MemoryDesk].
func (d memoryDesk) Kept(ctx context.Context, agent spaces.AgentID, q chatcommands.CommandRequest) (kept chatcommands.KeptThings, err error) {
	m, has, err := d.owned(ctx, agent, q)
	if err != nil {
		return kept, err
	}
	all := has.Self.Memories.All
	for i, x := range all {
		k := chatcommands.KeptMemory{ID: shortHandle(x.ID), Fact: x.Fact, At: x.At, Corrected: !x.Corrected.IsZero()}
		if len(all)-i <= chatcommands.KeptShown && !k.Corrected {
			if k.Who, k.Said, err = d.source(ctx, m, x); err != nil {
				return kept, err
			}
		}
		kept.Memories = append(kept.Memories, k)
	}
	for i := range has.Plans {
		t := &has.Plans[i]
		zone := cmp.Or(timezone.Named(cmp.Or(t.Zone, d.Config().SettingsFor(string(agent), d.keyOf(q.Space)).Timezone)), time.UTC)
		kept.Reminders = append(kept.Reminders, chatcommands.KeptReminder{ID: shortHandle(t.Name()), Note: t.Note, Due: t.Due.In(zone), Recurs: t.Cron != ""})
	}
	return kept, nil
}

// source returns the last message that a memory was made of: who wrote it, and what.
func (d memoryDesk) source(ctx context.Context, m spaces.Mind, x spaces.Memory) (who, said string, err error) {
	told, err := d.Store.Console().Told(ctx, m, x.Sources)
	for _, e := range slices.Backward(told) {
		if b, ok := e.Body.(spaces.MessagePosted); ok && b.Text != "" && e.Actor != "" {
			known, err := d.Store.Shell().Entities(ctx, []spaces.EntityID{e.Actor})
			return hud.CleanName(known[e.Actor].Name), b.Text, err
		}
	}
	return "", "", err
}

// Forget implements [chatcommands.MemoryDesk].
func (d memoryDesk) Forget(ctx context.Context, agent spaces.AgentID, q chatcommands.CommandRequest, id string) (bool, error) {
	m, has, err := d.owned(ctx, agent, q)
	if err != nil {
		return false, err
	}
	whole := ""
	for _, x := range has.Self.Memories.All {
		if shortHandle(x.ID) == id {
			whole = x.ID
		}
	}
	for i := range has.Plans {
		if shortHandle(has.Plans[i].Name()) == id {
			whole = has.Plans[i].Name()
		}
	}
	if whole == "" {
		return false, nil
	}
	had, err := d.shell.Forget(ctx, m, whole)
	d.ringForgotten(had)
	return had, err
}

// Correct implements [chatcommands.MemoryDesk].
func (d memoryDesk) Correct(ctx context.Context, agent spaces.AgentID, q chatcommands.CommandRequest, id, fact string) (had bool, refusal string, err error) {
	m, has, err := d.owned(ctx, agent, q)
	i := slices.IndexFunc(has.Self.Memories.All, func(x spaces.Memory) bool { return shortHandle(x.ID) == id })
	if err != nil || i < 0 {
		return false, "", err
	}
	fact, err = CheckFact(d.Config(), m, fact)
	if wrong, ok := errors.AsType[*apperr.Error](err); ok {
		return false, wrong.What + " " + wrong.Remedy, nil
	}
	had, err = d.shell.Correct(ctx, m, has.Self.Memories.All[i].ID, fact)
	d.ringForgotten(had)
	return had, "", err
}

// shortHandle returns the name by which agents and people call a memory, timer or plan.
func shortHandle(id string) string { return strings.TrimPrefix(hud.Handle(id), "~") }

// Do applies the change.
func (q MemoryChange) Do(ctx context.Context, of memoryEditor) error {
	m, err := ParseMindName(q.Mind)
	if err != nil {
		return err
	}
	var had bool
	things := "memory, timer or plan"
	if q.Fact == nil {
		had, err = of.Forget(ctx, m, q.ID)
	} else {
		things = "memory"
		had, err = of.Correct(ctx, m, q.ID, *q.Fact)
	}
	if err == nil && !had {
		return &apperr.Error{What: "there is no " + things + " of that id", Where: m.String() + " " + q.ID, Remedy: "see trestle memory " + m.String(), Code: apperr.Failed}
	}
	return err
}

func (ctl controlServer) forget(ctx context.Context, q MemoryChange) (MemoryChange, error) {
	q.Fact = nil
	return q, q.Do(ctx, consoleBackend{ctl.Server})
}

func (ctl controlServer) correct(ctx context.Context, q MemoryChange) (MemoryChange, error) {
	q.Fact = cmp.Or(q.Fact, new(""))
	return q, q.Do(ctx, consoleBackend{ctl.Server})
}

// ParseMindName returns the mind of that name, or an error with the form of names.
func ParseMindName(name string) (spaces.Mind, error) {
	m, ok := spaces.ParseMind(name)
	if !ok {
		return m, &apperr.Error{What: fmt.Sprintf("%q names no mind", name), Where: "mind " + name, Remedy: "write agent/circle, such as ada/home; see trestle status", Code: apperr.Usage}
	}
	return m, nil
}
