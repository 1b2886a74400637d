package server

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/activity/access"
	"github.com/trestle-bridge/trestle/activity/commands"
	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/local"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/control"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// you is the person at the terminal.
var you = adapters.Person{ID: "you", Kind: adapters.Human, Name: "you"}

// LocalAccount is the account of the terminal's rooms in the record.
const LocalAccount = "local:local"

// TerminalPerson returns the person of that name at the terminal; without a name, the operator.
// Any other name has the role of a member.
func TerminalPerson(name string) adapters.Person {
	if name == "" {
		return you
	}
	return adapters.Person{ID: "as:" + strings.ToLower(name), Kind: adapters.Human, Name: name}
}

// newRooms returns the adapter for the terminal's rooms, whose lines carry files that are opened
// by open. People mention the first default agent with @.
func newRooms(c *config.Config, open func(ctx context.Context, hash string) (io.ReadCloser, error)) *local.RoomAdapter {
	handle := ""
	if len(c.DefaultAgents) > 0 {
		handle = c.DefaultAgents[0]
	}
	return local.New(local.Options{NewID: storeopen.NewID, Handle: handle, OpenFile: open})
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

// directPrefix begins the keys of the rooms in which the operator talks with one agent alone.
// No configured space has such a key.
const directPrefix = "with:"

// directRooms returns the rooms in which the operator can talk with one agent alone, each of a
// circle of its own, beside the one at home.
func (sm *SpaceManager) directRooms() (all []config.SpaceEntry) {
	home := sm.localRooms()[0]
	for _, a := range sm.Config().Agents {
		if !isDirect(home) || home.Agents[0] != a.ID {
			all = append(all, config.SpaceEntry{Key: directPrefix + a.ID, Name: a.Name, Agents: []string{a.ID}})
		}
	}
	return all
}

// isDirect reports whether a room of the terminal is the operator's own chat with one agent.
func isDirect(s config.SpaceEntry) bool {
	return len(s.Chats) == 0 && len(s.Agents) == 1 && (s.Key == HomeRoom || strings.HasPrefix(s.Key, directPrefix))
}

// FindRoom returns the room a terminal asks for, by its key or by the id of the agent to talk
// with alone; an empty name is the first.
func (sm *SpaceManager) FindRoom(name string) (config.SpaceEntry, error) {
	rooms := sm.localRooms()
	if name == "" {
		return rooms[0], nil
	}
	var known []string
	for _, s := range rooms {
		if s.Key == name || isDirect(s) && s.Agents[0] == name {
			return s, nil
		}
		known = append(known, s.Key)
	}
	for _, s := range sm.directRooms() {
		if s.Key == name || s.Agents[0] == name {
			return s, nil
		}
		known = append(known, s.Agents[0])
	}
	return config.SpaceEntry{}, &apperr.Error{
		What: fmt.Sprintf("there is no space %q", name), Where: "trestle chat " + name,
		Remedy: cmp.Or(textformat.DidYouMean(name, known), "name one that the configuration names: "+textout.JoinOr(known)), Code: apperr.Failed,
	}
}

// openConfigured stores the agents and opens every configured room, so that they exist before a
// platform connects. It returns the rooms with their agents.
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
	for space, agents := range sm.directs {
		if len(sm.runningAgents([]string{string(agents[0])})) > 0 {
			named[space] = agents
		}
	}
	return named, nil
}

// openDirect opens the room in which the operator talks with one agent alone, and has what is
// said there admitted. Other rooms were opened at the start.
func (am *AccountManager) openDirect(ctx context.Context, s config.SpaceEntry) error {
	if !strings.HasPrefix(s.Key, directPrefix) {
		return nil
	}
	am.Opening.Lock()
	defer am.Opening.Unlock()
	o := am.localOpenRequest(s)
	placed, err := am.mapping.Open(ctx, o)
	if err != nil {
		return fmt.Errorf("open space %s: %w", s.Key, err)
	}
	am.remember(placed.Space, s.Key)
	if _, open := am.directs[placed.Space]; open {
		return nil
	}
	if am.directs == nil {
		am.directs = map[spaces.SpaceID][]spaces.AgentID{}
	}
	am.directs[placed.Space] = o.Agents
	named, err := am.openConfigured(ctx)
	if err != nil {
		return err
	}
	for _, j := range am.joined {
		if j.adapter == LocalName {
			j.in.Reconfigure(am.localIngressOptions(named))
		}
	}
	return nil
}

// localOpenRequest returns the request that opens a room for the terminal. A room without chats
// elsewhere has known members; one agent at home is talked to directly.
func (sm *SpaceManager) localOpenRequest(s config.SpaceEntry) spaces.OpenRequest {
	o, _ := sm.openRequest(s, "", "")
	o.Closed = len(s.Chats) == 0
	o.Direct = isDirect(s) && len(o.Agents) == 1
	return o
}

