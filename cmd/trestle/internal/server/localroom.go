package server

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/activity/access"
	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/local"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/control"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/spaces"
)

// you is the person at the terminal.
var you = adapters.Person{ID: "you", Kind: adapters.Human, Name: "you"}

// LocalAccount is the account of the terminal's rooms in the record.
const LocalAccount = "local:local"

// TerminalPerson returns who speaks at the terminal under a name; under none it is
// the operator. Any other name has the role of a member only.
func TerminalPerson(name string) adapters.Person {
	if name == "" {
		return you
	}
	return adapters.Person{ID: "as:" + strings.ToLower(name), Kind: adapters.Human, Name: name}
}

// newRooms makes the adapter for the terminal's rooms. The agent that joins
// everywhere by default is who people speak to with @.
func newRooms(c *config.Config) *local.RoomAdapter {
	handle := ""
	if len(c.DefaultAgents) > 0 {
		handle = c.DefaultAgents[0]
	}
	return local.New(local.Options{NewID: storeopen.NewID, Handle: handle})
}

// localRooms returns the rooms a terminal can join: every configured space, or
// the one at home.
func (sm *SpaceManager) localRooms() []config.SpaceEntry {
	var all []config.SpaceEntry
	for _, s := range sm.Config().Spaces {
		if !s.Misconfigured {
			all = append(all, s)
		}
	}
	if len(all) == 0 {
		all = append(all, config.SpaceEntry{Key: HomeRoom, Name: "Home", Circle: config.DefaultCircle, Agents: sm.Config().DefaultAgents})
	}
	return all
}

// FindRoom returns the room a terminal asks for; an empty name is the first.
func (sm *SpaceManager) FindRoom(name string) (config.SpaceEntry, error) {
	rooms := sm.localRooms()
	if name == "" {
		return rooms[0], nil
	}
	var known []string
	for _, s := range rooms {
		if s.Key == name {
			return s, nil
		}
		known = append(known, s.Key)
	}
	return config.SpaceEntry{}, &apperr.Error{
		What: fmt.Sprintf("there is no space %q", name), Where: "trestle chat " + name,
		Remedy: cmp.Or(config.DidYouMean(name, known), "name one that the configuration names: "+textout.JoinOr(known)), Code: apperr.Failed,
	}
}

// openConfigured makes sure of the agents and of every configured room, so that they are
// there before any platform is. It returns the rooms with their agents.
func (sm *SpaceManager) openConfigured(ctx context.Context) (map[spaces.SpaceID][]spaces.AgentID, error) {
	var agents []spaces.Entity
	for _, a := range sm.Config().Agents {
		id := spaces.AgentID(a.ID)
		agents = append(agents, spaces.Entity{ID: id.Entity(), Kind: spaces.Agent, Name: a.Name, Handle: a.ID})
	}
	if err := sm.border.Agents(ctx, agents); err != nil {
		return nil, err
	}
	named := map[spaces.SpaceID][]spaces.AgentID{}
	for _, s := range sm.localRooms() {
		o := sm.localOpenRequest(s)
		placed, err := sm.mapping.Open(ctx, o)
		if err != nil {
			return nil, fmt.Errorf("open space %s: %w", s.Key, err)
		}
		sm.remember(placed.Space, s.Key)
		named[placed.Space] = o.Agents
	}
	return named, nil
}

// localOpenRequest is how a room is opened for the terminal. Whose chats are not elsewhere,
// its members are known; who sits alone with an agent at home, talks to it.
func (sm *SpaceManager) localOpenRequest(s config.SpaceEntry) spaces.OpenRequest {
	o, _ := sm.openRequest(s, "", "")
	o.Closed = len(s.Chats) == 0
	o.Direct = o.Closed && s.Key == HomeRoom && len(o.Agents) == 1
	return o
}

