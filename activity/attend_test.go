package activity

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/activity/access"
	"github.com/trestle-bridge/trestle/activity/commands"
	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

var updateGolden = flag.Bool("update", false, "rewrite golden files")

// orders is a message that is a command, addressed to us.
func orders(c adapters.Chat, who adapters.Person, id, name string) adapters.Update {
	u := says(c, who, id, "/"+name)
	u.Body = adapters.IncomingMessage{ID: id, Text: "/" + name, ToUs: true, Command: &adapters.ChatCommand{Name: name}}
	return u
}

// texts returns what the process said, in order.
func (r *record) texts() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, n := range r.notices {
		out = append(out, n.Text)
	}
	return out
}

// DESIGN 6.1, DELIVERY 2.2-7: a command is done once however often it is
// delivered, at the border, and its answer is the process's own.
func TestACommandIsDoneOnce(t *testing.T) {
	r := newRecord()
	r.halted = spaces.StopResult{Runs: make([]spaces.StoppedRun, 1), Waiting: 2, Unsent: 1}
	in := enter(r, IngressOptions{Commands: r.attendant()})
	us := []adapters.Update{says(hub, kai, "1", "write a book"), orders(hub, kai, "2", "stop")}
	take(t, in, "1", us...)
	take(t, in, "1", us...)
	testutil.Same(t, "the order of things", []string{"said hub", "halt hub", "said hub"}, r.order)
	want := []string{"Stopped: 1 run ended, 2 waiting messages dropped, 1 unsent message taken back."}
	testutil.Same(t, "said", want, r.texts())
}

// NEWS: what concerns the asker alone is told to them alone in a group, as are refusals;
// what changes the room is told to all.
func TestAnswersForTheAskerAlone(t *testing.T) {
	r := newRecord()
	in := enter(r, IngressOptions{Commands: r.attendant()})
	direct := adapters.Chat{ID: "d", Kind: adapters.Direct}
	take(t, in, "1", orders(hub, kai, "1", "why"), orders(hub, kai, "2", "stop"), orders(hub, kai, "3", "mute"), orders(direct, kai, "4", "help"))
	var to []string
	for _, n := range r.notices {
		to = append(to, n.To)
	}
	testutil.Same(t, "told to", []string{kai.ID, "", kai.ID, ""}, to)
}

func TestACommandIsReadInEveryForm(t *testing.T) {
	for text, want := range map[string]string{
		"@ada_bot /why":        "why",
		`@ada\_bot /Stop ada`:  "stop",
		"@Ada: /status now":    "status",
		"<@99> /cost":          "cost",
		"<@!99> /new":          "new",
		"@ada_bot why":         "",
		"@bea_bot /why":        "",
		"@ada_bot /frobnicate": "",
		"please /stop":         "",
		"@ada_bot":             "",
		"":                     "",
	} {
		got := ""
		if c := commands.ParseCommand(ours, adapters.IncomingMessage{Text: text, ToUs: true}); c != nil {
			got = c.Name
		}
		if got != want {
			t.Errorf("%q is the command %q, want %q", text, got, want)
		}
	}
	if c := commands.ParseCommand(ours, adapters.IncomingMessage{Text: "@ada_bot /stop"}); c != nil {
		t.Error("what the platform does not mark as ours is a command")
	}
}

