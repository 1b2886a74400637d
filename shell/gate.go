package shell

import (
	"cmp"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/internal/money"
	"github.com/trestle-bridge/trestle/spaces"
)

// The gate's reasons. They are stored with every row and shown by explain.
const (
	GateOwn      = "own"       // the agent's own event
	GateStopped  = "stopped"   // a person stopped this chain
	GateDepth    = "depth"     // too many agent messages since its root
	GateRun      = "agent_run" // too many agent messages in a row here
	GateBudget   = "root_budget"
	GateSender   = "sender_budget" // the sender has used their budget for today
	GateMuted    = "muted"
	GateCommand  = "command"       // a chat command, never the model's
	GateAwaited  = "wait_resolved" // what the agent waits for has come to its end
	GateWaiting  = "waiting"       // others whom it asked as well have not answered yet
	GateDirect   = "direct"
	GatePair     = "two_entity"
	GateMention  = "mention"
	GateReply    = "reply"
	GateThread   = "thread" // a person goes on in a thread in which the agent spoke last
	GateAll      = "wake_all"
	GateNone     = "wake_none"
	GateAmbient  = "ambient"
	GateSeen     = "seen"     // addressed to no agent, and shown to an earlier run meanwhile
	GateSampled  = "sampled"  // addressed to no agent, and not in the share of bursts that wake
	GateBot      = "bot"      // a program that is not ours, and does not address the agent
	GateObserved = "observed" // an edit, delete or reaction: seen, no new message
)

// Commands are the chat commands that people have; the model never sees one as
// a request.
var Commands = []string{"start", "help", "status", "stop", "new", "mute", "unmute", "why", "mode", "context", "compact", "memory", "cost", "mission", "timezone", "ack", "letin", "refuse", "link"}

// A Gate decides which events wake an agent. It is pure: the same rows give the
// same verdicts. Seeing is not waking: what does not wake is still seen.
type Gate struct {
	Agent spaces.AgentID
	// Root is what one causal chain may use; 0 is unlimited.
	Root money.SpendLimit
	// Sender is what one person's words may cost in a day; 0 is unlimited.
	Sender money.SpendLimit
	// Ambient says when messages that address no agent wake this one.
	Ambient AmbientPolicy
}

// Judge returns a verdict for each row, in order (DESIGN 6.1; first match wins).
func (g Gate) Judge(j spaces.GateInput) []spaces.GateDecision {
	out := make([]spaces.GateDecision, len(j.Rows))
	for i, row := range j.Rows {
		out[i] = g.verdict(j, row, j.Events[i])
	}
	g.Ambient.apply(g, j, out)
	return out
}

// verdict judges one row. A chain that ends here, although the message would have
// woken the agent, is told of in the room: people would wait for an answer.
func (g Gate) verdict(j spaces.GateInput, row spaces.InboxRow, e spaces.Event) spaces.GateDecision {
	v := spaces.GateDecision{Seq: row.Seq}
	said, ok := e.Body.(spaces.MessagePosted)
	switch {
	case e.Actor == g.Agent.Entity():
		v.Reason = GateOwn
		return v
	case !ok:
		v.Reason = GateObserved
		return v
	}
	v.Wake, v.Reason = g.judge(j, e, said)
	limit, once := g.spent(j, e)
	if limit == "" {
		return v
	}
	if v.Wake && kindOf(j.Members, e.Actor) != spaces.Bot { // a program might answer what it is told
		v.Say, v.Once = ends[limit], once
	}
	v.Wake, v.Reason = false, limit
	return v
}

// ends is what the room is told when a limit has ended a chain. A person who said
// stop knows it already.
var ends = map[string]string{
	GateDepth:  "I stop here: agents have passed this on to each other long enough. Say something, and we go on.",
	GateRun:    "I stop here: agents have spoken often enough in a row. Say something, and we go on.",
	GateBudget: "I stop here: the tokens for this conversation are used up.",
	GateSender: "I stop here: your budget for today is used up. Tomorrow (UTC) there is a new one.",
}