// joinLocal returns the ingress and egress of the terminal's rooms.
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
	o := activity.EgressOptions{Unpaced: true, Stopped: am.border.Stopped, Persona: am.personaOf, Speaker: am.speaker, Logger: am.Log.With("adapter", LocalName)}
	if am.files != nil {
		o.Files, o.Blobs = am.border, am.files
	}
	return in, activity.NewEgress(account, am.rooms, am.border, am.mapping, o), nil
}

// localIngressOptions returns who may talk in the terminal's rooms: only those named, with the
// operator at the terminal.
func (am *AccountManager) localIngressOptions(named map[spaces.SpaceID][]spaces.AgentID) activity.IngressOptions {
	return activity.IngressOptions{
		Admit: access.AdmitDeny, Named: named, Commands: am.commandHandler(), Notify: am.notifyFor(LocalName), Logger: am.Log.With("adapter", LocalName),
	}
}

// EnterRoom opens a room for a terminal: from now on the room's messages are shown there, too.
// The caller must call [LocalRoom.Leave].
func (am *AccountManager) EnterRoom(ctx context.Context, name string) (*LocalRoom, error) {
	sm := am.SpaceManager
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
	seat := &LocalRoom{Spaces: sm, Account: account.Key(), Room: s, Who: you}
	if sm.countSeat(s.Key, 1) > 1 && seat.join(ctx) {
		return seat, nil
	}
	if err := am.openRoom(ctx, seat); err != nil {
		sm.countSeat(s.Key, -1)
		return nil, err
	}
	return seat, nil
}

// openRoom opens the room of a seat and has it show what is said there.
func (am *AccountManager) openRoom(ctx context.Context, seat *LocalRoom) error {
	s := seat.Room
	if err := am.openDirect(ctx, s); err != nil {
		return err
	}
	kind, o := adapters.Group, am.localOpenRequest(s)
	if o.Direct {
		kind = adapters.Direct
	}
	am.rooms.Open(adapters.Chat{ID: s.Key, Kind: kind, Title: s.Name})
	o.Chats = []spaces.ChatMapping{{Account: seat.Account, Chat: s.Key, Title: s.Name, Live: true, Relay: s.Relay}}
	placed, err := am.mapping.Open(ctx, o)
	if err != nil {
		return fmt.Errorf("enter %s: %w", s.Key, err)
	}
	if err := am.mapping.Live(ctx, seat.Account, s.Key, true, "", time.Now()); err != nil {
		return fmt.Errorf("enter %s: %w", s.Key, err)
	}
	seat.Space = placed.Space
	seat.sub, err = am.rooms.Subscribe(s.Key, 4096)
	return err
}

// join takes a seat in a room in which others have one, and reports whether it is open:
// nothing is stored then.
func (s *LocalRoom) join(ctx context.Context) bool {
	placed, err := s.Spaces.mapping.Resolve(ctx, s.Account, s.Room.Key)
	if err != nil || len(placed) == 0 {
		return false
	}
	s.Space = placed[0].Space
	s.sub, err = s.Spaces.rooms.Subscribe(s.Room.Key, 4096)
	return err == nil
}

// countSeat adds n to the number of terminals and browsers in a room and returns it.
func (sm *SpaceManager) countSeat(room string, n int) int {
	sm.seatsMu.Lock()
	defer sm.seatsMu.Unlock()
	if sm.seats == nil {
		sm.seats = map[string]int{}
	}
	sm.seats[room] += n
	return sm.seats[room]
}

// LocalRoom is a terminal or a browser in a room.
type LocalRoom struct {
	Spaces  *SpaceManager
	Account string
	Room    config.SpaceEntry
	Space   spaces.SpaceID
	sub     *local.RoomSubscription
	Who     adapters.Person // who speaks there
}

// Say records a line of the person at the terminal and returns its id once it is committed.
func (s *LocalRoom) Say(ctx context.Context, text string) (string, error) {
	return s.Spaces.rooms.Say(ctx, s.Who, local.HumanLine{Chat: s.Room.Key, Text: text})
}

// Reason waits until the agents have judged a message and returns why it woke none; see
// [terminal.JoinedRoom].
func (s *LocalRoom) Reason(ctx context.Context, message string) (string, error) {
	return waitReason(ctx, s.Spaces, s.Room.Key, message)
}

// How long a message that no agent has judged is waited for, and the first and longest time
// between two looks into the store. An agent that is in a run judges what came meanwhile when the
// run ends.
const (
	reasonPatience = 10 * time.Second
	reasonFirst    = 50 * time.Millisecond
	reasonLongest  = time.Second
)

