package consoletest

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/jobs"
	"github.com/trestle-bridge/trestle/spaces"
)

// A RecordedStory is what came of one room's small life.
type RecordedStory struct {
	Space  spaces.SpaceID
	Mind   spaces.Mind
	Closed spaces.CycleID // a run that is over, with a denial and a delivery
	Open   spaces.CycleID // a run that is under way
	Woke   spaces.EventID // what woke the closed one; its words are in the tail of its frames
}

const account = "telegram:42"

// Live plays a room in which every field that a person outside can choose holds
// text: names, titles, messages, reasons, what a model answered, what was
// refused.
func (w *ConsoleWorld) Live(text string) RecordedStory {
	w.t.Helper()
	w.Program.Say(text)
	now := time.Now().Truncate(time.Millisecond)
	chat := "-" + strconv.Itoa(100+w.said)
	l := RecordedStory{Mind: spaces.Mind{Agent: "ada", Circle: "home"}}
	w.ok(w.Store.Border().Agents(w.t.Context(), []spaces.Entity{{ID: l.Mind.Agent.Entity(), Kind: spaces.Agent, Name: text}}))
	place, err := w.Store.Border().Open(w.t.Context(), spaces.OpenRequest{
		Name: text, Circle: "home", Wake: spaces.WakeAll, Agents: []spaces.AgentID{"ada"}, At: now.Add(-time.Hour),
		Chats: []spaces.ChatMapping{{Account: account, Chat: chat, Title: text, Live: true}},
	})
	w.ok(err)
	l.Space = place.Space
	w.Program.Ask(l.Space)
	w.say(l, chat, text, now.Add(-30*time.Minute))
	w.ok(w.Store.Border().SetConnected(w.t.Context(), account, false, now.Add(-20*time.Minute)))
	w.ok(w.Store.Border().SetConnected(w.t.Context(), account, true, now.Add(-10*time.Minute)))
	w.stand(text, now)
	w.work(text, now)
	w.say(l, chat, text, now.Add(-9*time.Minute))
	l.Closed, l.Woke = w.cycle(l, text, now.Add(-8*time.Minute), true)
	w.deliver(text, now.Add(-7*time.Minute))
	w.ok(w.Store.Shell().Digest(w.t.Context(), spaces.CycleSummary{
		Mind: l.Mind, First: 1, Last: 1, Text: text, Sources: []spaces.EventID{l.Woke}, Readers: []spaces.EntityID{l.Mind.Agent.Entity()}, Model: text, At: now,
	}))
	w.say(l, chat, text, now.Add(-time.Minute))
	l.Open, _ = w.cycle(l, text, now.Add(-30*time.Second), false)
	return l
}

// Deny refuses acts in one more step of the run that is under way.
func (w *ConsoleWorld) Deny(all ...spaces.Denial) {
	w.t.Helper()
	w.steps++
	c := w.step(w.wake, w.steps, time.Now(), "denied", nil, 2)
	for _, d := range all {
		c.Inner = append(c.Inner, spaces.CallDenied{Denial: d})
	}
	w.commit(c)
}

// stand plays a connection that is cut and comes back, on one account, and dead
// credentials on another. The platform's words say why.
func (w *ConsoleWorld) stand(text string, now time.Time) {
	w.t.Helper()
	for _, s := range []activity.ConnPeriod{
		{Line: "telegram", State: activity.ConnConnecting, From: now.Add(-time.Hour), First: true},
		{Line: "telegram", Account: account, State: activity.ConnConnected, From: now.Add(-55 * time.Minute)},
		{Line: "telegram", Account: account, State: activity.ConnDegraded, Reason: text, From: now.Add(-20 * time.Minute)},
		{Line: "telegram", Account: account, State: activity.ConnConnected, From: now.Add(-10 * time.Minute)},
		{Line: "acme", State: activity.ConnMisconfigured, Reason: text, From: now.Add(-40 * time.Minute), First: true},
	} {
		w.ok(w.Store.Border().StateChanged(w.t.Context(), s))
	}
	w.ok(w.Store.Border().StillInState(w.t.Context(), "telegram", now))
	w.ok(w.Store.Border().StillInState(w.t.Context(), "acme", now.Add(-30*time.Minute)))
}