// judge says what the message means to the agent when no limit is reached.
func (g Gate) judge(j spaces.GateInput, e spaces.Event, said spaces.MessagePosted) (wake bool, reason string) {
	if j.Uplink.Muted(j.At) {
		return false, GateMuted
	}
	if wake, reason := g.awaited(j, e); reason != "" {
		return wake, reason
	}
	if slices.Contains(Commands, said.Command) {
		return false, GateCommand
	}
	if kindOf(j.Members, e.Actor) == spaces.Bot && j.Space.Wake != spaces.WakeAll { // its words are talk, unless they name or answer the agent
		reason := g.addressed(j, e, said)
		return reason != "", cmp.Or(reason, GateBot)
	}
	policy := j.Space.Wake
	if j.Space.Direct && policy != spaces.WakeNone {
		return true, GateDirect
	}
	if j.Space.Closed && len(j.Members) == 2 && (policy == spaces.WakeAuto || policy == spaces.WakeAll || policy == "") {
		return true, GatePair
	}
	if reason := g.addressed(j, e, said); reason != "" {
		return true, reason
	}
	switch policy {
	case spaces.WakeAll:
		return true, GateAll
	case spaces.WakeNone:
		return false, GateNone
	case spaces.WakeAuto, spaces.WakeMention:
	}
	return false, GateAmbient
}

// awaited judges an answer that the agent waits for: the last one wakes it. An
// agent's earlier ones are held back for those that are missing (BLU-54); what a
// person says is judged like anything else until then.
func (g Gate) awaited(j spaces.GateInput, e spaces.Event) (wake bool, reason string) {
	for i := range j.Waits {
		if !j.Waits[i].AnsweredBy(e.ID) {
			continue
		}
		if _, byAgent := e.Actor.IsAgent(); j.Waits[i].Outcome != "" {
			return true, GateAwaited
		} else if byAgent {
			reason = GateWaiting
		}
	}
	return false, reason
}

// spent returns why the event may not go on to a model, or "", and what names
// that limit for good.
func (g Gate) spent(j spaces.GateInput, e spaces.Event) (reason, once string) {
	tally := j.Roots[e.Root]
	_, byAgent := e.Actor.IsAgent()
	byProgram := byAgent || kindOf(j.Members, e.Actor) == spaces.Bot
	chain := "chain|" + string(e.Root)
	switch {
	case tally.Stopped:
		return GateStopped, chain
	case byAgent && e.Depth >= spaces.MaxDepth:
		return GateDepth, chain
	case byProgram && j.Space.AgentRun >= spaces.MaxAgentRun:
		return GateRun, chain
	case g.Root.Reached(money.UsedTokens{Tokens: tally.Tokens, Cost: tally.Cost}):
		return GateBudget, chain
	case g.Sender.Reached(j.Senders[e.Actor]):
		return GateSender, "sender|" + string(e.Actor) + "|" + j.At.UTC().Format(time.DateOnly)
	}
	return "", ""
}

// addressed returns how the message is meant for the agent, or "". A message
// that names agents is meant for those and no other (BLU-T2); one that only the
// platform marks as ours is meant for the room's first agent.
func (g Gate) addressed(j spaces.GateInput, e spaces.Event, said spaces.MessagePosted) string {
	self := g.Agent.Entity()
	named := slices.Concat(ParseMentions(said.Text, j.Members), said.Mentions)
	named = slices.DeleteFunc(named, func(id spaces.EntityID) bool { _, agent := id.IsAgent(); return !agent })
	if slices.Contains(named, self) {
		return GateMention
	}
	author, answers := j.ReplyTos[e.ReplyTo]
	if answers && e.ReplyTo != "" && author == self {
		return GateReply
	}
	_, toAgent := author.IsAgent()
	if !answers && len(said.Mentions) == 0 && len(ParseMentions(said.Text, j.Members)) == 0 && g.steers(j, e) {
		return GateThread
	}
	if len(named) > 0 || toAgent || !said.ToUs {
		return ""
	}
	if first := slices.IndexFunc(j.Members, func(m spaces.SpaceMember) bool { return m.Kind == spaces.Agent }); first >= 0 && j.Members[first].ID == self {
		return GateMention
	}
	return ""
}

// steerTime is how long after an agent's last line in a thread a person's line there
// addresses it, unless the line mentions another member.
const steerTime = 10 * time.Minute

// steers reports whether a person goes on in a thread in which the agent, of all agents,
// spoke last.
func (g Gate) steers(j spaces.GateInput, e spaces.Event) bool {
	last, ok := j.Threads[e.Thread]
	return ok && e.Thread != "" && j.Space.Wake != spaces.WakeNone && last.Who == g.Agent.Entity() && kindOf(j.Members, e.Actor) == spaces.Human && e.At.Sub(last.At) <= steerTime
}

func kindOf(members []spaces.SpaceMember, id spaces.EntityID) spaces.EntityKind {
	for _, m := range members {
		if m.ID == id {
			return m.Kind
		}
	}
	return ""
}