// waitReason waits until every agent of a room of the terminal has judged a message, and returns
// why it woke none; "" when it woke one, or when an agent has not judged it in time.
func waitReason(ctx context.Context, sm *SpaceManager, room, message string) (string, error) {
	placed, err := sm.mapping.Resolve(ctx, LocalAccount, room)
	if err != nil || len(placed) == 0 {
		return "", err
	}
	ref := spaces.MessageRef{Account: LocalAccount, Chat: room, Message: message}
	pause, end := reasonFirst, time.Now().Add(reasonPatience)
	for ; ; pause = min(2*pause, reasonLongest) {
		rows, known, err := sm.border.MessageRows(ctx, placed[0].Space, ref)
		if err != nil || !known {
			return "", err
		}
		ready := func(r spaces.InboxRow) bool { return r.State == spaces.RowReady }
		other := func(r spaces.InboxRow) bool { return r.State != spaces.RowReady && r.State != spaces.RowIgnored }
		switch {
		case slices.ContainsFunc(rows, other): // one was woken
			return "", nil
		case !slices.ContainsFunc(rows, ready):
			return reasonText(sm.Config(), rows), nil
		case time.Now().After(end):
			return "", nil
		}
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// reasonText returns why a message woke no agent, in one sentence.
func reasonText(c *config.Config, rows []spaces.InboxRow) string {
	if len(rows) == 0 {
		return "not answered: no agent is in this room"
	}
	var unnamed, others []string
	for _, r := range rows {
		name := string(r.Mind.Agent)
		if a, ok := c.Agent(name); ok {
			name = a.Name
		}
		switch r.Reason {
		case shell.GateAmbient, shell.GateNone, shell.GateSeen, shell.GateSampled:
			unnamed = append(unnamed, "@"+name)
		default:
			others = append(others, name+": "+commands.ReasonWords(r.Reason))
		}
	}
	if len(unnamed) > 0 {
		return "not addressed: no agent of this room was named; write " + textout.JoinOr(unnamed) + " for an answer"
	}
	return "not answered: no agent was woken (" + strings.Join(others, "; ") + ")"
}

// Leave closes the room for the terminal. A room with other chats stops sending to terminals when
// the last one has left; a room of the terminal alone stays as it is.
func (s *LocalRoom) Leave(ctx context.Context) error {
	s.sub.Close()
	if s.Spaces.countSeat(s.Room.Key, -1) > 0 || len(s.Room.Chats) == 0 {
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

// speaker returns the name that is shown before a message. Messages of people from another chat
// contain their name.
func (s *LocalRoom) speaker(name string) string {
	switch {
	case name == "":
		return s.own()
	case slices.ContainsFunc(s.Spaces.Config().Agents, func(a config.AgentEntry) bool { return a.Name == name }):
		return name
	}
	return ""
}

// own returns the name that is shown for a message without an author: the only agent, or the
// account that several share.
func (s *LocalRoom) own() string {
	if names := s.Agents(); len(names) == 1 {
		return names[0]
	}
	return "Trestle"
}

// Hear returns the next line of the room.
func (s *LocalRoom) Hear(ctx context.Context) (control.HeardLine, error) {
	shown, err := s.sub.Next(ctx)
	if err != nil {
		return control.HeardLine{}, err
	}
	return s.Line(shown), nil
}

// Line converts an event of the room to a line for a terminal.
func (s *LocalRoom) Line(shown local.RoomEvent) control.HeardLine {
	switch v := shown.(type) {
	case local.MessagePosted:
		text := v.Text + optionList(v.Choices)
		if v.Files > 0 {
			text += "\n\n(`trestle open` opens the console, where the file can be had)"
		}
		return control.HeardLine{Kind: "posted", Who: s.speaker(v.From), Text: text}
	case local.DraftShown: // a terminal shows whole messages
		return control.HeardLine{Kind: "draft", Who: s.speaker(v.From), Text: v.Text}
	case local.LineSaid:
		return control.HeardLine{Kind: "said", Who: v.From.Name, Text: v.Text}
	case local.MessageEdited:
		return control.HeardLine{Kind: "edited", Who: s.own(), Text: v.Text + optionList(v.Choices)}
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

// optionList lists the options of a question, which people can answer in words. Other messages
// with buttons say themselves what to write.
func optionList(choices []adapters.ChoiceButton) string {
	var labels []string
	for _, c := range choices {
		if strings.HasPrefix(c.Value, "ask ") {
			labels = append(labels, c.Label)
		}
	}
	return spaces.OptionList(labels)
}

// WaitQuiet waits until no row is pending, no cycle is open, and nothing is to be sent to the
// terminal's rooms. It polls the store, so that nothing is missed between two parts.
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

// WakeHint returns how to wake the agents of a room where plain messages wake none; else "".
func (sm *SpaceManager) WakeHint(room config.SpaceEntry) string {
	pair := len(room.Agents) == 1 && len(room.Chats) == 0
	direct := isDirect(room)
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