// work plays a job that failed and one that waits for its platform, in words that
// another chose.
func (w *ConsoleWorld) work(text string, now time.Time) {
	w.t.Helper()
	for _, failed := range []bool{true, false} {
		added, err := w.Store.Jobs().Add(w.t.Context(), jobs.Job{Kind: "import", Subject: text, JobProgress: jobs.JobProgress{Total: 15_020, Unit: "messages"}}, now.Add(-time.Hour))
		w.ok(err)
		j, err := w.Store.Jobs().Claim(w.t.Context(), jobs.JobClaim{ID: added.ID, Holder: text, TTL: time.Hour, At: now.Add(-time.Hour)})
		w.ok(err)
		j.Done, j.Rate, j.Note, j.Until = 6_310, 38, text, now.Add(time.Minute)
		w.ok(w.Store.Jobs().Save(w.t.Context(), *j, time.Hour, now))
		if failed {
			j.Error = text
			w.ok(w.Store.Jobs().End(w.t.Context(), *j, jobs.Failed, now))
		}
	}
}

// say records messages, actions and names of a person.
func (w *ConsoleWorld) say(l RecordedStory, chat, text string, at time.Time) {
	w.t.Helper()
	from := spaces.PlatformIdentity{Platform: "telegram", User: "u7", Kind: spaces.Human, Name: text, Handle: text}
	item := func(body spaces.EventBody, ref bool) spaces.IngestItem {
		w.said++
		id := strconv.Itoa(w.said)
		in := spaces.IngestItem{From: from, Event: spaces.Event{
			Space: l.Space, Object: spaces.ChatObject, Thread: spaces.ThreadID(text), At: at, Source: account + "|" + chat + "|" + id, Body: body,
		}}
		if ref {
			in.Ref = spaces.MessageRef{Account: account, Chat: chat, Message: id}
		}
		return in
	}
	_, err := w.Store.Border().Record(w.t.Context(), spaces.IngestBatch{Account: account, At: at, Items: []spaces.IngestItem{
		item(spaces.MessagePosted{Text: text, Attachments: []spaces.FileAttachment{{Kind: "photo", ID: "f1", Name: text}}}, true),
		item(spaces.SpaceRenamed{Title: text}, false),
		item(spaces.UnreadableUpdate{What: text, Reason: text}, false),
		item(spaces.ReactionAdded{Emoji: text, Ref: spaces.MessageRef{Account: account, Chat: chat, Message: "1"}}, false),
	}})
	w.ok(err)
}

// cycle lives one run of two steps, the second of which may close it.
func (w *ConsoleWorld) cycle(l RecordedStory, text string, at time.Time, whole bool) (spaces.CycleID, spaces.EventID) {
	w.t.Helper()
	wake, err := w.Store.Shell().Claim(w.t.Context(), spaces.WakeClaim{
		Mind: l.Mind, Space: l.Space, Holder: "test", TTL: time.Hour, At: at,
		Judge: firstWakes,
	})
	w.ok(err)
	w.wake, w.steps = wake, 1
	id := wake.Cycle.ID
	turns := []spaces.TranscriptTurn{{Role: spaces.RoleUser, Text: "INBOX (1 events):\n" + text}, {Role: spaces.RoleAssistant, Text: text}}
	c := w.step(wake, 0, at.Add(time.Second), text, turns[:1], 0)
	c.Step.Phase, c.Turns = spaces.Contemplation, turns
	c.Inner = []spaces.EventBody{spaces.ThoughtRecorded{Cycle: id, Text: text}}
	args, err := json.Marshal(map[string]string{"text": text})
	w.ok(err)
	run := spaces.ToolRun{
		ID: "tool of " + string(id), Cycle: id, Call: "c1", Mind: l.Mind, Space: l.Space, Asker: wake.Events[0].Actor, Tool: text, Server: text, Args: string(args),
		Risk: spaces.RiskReadOutside, State: spaces.ToolReady, Proposed: at.Add(time.Second),
	}
	c.Runs = []spaces.ToolRun{run}
	w.commit(c)
	_, err = w.Store.Shell().StartRun(w.t.Context(), run.ID, "test", time.Hour, false, at.Add(2*time.Second))
	w.ok(err)
	_, err = w.Store.Shell().EndRun(w.t.Context(), spaces.ToolRunEnd{ID: run.ID, State: spaces.ToolFailed, Result: text, Detail: text, At: at.Add(3 * time.Second)})
	w.ok(err)
	c = w.step(wake, 1, at.Add(3*time.Second), text, turns, 2)
	c.Inner = []spaces.EventBody{
		spaces.ToolCalled{Cycle: id, Step: 1, CallID: "c1", Name: text, Args: string(args)},
		spaces.ToolReturned{Cycle: id, Step: 1, CallID: "c1", Note: text, Took: 1200, Usage: spaces.TokenUsage{Prompt: 1000, Cached: 400, Output: 50, Calls: 1, Cost: 1680}},
		spaces.CallDenied{Denial: spaces.Denial{
			Agent: "ada", Act: text, Code: text, Reason: text, Hint: text, Space: l.Space, Cycle: id, Phase: "engagement",
			Tier: spaces.TierMarketplace, Risk: spaces.RiskWriteOutside, At: at,
		}},
		spaces.MemoryAdded{ID: "m" + w.mint(), Fact: text, What: text, Sources: []spaces.EventID{wake.Events[0].ID}, Readers: []spaces.EntityID{wake.Events[0].Actor}, Space: l.Space},
		spaces.GoalSet{Text: text, Status: text},
		spaces.NoteAdded{Text: text, Label: text, Cycle: id},
	}
	c.Shown = []string{"c1"}
	c.Timers = []spaces.WakeTimer{{ID: w.mint(), Mind: l.Mind, Kind: spaces.TimerPlan, Space: l.Space, Note: text, Due: at.Add(24 * time.Hour), Cycle: id, Plan: "p" + w.mint(), Cron: text}}
	if whole {
		c.Effect = []spaces.RoomEffect{{
			Kind: spaces.ActSend, Space: l.Space, ID: spaces.EventID(w.mint()), Text: text, Expires: at.Add(24 * time.Hour),
			Chain: spaces.NextChain(wake.Consumed, "", "x"), Policy: spaces.Hold,
			Origin: &spaces.SendOrigin{Space: l.Space, Cycle: id, Why: text},
		}}
		c.Upto = wake.Rows[len(wake.Rows)-1].Seq
		c.Close = &spaces.CycleClose{Stop: spaces.StopCompleted, Model: text, Answered: spaces.AnsweredInWords, Detail: text, Rest: text, Denials: 1, Manifest: w.Offered, Plan: c.Step.Frame}
	}
	w.commit(c)
	return id, wake.Events[0].ID
}

