package shell

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/internal/money"
	"github.com/trestle-bridge/trestle/spaces"
)

// A crowd is who is in the rooms of these tests.
func crowd(ids ...string) []spaces.SpaceMember {
	kinds := map[string]spaces.SpaceMember{
		"kai":  {Entity: spaces.Entity{ID: "p:kai", Kind: spaces.Human, Name: "Kai", Handle: "kai_m"}},
		"nova": {Entity: spaces.Entity{ID: "p:nova", Kind: spaces.Human, Name: "Nova Lee"}},
		"bot":  {Entity: spaces.Entity{ID: "p:bot", Kind: spaces.Bot, Name: "Weather"}},
		"ada":  {Entity: spaces.Entity{ID: "agent:ada", Kind: spaces.Agent, Name: "Ada"}},
		"max":  {Entity: spaces.Entity{ID: "agent:max", Kind: spaces.Agent, Name: "Max"}},
		"maxi": {Entity: spaces.Entity{ID: "agent:maxi", Kind: spaces.Agent, Name: "Max Planck"}},
	}
	var ms []spaces.SpaceMember
	for i, id := range ids {
		m := kinds[id]
		m.Since = int64(i)
		ms = append(ms, m)
	}
	return ms
}

func ids(ms []spaces.SpaceMember) []spaces.EntityID {
	var out []spaces.EntityID
	for _, m := range ms {
		out = append(out, m.ID)
	}
	return out
}

// BLU-11: the longest display name first, then handles; code is quoted.
func TestMentionsNameMembersByTheLongestName(t *testing.T) {
	members := crowd("kai", "nova", "ada", "max", "maxi")
	for _, c := range []struct {
		text string
		want []string
	}{
		{"@Ada help", []string{"ada"}},
		{"hey @ada, and @Max!", []string{"ada", "max"}},
		{"@Max Planck, please", []string{"maxi"}},
		{"@max planck and @max", []string{"maxi", "max"}},
		{"@kai_m look", []string{"kai"}},
		{"@nova lee", []string{"nova"}},
		{"@Adam is somebody else", nil},
		{"❤️@Ada 1️⃣@Max", []string{"ada", "max"}},
		{"@Ada\u0301m and @Ada\u200cm are, too", nil},
		{"mail me@ada.example", nil},
		{"in code `@Ada` and\n```\n@Max\n```", nil},
		{"https://a.example/@Ada, a.example/@Max and http://b.example?to=@Ada", nil},
		{"@Ada/@Max (https://a.example)@nova lee https://b.example。@kai_m", []string{"ada", "max", "nova", "kai"}},
		{"@Ada @Ada twice", []string{"ada"}},
		{"@", nil},
		{"@@Ada", []string{"ada"}},
		{strings.Repeat("@x ", mostNames-1) + "@Ada", []string{"ada"}}, // SECURITY S20
		{strings.Repeat("@x ", mostNames) + "@Ada", nil},
		{"", nil},
	} {
		var want []spaces.EntityID
		for _, m := range c.want {
			want = append(want, ids(crowd(m))...)
		}
		if diff := cmp.Diff(want, ParseMentions(c.text, members)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.text, diff)
		}
	}
}

// judgeOne asks ada's gate about one event in a room.
func judgeOne(room spaces.Space, members []spaces.SpaceMember, e spaces.Event, roots map[spaces.EventID]spaces.ChainUsage, replies map[spaces.EventID]spaces.EntityID) spaces.GateDecision {
	e.Seq = 7
	if e.Thread != "" {
		e.At = time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	}
	recent, old := time.Date(2026, 11, 25, 11, 51, 0, 0, time.UTC), time.Date(2026, 11, 25, 11, 49, 0, 0, time.UTC)
	return Gate{Agent: "ada", Root: money.SpendLimit{Tokens: 1000}}.Judge(spaces.GateInput{
		Threads: map[spaces.ThreadID]spaces.ThreadLine{"hers": {Who: "agent:ada", At: recent}, "max's": {Who: "agent:max", At: recent}, "old": {Who: "agent:ada", At: old}},
		Space:   room, Rows: []spaces.InboxRow{{Seq: 7}}, Events: []spaces.Event{e}, Members: members, Roots: roots, ReplyTos: replies,
	})[0]
}

