package hud

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/spaces"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// shedNote replaces a tool result that did not fit.
const shedNote = "[left out: too long for this context; ask again if you need it]"

// longArgument is how many characters of a call's argument stay when the call does not fit.
const longArgument = 160

// shed makes the frame shorter until it fits, in this order: old
// tool results, recalled lines, history in the keyframe, old cycles, recent
// cycles, then the results of this cycle and the words of its calls. It works on copies: the log itself
// stays as it is. Calls and their results go together or stay together.
func (d *frameBuilder) shed(budget int) {
	d.closed = slices.Clone(d.closed)
	for i := range d.closed {
		d.closed[i].Turns = slices.Clone(d.closed[i].Turns)
	}
	d.current = slices.Clone(d.current)
	for _, step := range []func(int){
		d.shedOldResults, d.shedRecalled, d.shedKeyframe, d.shedOldCycles, d.shedCurrentResults, d.shedLastCycle, d.shedCurrentCalls, d.shedCurrentLines,
	} {
		if d.tokens <= budget {
			return
		}
		step(budget)
	}
}

func (d *frameBuilder) lost(area, what string, form FormName, freed int) {
	d.tokens -= freed
	d.gone = append(d.gone, PlanItem{Area: area, What: what, Form: form, Tokens: freed, Why: "over budget"})
}

// stub replaces the text of a turn.
func (d *frameBuilder) stub(area string, t *spaces.TranscriptTurn) {
	before := d.v.Counter.Turn(t)
	t.Text, t.Tokens, t.Refs = shedNote, 0, nil
	if after := d.v.Counter.Turn(t); after < before {
		d.lost(area, t.CallID, CountOnly, before-after)
	}
}

func longResult(t *spaces.TranscriptTurn) bool { return t.Role == spaces.RoleTool && t.Tokens > 60 }

func (d *frameBuilder) shedOldResults(budget int) {
	for i := range d.closed {
		for k := range d.closed[i].Turns {
			if t := &d.closed[i].Turns[k]; d.tokens > budget && longResult(t) {
				d.stub("result", t)
			}
		}
	}
}

// shedRecalled keeps the worthiest of the recalled lines, as many as fit.
func (d *frameBuilder) shedRecalled(budget int) {
	if d.tail.Recalled == "" {
		return
	}
	words := messageOverhead + d.v.Counter.Count(d.tail.Text)
	kept := d.v.fitRecalled(d.tail.lines, budget-(d.tokens-d.tailN)-words)
	lost := len(d.tail.lines) - len(kept)
	d.tail.lines = kept
	b, refs := d.v.appendRecalled(nil, kept)
	d.tail.Recalled, d.tail.Refs = string(b), refs
	d.tail.whole = ""
	n := messageOverhead + d.v.Counter.Count(d.tail.String())
	form := Trimmed
	if len(kept) == 0 {
		form = Nothing
	}
	d.lost("recalled", textformat.CountNoun(lost, "line"), form, d.tailN-n)
	d.tailN = n
}

// shedKeyframe renders the keyframe anew, poorer, for this frame alone.
func (d *frameBuilder) shedKeyframe(budget int) {
	if d.keyframe == nil || d.keyframe.Tokens == 0 {
		return
	}
	before := d.keyframe.Tokens
	target := max(before-(d.tokens-budget), before/4)
	k, _ := newKeyframe(d.v, CutFrame, target, len(d.v.Closed))
	if k.Tokens == 0 && k.Text != "" {
		k.Tokens = messageOverhead + d.v.Counter.Count(k.Text)
	}
	if k.Tokens < before {
		d.keyframe = &k
		d.lost("keyframe", "history", Essential, before-k.Tokens)
	}
}

// shedOldCycles turns the oldest cycles into their own accounts, all but the last four,
// and then those too, all but the last.
func (d *frameBuilder) shedOldCycles(budget int) {
	for _, spare := range []int{4, 1} {
		for i := 0; i < len(d.closed)-spare && d.tokens > budget; i++ {
			d.summarise(&d.closed[i])
		}
	}
	for len(d.closed) > 1 && d.tokens > budget {
		c := &d.closed[0]
		d.lost("log", "cycle "+itoa(c.N), Nothing, d.v.Counter.turns(c.Turns))
		d.closed = d.closed[1:]
	}
}

func (d *frameBuilder) summarise(c *spaces.ClosedCycle) {
	before := d.v.Counter.turns(c.Turns)
	turns := []spaces.TranscriptTurn{{Role: spaces.RoleUser, Text: "Cycle " + itoa(c.N) + ": " + gutter(c.Rest)}}
	if after := d.v.Counter.turns(turns); after < before {
		c.Turns = turns
		d.lost("log", "cycle "+itoa(c.N), OneLine, before-after)
	}
}

// shedCurrentResults leaves the newest result whole as long as it can.
func (d *frameBuilder) shedCurrentResults(budget int) {
	for k := range d.current {
		if t := &d.current[k]; d.tokens > budget && longResult(t) {
			d.stub("result", t)
		}
	}
}

func (d *frameBuilder) shedLastCycle(int) {
	for i := range d.closed {
		d.summarise(&d.closed[i])
	}
}

// shedCurrentCalls leaves what this cycle's calls begin with, oldest first: the
// agent still sees what it asked for, and what it said in how many words.
func (d *frameBuilder) shedCurrentCalls(budget int) {
	for k := range d.current {
		t := &d.current[k]
		if d.tokens <= budget || len(t.Calls) == 0 || t.Tokens <= 60 {
			continue
		}
		short := *t
		short.Tokens, short.Calls = 0, slices.Clone(t.Calls)
		for i := range short.Calls {
			short.Calls[i].Args = clipArguments(short.Calls[i].Args)
		}
		if freed := t.Tokens - d.v.Counter.Turn(&short); freed > 0 {
			d.lost("call", short.Calls[0].ID, Trimmed, freed)
			*t = short
		}
	}
}

// clipArguments clips the long strings among the arguments of a call.
func clipArguments(args string) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(args), &fields) != nil {
		return args
	}
	for name, value := range fields {
		var words string
		if json.Unmarshal(value, &words) != nil || len(words) <= longArgument {
			continue
		}
		cut, err := json.Marshal(textformat.ClipRunes(words, longArgument))
		if err != nil {
			return args
		}
		fields[name] = cut
	}
	short, err := json.Marshal(fields)
	if err != nil {
		return args
	}
	return string(short)
}

// shedCurrentLines is the last resort: long turns of this cycle, oldest first,
// but never the newest one of a user, which holds what woke the agent.
func (d *frameBuilder) shedCurrentLines(budget int) {
	last := -1
	for k := range d.current {
		if d.current[k].Role == spaces.RoleUser {
			last = k
		}
	}
	for k := range d.current {
		t := &d.current[k]
		if d.tokens > budget && k != last && t.Role != spaces.RoleTool && t.Text != "" && t.Tokens > 60 {
			d.stub("log", t)
		}
	}
	if k := d.keyframe; k != nil && d.tokens > budget {
		d.lost("keyframe", "keyframe", Nothing, k.Tokens)
		d.keyframe = nil
	}
}