func TestWhoseCommandsCount(t *testing.T) {
	// SECURITY S19: a program gives no orders; S1: neither does a stranger. Issue 5: an
	// edited command never runs again.
	robot := adapters.Person{ID: "12", Kind: adapters.Bot, Name: "Kai"}
	group := adapters.Chat{ID: "-900", Kind: adapters.Group}
	itself := adapters.Person{ID: hub.ID, Kind: adapters.Service, Name: "Hub"}
	channel := adapters.Chat{ID: hub.ID, Kind: adapters.Channel}
	plainHelp := orders(hub, kai, "5", "help")
	m := plainHelp.Body.(adapters.IncomingMessage)
	m.ToUs = false
	plainHelp.Body = m
	edited := orders(hub, kai, "8", "stop")
	edited.Body = adapters.MessageEdit{New: edited.Body.(adapters.IncomingMessage)}
	for name, c := range map[string]struct {
		u    adapters.Update
		done bool
	}{
		"a member's":                       {orders(hub, kai, "1", "stop"), true},
		"a listed program's":               {orders(hub, robot, "2", "stop"), false},
		"in a room that is not let in":     {orders(group, kai, "3", "stop"), false},
		"a stranger's in their own chat":   {orders(lobby, kai, "4", "stop"), false},
		"every bot's, in a group":          {plainHelp, false},
		"of another program, by its name":  {orders(hub, kai, "6", "frobnicate"), false},
		"forwarded by a member, as theirs": {orders(hub, kai, "7", "why"), true},
		"edited to be one":                 {edited, false},
		"an anonymous administrator's":     {orders(hub, itself, "9", "stop"), true},
		"another chat's that speaks there": {orders(hub, adapters.Person{ID: "-77", Kind: adapters.Service}, "10", "stop"), false},
		"of who posts as a channel":        {orders(channel, itself, "11", "stop"), false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRecord()
			in := enter(r, IngressOptions{Allow: []access.SenderID{{User: "12"}}, Commands: r.attendant()})
			take(t, in, "1", c.u)
			done := false
			for _, n := range r.notices {
				done = done || n.Key == source(ours, c.u)
			}
			if c.u.Chat.ID == lobby.ID {
				done = len(r.order) > 0
			}
			if done != c.done {
				t.Errorf("done is %t, want %t (%q)", done, c.done, r.texts())
			}
		})
	}
}

// DELIVERY 2.2-7: a room whose log cannot be read does not delay other rooms, and a
// stop is obeyed however early it is given.
func TestATroubledRoomHoldsNobodyUp(t *testing.T) {
	r := newRecord()
	r.blind = errors.New("unreadable")
	in := enter(r, IngressOptions{Commands: r.attendant()})
	take(t, in, "1", orders(hub, kai, "1", "why"), says(hub, kai, "2", "go on"))
	if got := r.texts(); len(got) != 1 || !strings.Contains(got[0], "try again") || len(r.said()) != 2 {
		t.Errorf("said %q, recorded %q", got, r.said())
	}
	for i := range 100 {
		take(t, in, "1", orders(hub, kai, fmt.Sprint(10+i), "stop"))
	}
	halts := strings.Count(strings.Join(r.order, ","), "halt")
	if halts != 100 || len(r.notices) > access.CommandsPerMinute+1 {
		t.Errorf("%d of 100 stops were obeyed with %d answers, want all and at most %d", halts, len(r.notices), access.CommandsPerMinute)
	}
}

// REQUIREMENTS roles: a room of several people is renewed by a person who may
// decide for them; a direct chat by its person.
func TestWhoMayBeginAfresh(t *testing.T) {
	for name, c := range map[string]struct {
		direct bool
		role   spaces.AuthorityLevel
		done   bool
	}{
		"a member in a group": {false, spaces.OfMember, false},
		"an admin in a group": {false, spaces.OfAdmin, true},
		"an owner in a group": {false, spaces.OfOwner, true},
		"a member at home":    {true, spaces.OfMember, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRecord()
			who := spaces.PlatformIdentity{Platform: "telegram", User: kai.ID, Name: "Owner"}
			r.roles = []spaces.RoleGrant{{Who: who, Role: c.role}}
			text, err := r.attendant().Run(t.Context(), commands.CommandRequest{Command: "new", Who: who, Space: "hub", Direct: c.direct, At: noon})
			testutil.OK(t, err)
			if done := len(r.order) == 1 && strings.HasPrefix(text, "A fresh start"); done != c.done {
				t.Errorf("done is %t, want %t: %q", done, c.done, text)
			}
		})
	}
}