// joinLocal returns the two ways of the terminal's rooms.
func (am *AccountManager) joinLocal(ctx context.Context, account adapters.BotAccount) (*activity.Ingress, *activity.Egress, error) {
	am.Opening.Lock()
	defer am.Opening.Unlock()
	named, err := am.openConfigured(ctx)
	if err != nil {
		return nil, nil, err
	}
	operator := spaces.RoleGrant{Who: spaces.PlatformIdentity{Platform: account.Platform, User: you.ID}, Role: spaces.OfOwner}
	if err := am.border.Appoint(ctx, account.Platform, []spaces.RoleGrant{operator}); err != nil {
		return nil, nil, err
	}
	in := activity.NewIngress(account, am.mapping, am.border, am.border, am.border, am.localIngressOptions(named))
	am.joined = append(am.joined, connectedAccount{LocalName, account.Key(), in})
	out := activity.NewEgress(account, am.rooms, am.border, am.mapping, activity.EgressOptions{Unpaced: true, Persona: am.personaOf, Logger: am.Log.With("adapter", LocalName)})
	return in, out, nil
}

// localIngressOptions says who may talk in the terminal's rooms. Every one of them is
// named: the person at the terminal is the operator.
func (am *AccountManager) localIngressOptions(named map[spaces.SpaceID][]spaces.AgentID) activity.IngressOptions {
	return activity.IngressOptions{
		Admit: access.AdmitDeny, Named: named, Commands: am.commandHandler(), Notify: am.notifyFor(LocalName), Logger: am.Log.With("adapter", LocalName),
	}
}

// EnterRoom seats the terminal in a room: from here on the room's messages are
// shown there, too. Whoever enters leaves.
func (sm *SpaceManager) EnterRoom(ctx context.Context, name string) (*LocalRoom, error) {
	s, err := sm.FindRoom(name)
	if err != nil {
		return nil, err
	}
	home := sm.connectionOf(LocalName)
	if home == nil {
		return nil, &apperr.Error{What: "this process serves no rooms: its roles leave out adapters", Where: "trestle chat " + name, Remedy: "talk in the data folder of a process that does; see trestle status", Code: apperr.Failed}
	}
	if has := home.other.Load(); has != nil {
		return nil, &apperr.Error{What: has.String() + " serves the rooms of the terminal", Where: "trestle chat " + name, Remedy: "talk there, or stop that process: this one takes over", Code: apperr.TryAgain}
	}
	account, err := sm.rooms.Connect(ctx)
	if err != nil {
		return nil, err
	}
	kind, o := adapters.Group, sm.localOpenRequest(s)
	if o.Direct {
		kind = adapters.Direct
	}
	sm.rooms.Open(adapters.Chat{ID: s.Key, Kind: kind, Title: s.Name})
	o.Chats = []spaces.ChatMapping{{Account: account.Key(), Chat: s.Key, Title: s.Name, Live: true, Relay: s.Relay}}
	if _, err := sm.mapping.Open(ctx, o); err != nil {
		return nil, fmt.Errorf("enter %s: %w", s.Key, err)
	}
	if err := sm.mapping.Live(ctx, account.Key(), s.Key, true, "", time.Now()); err != nil {
		return nil, fmt.Errorf("enter %s: %w", s.Key, err)
	}
	sub, err := sm.rooms.Subscribe(s.Key, 4096)
	if err != nil {
		return nil, err
	}
	return &LocalRoom{Spaces: sm, Account: account.Key(), Room: s, sub: sub, Who: you}, nil
}

// LocalRoom is a terminal in a room.
type LocalRoom struct {
	Spaces  *SpaceManager
	Account string
	Room    config.SpaceEntry
	sub     *local.RoomSubscription
	Who     adapters.Person // who speaks there
}

// Say has the person at the terminal say a line and returns once it is durable.
func (s *LocalRoom) Say(ctx context.Context, text string) error {
	_, err := s.Spaces.rooms.Say(ctx, s.Who, local.HumanLine{Chat: s.Room.Key, Text: text})
	return err
}

// Leave gives the seat up. A room that has other chats does not keep sending to
// a terminal without a reader; a room of the terminal alone stays as it is.
func (s *LocalRoom) Leave(ctx context.Context) error {
	s.sub.Close()
	if len(s.Room.Chats) == 0 {
		return nil
	}
	return s.Spaces.mapping.Live(ctx, s.Account, s.Room.Key, false, "the terminal was closed", time.Now())
}