// DESIGN 6.1, BLU-25 … BLU-29, SECURITY S13: first match wins.
func TestGateWakesByTheFirstRuleThatMatches(t *testing.T) {
	said := func(who, text string) spaces.Event {
		return spaces.Event{Actor: ids(crowd(who))[0], Root: "r", Body: spaces.MessagePosted{Text: text}}
	}
	with := func(e spaces.Event, f func(*spaces.Event)) spaces.Event { f(&e); return e }
	inThread := func(t spaces.ThreadID) func(*spaces.Event) { return func(e *spaces.Event) { e.Thread = t } }
	group := spaces.Space{Wake: spaces.WakeAuto}
	three := crowd("kai", "nova", "ada")
	for _, c := range []struct {
		name    string
		room    spaces.Space
		members []spaces.SpaceMember
		event   spaces.Event
		want    string
		wake    bool
	}{
		{"own words", group, three, said("ada", "@Ada"), GateOwn, false},
		{"direct chat", spaces.Space{Direct: true, Wake: spaces.WakeAuto}, crowd("kai", "ada"), said("kai", "hi"), GateDirect, true},
		{"BLU-T1 exactly two members", spaces.Space{Closed: true, Wake: spaces.WakeAuto}, crowd("kai", "ada"), said("kai", "hi"), GatePair, true},
		{"BLU-28 two agents alone", spaces.Space{Closed: true, Wake: spaces.WakeAuto}, crowd("max", "ada"), said("max", "hi"), GatePair, true},
		{"two known members of an open group", group, crowd("kai", "ada"), said("kai", "hi"), GateAmbient, false},
		{"two members, mentions only", spaces.Space{Closed: true, Wake: spaces.WakeMention}, crowd("kai", "ada"), said("kai", "hi"), GateAmbient, false},
		{"mention", group, three, said("kai", "@Ada help"), GateMention, true},
		{"BLU-T2 another agent is meant", group, crowd("kai", "ada", "max"), said("kai", "@Max help"), GateAmbient, false},
		{"BLU-T3 both are meant", group, crowd("kai", "ada", "max"), said("kai", "@Max and @Ada check"), GateMention, true},
		{"BLU-26 self-mention of another's words in code", group, three, said("kai", "`@Ada`"), GateAmbient, false},
		{"the platform's mention of our account", group, three, with(said("kai", "hey bot"), func(e *spaces.Event) {
			e.Body = spaces.MessagePosted{Text: "hey bot", ToUs: true}
		}), GateMention, true},
		{"the account is meant, a later agent is not", group, crowd("kai", "max", "ada"), with(said("kai", "hey bot"), func(e *spaces.Event) {
			e.Body = spaces.MessagePosted{Text: "hey bot", ToUs: true}
		}), GateAmbient, false},
		{"reply to her", group, three, with(said("kai", "why?"), func(e *spaces.Event) { e.ReplyTo = "hers" }), GateReply, true},
		{"a person goes on in her thread", group, three, with(said("kai", "and tomorrow?"), inThread("hers")), GateThread, true},
		{"in her thread, to somebody else", group, three, with(said("kai", "@nova lee and tomorrow?"), inThread("hers")), GateAmbient, false},
		{"in a thread where another agent spoke last", group, three, with(said("kai", "and tomorrow?"), inThread("max's")), GateAmbient, false},
		{"in her thread, too late", group, three, with(said("kai", "and tomorrow?"), inThread("old")), GateAmbient, false},
		{"in her thread, an agent", group, crowd("kai", "ada", "max"), with(said("max", "and tomorrow?"), inThread("hers")), GateAmbient, false},
		{"in her thread, where she is to be named", spaces.Space{Wake: spaces.WakeNone}, three, with(said("kai", "and tomorrow?"), inThread("hers")), GateNone, false},
		{"reply to somebody else", group, three, with(said("kai", "why?"), func(e *spaces.Event) { e.ReplyTo = "kais" }), GateAmbient, false},
		{"wake: all", spaces.Space{Wake: spaces.WakeAll}, three, said("kai", "hm"), GateAll, true},
		{"wake: none", spaces.Space{Wake: spaces.WakeNone}, three, said("kai", "hm"), GateNone, false},
		{"wake: none in a direct chat", spaces.Space{Direct: true, Wake: spaces.WakeNone}, crowd("kai", "ada"), said("kai", "hm"), GateNone, false},
		{"ambient", group, three, said("kai", "nice weather"), GateAmbient, false},
		{"a chat command", spaces.Space{Direct: true}, crowd("kai", "ada"), with(said("kai", "/stop"), func(e *spaces.Event) {
			e.Body = spaces.MessagePosted{Text: "/stop", Command: "stop"}
		}), GateCommand, false},
		{"another program", group, crowd("kai", "bot", "ada"), said("bot", "build 42 is green"), GateBot, false},
		{"another program names her", group, crowd("kai", "bot", "ada"), said("bot", "@Ada"), GateMention, true},
		{"another program answers her", group, crowd("kai", "bot", "ada"), with(said("bot", "yes"), func(e *spaces.Event) { e.ReplyTo = "hers" }), GateReply, true},
		{"another program goes on in her thread", group, crowd("kai", "bot", "ada"), with(said("bot", "and tomorrow?"), inThread("hers")), GateBot, false},
		{"another program and her, alone", spaces.Space{Closed: true, Wake: spaces.WakeAuto}, crowd("bot", "ada"), said("bot", "hm"), GateBot, false},
		{"another program names her after eight messages of agents", spaces.Space{AgentRun: spaces.MaxAgentRun}, crowd("kai", "bot", "ada"), said("bot", "@Ada"), GateRun, false},
		{"another program after eight, where all wakes", spaces.Space{Wake: spaces.WakeAll, AgentRun: spaces.MaxAgentRun}, crowd("kai", "bot", "ada"), said("bot", "hm"), GateRun, false},
		{"an edit is no new message", spaces.Space{Direct: true}, crowd("kai", "ada"), spaces.Event{Actor: "p:kai", Body: spaces.MessageEdited{Text: "@Ada"}}, GateObserved, false},
		{"BLU-27 the chain is too deep", group, crowd("max", "ada", "kai"), with(said("max", "@Ada"), func(e *spaces.Event) { e.Depth = spaces.MaxDepth }), GateDepth, false},
		{"one short of too deep", group, crowd("max", "ada", "kai"), with(said("max", "@Ada"), func(e *spaces.Event) { e.Depth = spaces.MaxDepth - 1 }), GateMention, true},
		{"eight agent messages in a row", spaces.Space{Wake: spaces.WakeAll, AgentRun: spaces.MaxAgentRun}, crowd("max", "ada"), said("max", "@Ada"), GateRun, false},
		{"a person after eight", spaces.Space{Wake: spaces.WakeAll, AgentRun: spaces.MaxAgentRun}, three, said("kai", "@Ada"), GateMention, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := judgeOne(c.room, c.members, c.event, nil, map[spaces.EventID]spaces.EntityID{"hers": "agent:ada", "kais": "p:kai"})
			if got.Reason != c.want || got.Wake != c.wake {
				t.Errorf("verdict %s (wake %v), want %s (wake %v)", got.Reason, got.Wake, c.want, c.wake)
			}
		})
	}
}