// DESIGN 6.1, PRD-5.8: an operator of a room mutes its agents, all or one, which ends
// their cycles there, and unmutes them.
func TestAMuteIsForWhoDecides(t *testing.T) {
	r := newRecord()
	r.now = commands.RoomStatus{Agents: []commands.AgentStatus{{Agent: "ada"}, {Agent: "max"}}}
	owner := spaces.PlatformIdentity{Platform: "slack", User: kai.ID, Name: "Owner"}
	r.roles = []spaces.RoleGrant{{Who: owner, Role: spaces.OfAdmin}}
	var b strings.Builder
	ask := func(q commands.CommandRequest) {
		t.Helper()
		q.Space, q.At = "hub", noon
		text, err := r.attendant().Run(t.Context(), q)
		testutil.OK(t, err)
		fmt.Fprintf(&b, "%s %s: %s\n", q.Command, q.Args, text)
	}
	ask(commands.CommandRequest{Command: "mute"})
	for _, words := range []string{"mute @Max", "mute zed", "mute", "mute", "status", "unmute ada", "unmute", "unmute"} {
		command, args, _ := strings.Cut(words, " ")
		ask(commands.CommandRequest{Command: command, Args: args, Who: owner})
	}
	ask(commands.CommandRequest{Command: "mute", Args: "ada", Direct: true})
	for _, words := range []string{"mute ada 2h", "mute 1 day", "mute for 45 min", "status", "mute ada for 0h", "unmute"} {
		command, args, _ := strings.Cut(words, " ")
		ask(commands.CommandRequest{Command: command, Args: args, Who: owner})
	}
	want := `mute : In a room of several people only an admin or the owner may do that.
mute @Max: max follows this room in silence until somebody writes ` + "`!unmute`" + `. What is said is remembered.
mute zed: No agent of that name is in this room.
mute : ada follows this room in silence until somebody writes ` + "`!unmute`" + `. What is said is remembered.
mute : Muted already.
status : - **ada** is muted here. Nothing to do here today
- **max** is muted here. Nothing to do here today
unmute ada: ada may speak here again.
unmute : max may speak here again.
unmute : Nobody is muted here.
mute ada: ada follows this room in silence until somebody writes ` + "`/unmute`" + `. What is said is remembered.
mute ada 2h: ada follows this room in silence for 2 hours or until somebody writes ` + "`!unmute`" + `. What is said is remembered.
mute 1 day: ada and max follow this room in silence for 1 day or until somebody writes ` + "`!unmute`" + `. What is said is remembered.
mute for 45 min: ada and max follow this room in silence for 45 minutes or until somebody writes ` + "`!unmute`" + `. What is said is remembered.
status : - **ada** is muted here for another 45 minutes. Nothing to do here today
- **max** is muted here for another 45 minutes. Nothing to do here today
mute ada for 0h: No agent of that name is in this room.
unmute : ada and max may speak here again.
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	order := []string{
		"mute hubmax true", "halt hubmax", "mute hub true", "halt hub", "mute hub true", "halt hub",
		"mute hubada false", "mute hub false", "mute hub false", "mute hubada true", "halt hubada",
		"mute hubada true", "halt hubada", "mute hub true", "halt hub", "mute hub true", "halt hub", "mute hub false",
	}
	testutil.Same(t, "done", order, r.order)
}

// CONTEXT 2: who decides for a room has its agents, or one of them, shorten what they have in
// mind, and is told what that came to.
func TestACompactionIsForWhoDecides(t *testing.T) {
	r := newRecord()
	r.now = commands.RoomStatus{Agents: []commands.AgentStatus{{Agent: "ada"}, {Agent: "max"}, {Agent: "zed"}}}
	r.compacted = map[spaces.AgentID]spaces.ContextCompacted{"ada": {Cycles: 5, TokensBefore: 4310, TokensAfter: 2100}, "zed": {Cycles: -1}}
	owner := spaces.PlatformIdentity{Platform: "slack", User: kai.ID, Name: "Owner"}
	r.roles = []spaces.RoleGrant{{Who: owner, Role: spaces.OfAdmin}}
	for i, c := range []struct {
		args, want string
		who        spaces.PlatformIdentity
	}{
		{"", "In a room of several people only an admin or the owner may do that.", spaces.PlatformIdentity{}},
		{"lou", "No agent of that name is in this room.", owner},
		{"@Max", "- **max** has nothing to shorten: its newest runs stay as they are.", owner},
		{"", "- **ada** shortened 5 old runs: 4,310 tokens of conversation in mind before, 2,100 now. Nothing is deleted, and the newest runs stay as they are.\n" +
			"- **max** has nothing to shorten: its newest runs stay as they are.\n- **zed** is at work in another process. Try again once it rests.", owner},
	} {
		text, err := r.attendant().Run(t.Context(), commands.CommandRequest{Command: "compact", Args: c.args, Who: c.who, Space: "hub", At: noon})
		testutil.OK(t, err)
		testutil.Same(t, fmt.Sprint("answer ", i), c.want, text)
	}
	testutil.Same(t, "done", []string{"compact hub max", "compact hub ada", "compact hub max", "compact hub zed"}, r.order)
	r.now = commands.RoomStatus{}
	text, err := r.attendant().Run(t.Context(), commands.CommandRequest{Command: "compact", Direct: true, Space: "hub", At: noon})
	if err != nil || text != "No agent is in this room." {
		t.Errorf("in an empty room: %q, %v", text, err)
	}
}

func TestAStopNamesItsAgent(t *testing.T) {
	r := newRecord()
	r.now = commands.RoomStatus{Agents: []commands.AgentStatus{{Agent: "ada"}, {Agent: "max"}}}
	a := r.attendant()
	a.Name = func(id spaces.AgentID) string { return strings.ToUpper(string(id)) }
	for _, args := range []string{"max", "@MAX", "please"} {
		if _, err := a.Run(t.Context(), commands.CommandRequest{Command: "stop", Args: args, Space: "hub", At: noon}); err != nil {
			t.Fatal(err)
		}
	}
	testutil.Same(t, "order", []string{"halt hubmax", "halt hubmax", "halt hub"}, r.order)
}

// PRD-5.8-1, -A1, -A2, -A3, -A4, -A5, PRD-10-4: what people can get done, by what they
// want; and plain words for what went on.
func TestWhatPeopleAreTold(t *testing.T) {
	r := newRecord()
	r.now = commands.RoomStatus{Waiting: 1, Unsent: 2, Agents: []commands.AgentStatus{
		{Agent: "ada", Since: noon.Add(-90 * time.Second), Runs: 12, Cancelled: 1, Failed: 2, Denials: 3, Usage: spaces.TokenUsage{Prompt: 1_204_000, Cached: 900_000, Output: 8_000, Calls: 31, Cost: 114_500}},
		{Agent: "max", Asleep: noon.Add(2 * time.Hour), Runs: 1, Usage: spaces.TokenUsage{Prompt: 400, Output: 20, Calls: 1}},
		{Agent: "bo*b"},
	}}
	usage := spaces.TokenUsage{Prompt: 4000, Output: 120, Calls: 2}
	r.answered = []commands.MessageOutcome{
		{Agent: "ada", Reason: "mention", Woke: true, Run: "r1", Stop: spaces.StopCompleted, Spoke: 1, Acts: []string{"search", "send_message"}, Usage: usage},
		{Agent: "max", Reason: "ambient"},
		{Agent: "zed", Reason: "direct", Woke: true, Run: "r2", Stop: spaces.StopSilent, Denied: []string{"not_a_member", "authority"}, Usage: usage},
		{Agent: "kim", Reason: "reply", Woke: true, Run: "r3"},
		{Agent: "new"},
		{Agent: "lou", Tries: 2},
		{Agent: "ann", Reason: "attempts model_error", Tries: 5, GaveUp: true, Stop: spaces.StopModelError},
		{Agent: "odd", Reason: "unheard_of"},
	}
	r.contexts = []commands.ContextUse{
		{Agent: "ada", At: noon.Add(-3 * time.Minute), Tokens: 11900, Budget: 32000, Fixed: 2100, Rooms: 6000, Runs: 3000, Now: 600, Old: 200, Freed: 1500},
		{Agent: "max", At: noon.Add(-time.Hour), Tokens: 2200, Budget: 32000, Fixed: 2100, Now: 100},
	}
	a := r.attendant()
	a.Platforms = func() []string { return []string{"Telegram", "Slack", "Discord"} }
	a.Currency = func() string { return "USD" }
	a.Modes = func(_ context.Context, id spaces.AgentID, _ spaces.SpaceID) (commands.AgentMode, error) {
		return map[spaces.AgentID]commands.AgentMode{"ada": {Wake: spaces.WakeAll, Every: true}, "max": {Wake: spaces.WakeNone}, "bo*b": {Wake: spaces.WakeAuto}}[id], nil
	}
	var b strings.Builder
	for _, q := range []commands.CommandRequest{
		{Command: "help", Direct: true}, {Command: "start"}, {Command: "status"}, {Command: "why"}, {Command: "mode"}, {Command: "mode", Args: "all"}, {Command: "context"}, {Command: "cost"}, {Command: "stop"},
	} {
		q.At, q.Space = noon, "hub"
		text, err := a.Run(t.Context(), q)
		testutil.OK(t, err)
		fmt.Fprintf(&b, "== /%s ==\n%s\n\n", q.Command, text)
	}
	r.now = commands.RoomStatus{Agents: []commands.AgentStatus{{Agent: "ada", MutedUntil: noon.Add(time.Hour)}}}
	text, err := a.Run(t.Context(), commands.CommandRequest{Command: "mode", Space: "hub", At: noon})
	testutil.OK(t, err)
	fmt.Fprintf(&b, "== /mode of one that is muted ==\n%s\n\n", text)
	r.now, r.answered, r.contexts = commands.RoomStatus{}, nil, nil
	for _, command := range []string{"status", "why", "mode", "context", "cost"} {
		text, err := a.Run(t.Context(), commands.CommandRequest{Command: command, Space: "hub", At: noon})
		testutil.OK(t, err)
		fmt.Fprintf(&b, "== /%s in an empty room ==\n%s\n\n", command, text)
	}
	file := filepath.Join("testdata", "told.golden")
	if *updateGolden {
		testutil.OK(t, os.MkdirAll("testdata", 0o755))
		testutil.OK(t, os.WriteFile(file, []byte(b.String()), 0o600))
	}
	want, err := os.ReadFile(file)
	testutil.OK(t, err)
	testutil.Same(t, "people are told", string(want), b.String())
}

// PLATFORMS 2: what is typed behind the app's own slash command is a command or none: an
// unknown word is answered by what there is, and is no message to an agent.
func TestAWordThatIsNoCommandAsksForHelp(t *testing.T) {
	for word, want := range map[string]adapters.ChatCommand{
		"status": {Name: "status", Args: "x", Only: true}, "letin": {Name: "letin", Args: "x", Only: true}, "ack": {Name: "ack", Args: "x", Only: true},
		"weather": {Name: "help", Args: "weather", Only: true},
	} {
		got := commands.ParseCommand(adapters.BotAccount{}, adapters.IncomingMessage{Command: &adapters.ChatCommand{Name: word, Args: "x", Only: true}})
		testutil.Same(t, word, &want, got)
	}
	other := &adapters.ChatCommand{Name: "deploy"} // of the same app, for its agents
	testutil.Same(t, "another command", other, commands.ParseCommand(adapters.BotAccount{}, adapters.IncomingMessage{Command: other}))
	for args, told := range map[string]bool{"weather": true, strings.Repeat("w", 3000): true, "stop": false, "!stop": false, "": false, "me please": false} {
		text, err := newRecord().attendant().Run(t.Context(), commands.CommandRequest{Command: "help", Args: args, Space: "hub", Who: spaces.PlatformIdentity{Platform: "slack"}, At: noon})
		if err != nil || strings.HasPrefix(text, "There is no command \"w") != told || len(text) > 2500 || !strings.Contains(text, "`/trestle stop` does the same") {
			t.Errorf("help %.10s says %q, %v", args, text, err)
		}
	}
}

func TestTheMenuHoldsEveryCommand(t *testing.T) {
	r := newRecord()
	for _, c := range commands.CommandMenu() {
		text, err := r.attendant().Run(t.Context(), commands.CommandRequest{Command: c.Name, Space: "hub", Direct: true, At: noon})
		if err != nil || text == "" || c.Help == "" {
			t.Errorf("/%s (%s) says %q, %v", c.Name, c.Help, text, err)
		}
	}
}

// PLATFORMS 2: Slack keeps what begins with a slash for itself, so commands are
// told as people have to write them there.
func TestHelpNamesCommandsAsThePlatformTakesThem(t *testing.T) {
	for platform, want := range map[string]string{"slack": "`!stop`", "telegram": "`/stop`", "discord": "`/stop`", "local": "`/stop`"} {
		r := newRecord()
		text, err := r.attendant().Run(t.Context(), commands.CommandRequest{Command: "help", Space: "hub", Who: spaces.PlatformIdentity{Platform: platform}, At: noon})
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("%s is told %q, %v; want %s", platform, text, err, want)
		}
	}
}