// step returns the commit of a step whose frame has the given turns of its
// cycle, after those committed before.
func (w *ConsoleWorld) step(wake *spaces.Wake, n int, at time.Time, text string, turns []spaces.TranscriptTurn, before int) spaces.StepCommit {
	w.t.Helper()
	made := &spaces.FrameSources{System: "You are " + text, Turns: max(len(turns), before), Tail: "TIME: " + text, Refs: []spaces.EventID{wake.Events[0].ID}}
	prompt := []hud.FrameMessage{{Role: spaces.RoleSystem, Text: made.System}}
	if w.keyframe != nil {
		made.Keyframe = w.keyframe.N
		prompt = append(prompt, hud.FrameMessage{Role: spaces.RoleUser, Text: w.keyframe.Text})
	}
	for _, t := range turns {
		prompt = append(prompt, hud.FrameMessage{Role: t.Role, Text: t.Text})
	}
	prompt = append(prompt, hud.FrameMessage{Role: spaces.RoleUser, Text: made.Tail})
	plan, err := json.Marshal(hud.FramePlan{Budget: 20_000, Tokens: 900, Fixed: 3_000, Items: []hud.PlanItem{
		{Area: "keyframe", What: text, Form: hud.Full, Tokens: 300, Why: text}, {Area: "tail", Form: hud.Full, Tokens: 100},
	}, Shed: []hud.PlanItem{{Area: "log", What: text, Form: hud.Nothing, Tokens: 50, Why: text}}})
	w.ok(err)
	return spaces.StepCommit{
		Lease: wake.Lease, Active: wake.Cycle.Active, At: at,
		Step: spaces.Step{
			Cycle: wake.Cycle.ID, N: n, Phase: spaces.Engagement, State: spaces.StepDone, Request: hud.Hash(prompt), Finish: text, At: at,
			Usage: spaces.TokenUsage{Prompt: 4000, Cached: 3000, Output: 50, Estimated: 3900, Calls: 1, Cost: 3000}, Frame: plan, Shown: made,
		},
	}
}

func (w *ConsoleWorld) commit(c spaces.StepCommit) {
	w.t.Helper()
	_, err := w.Store.Shell().Commit(w.t.Context(), c)
	w.ok(err)
}

// deliver settles what waits to be sent: it fails, and the platform's words say why.
func (w *ConsoleWorld) deliver(text string, at time.Time) {
	w.t.Helper()
	due, err := w.Store.Border().Claim(w.t.Context(), account, at, 10)
	w.ok(err)
	var all []activity.SendResult
	for _, a := range due {
		all = append(all, activity.SendResult{Action: a.ID, State: spaces.ActionFailed, Code: "invalid", Reason: text})
	}
	w.ok(w.Store.Border().Settle(w.t.Context(), at, all))
}