// DESIGN 4: budgets and stops key on the root of the chain, also for what a
// person says in it.
func TestASpentRootWakesNobody(t *testing.T) {
	e := spaces.Event{Actor: "p:kai", Root: "r", Body: spaces.MessagePosted{Text: "@Ada"}}
	for want, tally := range map[string]spaces.ChainUsage{
		GateBudget: {Tokens: 1000}, GateStopped: {Stopped: true}, GateMention: {Tokens: 999},
	} {
		if got := judgeOne(spaces.Space{}, crowd("kai", "nova", "ada"), e, map[spaces.EventID]spaces.ChainUsage{"r": tally}, nil); got.Reason != want {
			t.Errorf("tally %+v: %s, want %s", tally, got.Reason, want)
		}
	}
}

// DESIGN 6.1, BLU-54, BLU-56: the answer that ends a wait wakes where nothing else
// would; an agent's part of one does not, where others would; what is muted or
// spent stays so.
func TestAnAwaitedAnswerWakesOnceItIsWhole(t *testing.T) {
	over := spaces.PendingWait{Outcome: spaces.WaitReplied, Answers: []spaces.WaitAnswer{{Event: "e1"}}}
	part := spaces.PendingWait{Answers: []spaces.WaitAnswer{{Event: "e1"}}}
	for _, c := range []struct {
		name  string
		who   string
		waits []spaces.PendingWait
		muted bool
		depth int
		want  string
		wake  bool
	}{
		{"ambient words that answer", "kai", []spaces.PendingWait{over}, false, 0, GateAwaited, true},
		{"somebody else's bot that was asked", "bot", []spaces.PendingWait{over}, false, 0, GateAwaited, true},
		{"a part by an agent that names her", "max", []spaces.PendingWait{part}, false, 1, GateWaiting, false},
		{"a part by a person who names her", "kai", []spaces.PendingWait{part}, false, 0, GateMention, true},
		{"a part of one and the whole of another", "max", []spaces.PendingWait{part, over}, false, 1, GateAwaited, true},
		{"muted", "kai", []spaces.PendingWait{over}, true, 0, GateMuted, false},
		{"too deep", "max", []spaces.PendingWait{over}, false, spaces.MaxDepth, GateDepth, false},
	} {
		noon, text := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC), "hm"
		if len(c.waits) > 0 && c.waits[0].Outcome == "" {
			text = "@Ada yes"
		}
		uplink := spaces.Uplink{MutedUntil: noon} // a mute that is over
		if c.muted {
			uplink.MutedUntil = noon.Add(1)
		}
		e := spaces.Event{ID: "e1", Actor: ids(crowd(c.who))[0], Root: "r", Depth: c.depth, Body: spaces.MessagePosted{Text: text}}
		j := spaces.GateInput{
			Space: spaces.Space{Wake: spaces.WakeAuto}, Members: crowd("kai", "bot", "ada", "max"), Uplink: uplink, At: noon,
			Rows: []spaces.InboxRow{{Seq: 1}}, Events: []spaces.Event{e}, Waits: c.waits,
		}
		if v := (Gate{Agent: "ada"}).Judge(j)[0]; v.Reason != c.want || v.Wake != c.wake {
			t.Errorf("%s: verdict %s (wake %v), want %s (wake %v)", c.name, v.Reason, v.Wake, c.want, c.wake)
		}
	}
}
