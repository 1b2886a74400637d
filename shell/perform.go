package shell

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/spaces"
)

// stage prepares what the acts of the next step see.
func (c *cycle) stage() *stepContext {
	m := c.mind
	m.mu.Lock()
	defer m.mu.Unlock()
	v := m.view(c)
	v.Current = append(slices.Clip(c.turns), c.pending...) // as the model has been shown it
	return &stepContext{
		wake: c.wake, view: v, active: c.active, branch: c.branch, upto: c.upto, guard: c.system.guard, settings: c.settings,
		links:  linkNotes{settings: func(id spaces.SpaceID) AgentSettings { return c.shell.Settings(c.mind.id.Agent, id) }},
		strict: !c.settings.SendStale && !c.reread && c.step+1 < c.settings.MaxSteps,
		now:    c.shell.Now(), newID: c.shell.NewID, phase: c.phase, composed: map[string]composedText{},
		setUps: c.setUp.noted, lastFrame: lastFrame{c.size, c.recalled, c.system.set, c.spoke, c.missions}, outside: c.outsideView(),
	}
}

// perform validates one act and lets it decide. What is refused is refused as
// data: a denial with the act's name, tier and risk.
func (c *cycle) perform(st *stepContext, a parsedCall) toolResult {
	before := len(st.denials)
	st.call = a.ID
	c.shell.publish("tool_executing", a.Name, c.facts("call", a.ID, "step", c.step))
	out := c.attempt(st, a)
	for i := before; i < len(st.denials); i++ {
		c.tools.blame(&st.denials[i], a.Name)
	}
	c.shell.publish("tool_result", a.Name, c.facts("call", a.ID, "step", c.step, "ok", out.ok, "note", out.note))
	return out
}

func (c *cycle) attempt(st *stepContext, a parsedCall) toolResult {
	c.mind.mu.Lock()
	defer c.mind.mu.Unlock()
	defer c.mind.across(st.view)()
	if a.spec == nil {
		return st.deny("unknown_act", "There is no act of that name.", "Use only the acts you are shown.")
	}
	if denied, ok := c.admit(st, a); !ok {
		return denied
	}
	from := st.active
	out := a.deed.perform(st)
	if out.ok && a.repaired && out.body != nil {
		out.body["note"] = "Understood as " + a.spec.form() + ": call it so."
	}
	if out.ok && st.active == from && !out.repeatable(a) { // who goes elsewhere may come back
		key := doneIn(from, a.key)
		c.done[key] = true
		if a.spec.room {
			st.spoken, st.aims = append(st.spoken, key), append(st.aims, aim(a, c.where(st, a)))
		}
	}
	return out
}

// admit reports whether an act may be done, and otherwise why not.
func (c *cycle) admit(st *stepContext, a parsedCall) (denied toolResult, ok bool) {
	space := c.where(st, a)
	switch s := a.spec; {
	case c.without(s, space), c.withoutSkill(a, space):
		return st.deny("tier_policy", "This act has been taken from you there.", c.insteadOf(st, s, space)), false
	case s.room && muted(st, space):
		return st.deny("muted", "You are muted there: you follow that space in silence.", "Do not say it elsewhere instead. An admin may lift it with /unmute."), false
	case s.outside == nil && !c.wake.Cycle.Authority.May(s.risk), !c.wake.Cycle.Authority.May(spaces.RiskReadOutside): // a person allows what an outside tool changes
		return st.deny("authority", "Not all of the people who woke you may ask for this.", "Say who may: an admin or the owner."), false
	case a.wrong != "":
		return st.deny("bad_arguments", a.wrong, "Call it like this: "+a.spec.form()+"."), false
	case c.done[doneIn(st.active, a.key)]:
		return st.deny("repeated", "You have done exactly this already in this wake.", "If there is nothing else to do, rest."), false
	case slices.Contains(lookups, s.name) && c.settings.GreetPlainly && c.greeted():
		return st.deny("greeting", "Only greetings woke you: there is nothing to look up.", "Greet back, or rest."), false
	case s.room && slices.Contains(st.aims, aim(a, space)):
		return st.deny("one_space_act", "You did that there already in this step.", "Put what belongs together into one message; call it in the next step if it is something else."), false
	case s.room && c.spoke+len(st.spoken) >= c.maxRoomActs():
		return st.deny("too_many_acts", "You have done as much in rooms as one wake may.", "Call done."), false
	}
	return toolResult{}, true
}

// maxRoomActs returns how many acts in rooms the cycle may commit: as many as the settings say,
// and one for each thread in which a person waits.
func (c *cycle) maxRoomActs() int { return max(c.settings.MaxRoomActs, threadsThatWait(c.wake)) }

// threadsThatWait returns in how many threads people wrote what woke a cycle.
func threadsThatWait(w *spaces.Wake) int {
	threads := map[spaces.ThreadID]bool{}
	for _, e := range w.Events {
		_, said := e.Body.(spaces.MessagePosted)
		if _, byAgent := e.Actor.IsAgent(); said && !byAgent {
			threads[e.Thread] = true
		}
	}
	return len(threads)
}

// aim names what a call acts on. Two messages of one step to the same place are one too
// many; other calls differ in their arguments.
func aim(a parsedCall, space spaces.SpaceID) string {
	if a.spec.name != "send_message" {
		return a.key
	}
	var at struct {
		Thread string `json:"thread"`
	}
	_ = json.Unmarshal([]byte(a.Args), &at) // arguments that are no object have no thread
	return strings.Join([]string{a.spec.name, string(space), at.Thread}, "\x00")
}

// doneKey names an act with its arguments.
func doneKey(s *toolSpec, args string) string { return s.name + "\x00" + canonical(args) }

// doneIn names an act as it was done in the active space: in another it is another.
func doneIn(active spaces.SpaceID, key string) string { return string(active) + "\x00" + key }

// canonical returns JSON arguments in one form, so that the same act asked for
// twice is seen to be the same.
func canonical(args string) string {
	var v map[string]any
	if json.Unmarshal([]byte(args), &v) != nil {
		return args
	}
	data, err := json.Marshal(v)
	if err != nil {
		return args
	}
	return string(data)
}

func validObject(args string) bool {
	return bytes.HasPrefix(bytes.TrimSpace([]byte(args)), []byte("{")) && json.Valid([]byte(args))
}