// Agents returns the names of the room's agents.
func (s *LocalRoom) Agents() (names []string) {
	for _, a := range s.Spaces.Config().Agents {
		if slices.Contains(s.Room.Agents, a.ID) {
			names = append(names, a.Name)
		}
	}
	return names
}

// speaker returns who is shown before words that were posted under a name. People's
// words from another chat say themselves whose they are.
func (s *LocalRoom) speaker(name string) string {
	switch {
	case name == "":
		return s.own()
	case slices.ContainsFunc(s.Spaces.Config().Agents, func(a config.AgentEntry) bool { return a.Name == name }):
		return name
	}
	return ""
}

// own returns the name that is shown for what has no author: the only agent, or
// the account that several share.
func (s *LocalRoom) own() string {
	if names := s.Agents(); len(names) == 1 {
		return names[0]
	}
	return "Trestle"
}

// Hear returns the next thing seen in the room.
func (s *LocalRoom) Hear(ctx context.Context) (control.HeardLine, error) {
	shown, err := s.sub.Next(ctx)
	if err != nil {
		return control.HeardLine{}, err
	}
	return s.Line(shown), nil
}

// Line is what a terminal shows of something seen.
func (s *LocalRoom) Line(shown local.RoomEvent) control.HeardLine {
	switch v := shown.(type) {
	case local.MessagePosted:
		return control.HeardLine{Kind: "posted", Who: s.speaker(v.From), Text: v.Text}
	case local.LineSaid:
		return control.HeardLine{Kind: "said", Who: v.From.Name, Text: v.Text}
	case local.MessageEdited:
		return control.HeardLine{Kind: "edited", Who: s.own(), Text: v.Text}
	case local.MessageDeleted:
		return control.HeardLine{Kind: "deleted", Who: s.own(), Text: ""}
	case local.ReactionSet:
		return control.HeardLine{Kind: "reacted", Who: s.own(), Text: v.Emoji}
	case local.TypingShown:
		if mark, ok := strings.CutPrefix(v.Thread, control.QuietMark); ok {
			return control.HeardLine{Kind: "quiet", Text: mark}
		}
		return control.HeardLine{Kind: "typing", Who: s.own()}
	case local.EventsDropped:
		return control.HeardLine{Kind: "skipped", Text: fmt.Sprintf("%d lines were not shown", v.N)}
	}
	panic("terminal: an unknown thing is shown")
}

// WaitQuiet waits until nothing is under way that the terminal could still be shown:
// no row waits, no cycle is open, nothing is to be sent to its rooms. It looks at
// the record, so that nothing can be missed between two parts.
func (sm *SpaceManager) WaitQuiet(ctx context.Context) error {
	here, err := sm.rooms.Connect(ctx)
	if err != nil {
		return err
	}
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for {
		n, err := sm.Store.Console().Tally(ctx, time.Now())
		if err != nil {
			return err
		}
		unsent, err := sm.Store.Console().Unsent(ctx, here.Key())
		if err != nil {
			return err
		}
		if n.Inbox == 0 && n.Open == 0 && unsent == 0 && sm.shell.Idle() {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-look.C:
		}
	}
}

// WakeHint says how the agents of a room are woken where plain words wake none of
// them; else nothing.
func (sm *SpaceManager) WakeHint(room config.SpaceEntry) string {
	pair := len(room.Agents) == 1 && len(room.Chats) == 0
	direct := pair && room.Key == HomeRoom
	var names []string
	for _, id := range room.Agents {
		a, ok := sm.Config().Agent(id)
		if !ok {
			continue
		}
		wake := sm.Config().SettingsFor(id, room.Key).Wake
		if wake == spaces.WakeAll || direct && wake != spaces.WakeNone || pair && wake == spaces.WakeAuto {
			return ""
		}
		names = append(names, "@"+a.Name)
	}
	if len(names) == 0 {
		return ""
	}
	return "in " + room.Key + " agents answer when they are named: " + strings.Join(names, ", ") + "\n"
}
