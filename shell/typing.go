package shell

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/spaces"
)

// How soon people are shown that the agent is at it, and how often again: the
// sign of most platforms fades after five seconds.
const (
	presenceAfter = 700 * time.Millisecond
	presenceEvery = 4 * time.Second
	presenceLimit = 2 * time.Minute
)

// maxTitle bounds the title of a run, in characters.
const maxTitle = 60

// runTitle returns the beginning of the message that began a run, without the mention of
// the agent before it.
func runTitle(text, agent string) string {
	words := spaces.PlainText(strings.Join(strings.Fields(text), " "))
	if n := len("@" + agent); len(words) > n && strings.EqualFold(words[:n], "@"+agent) {
		if rest := strings.TrimLeft(words[n:], " ,:"); rest != "" && len(rest) < len(words[n:]) {
			words = rest
		}
	}
	return textformat.ClipRunes(words, maxTitle)
}

// show lets people see that the agent is at it until the returned function is called, with
// whether the run is over and how it stopped. A short cycle shows nothing, and neither does
// one in a room where the agent says nothing. tool is the call whose end woke it, or nil. told
// reports whether people were told that they wait, and asked returns what people asked, see
// [spaces.RunSign]. again has what has changed of that shown at once.
func (s *Shell) show(w *spaces.Wake, tool *spaces.ToolRun, told func() bool, asked func() []spaces.AckReaction) (rest func(over bool, stop spaces.StopReason), again func()) {
	sign := spaces.RunSign{Run: w.Cycle.ID, Agent: w.Cycle.Mind.Agent, Space: w.Cycle.Space, Began: time.Now()}
	var last spaces.Event
	if len(w.Waits) > 0 {
		sign.Space, sign.Thread, sign.After = cmp.Or(sign.Space, w.Waits[0].Space), w.Waits[0].Thread, w.Waits[0].Cycle
	}
	if tool != nil {
		sign.Space, sign.Thread, sign.After = tool.Space, tool.Thread, tool.Cycle
	}
	if len(w.Events) > 0 {
		last = w.Events[len(w.Events)-1]
		sign.Thread = last.Thread
	}
	if s.Presence == nil || len(w.Events) == 0 && sign.After == "" || !s.speaks(sign.Agent, sign.Space) {
		return func(bool, spaces.StopReason) {}, func() {}
	}
	if a := s.agent(sign.Agent); a != nil {
		sign.Name = a.Name
	}
	if said, ok := last.Body.(spaces.MessagePosted); ok {
		sign.Message, sign.Title = said.Ref, runTitle(said.Text, sign.Name)
	}
	rested := make(chan bool, 1)
	var mu sync.Mutex // guards timer and done
	var timer *time.Timer
	done, until := false, sign.Began.Add(presenceLimit)
	var beat func()
	beat = func() {
		now := sign // beats may overlap
		now.Told, now.Asked = told(), asked()
		s.Presence.Active(now, rested)
		mu.Lock()
		defer mu.Unlock()
		if !done && time.Now().Before(until) {
			timer = time.AfterFunc(presenceEvery, beat)
		}
	}
	mu.Lock()
	timer = time.AfterFunc(presenceAfter, beat)
	mu.Unlock()
	rest = func(over bool, stop spaces.StopReason) {
		mu.Lock()
		defer mu.Unlock()
		done = true
		timer.Stop()
		if over {
			rested <- stop == spaces.StopWaitingReply || stop == spaces.StopWaitingTool
		}
		close(rested)
	}
	return rest, func() {
		mu.Lock()
		defer mu.Unlock()
		if !done && time.Since(sign.Began) >= presenceAfter {
			timer.Reset(0)
		}
	}
}

// asks returns the messages among rows with which people address the agent, each with the
// reaction that shows that the run works on it.
func (c *cycle) asks(rows []spaces.InboxRow, events []spaces.Event) (all []spaces.AckReaction) {
	if c.settings.Acknowledge == "" {
		return nil
	}
	for i, e := range events {
		said, ok := e.Body.(spaces.MessagePosted)
		if _, byAgent := e.Actor.IsAgent(); !ok || byAgent || said.Ref.IsZero() || !slices.Contains(addressedReasons, rows[i].Reason) {
			continue
		}
		all = append(all, spaces.AckReaction{Run: c.wake.Cycle.ID, Event: e.ID, Message: said.Ref, Thread: e.Thread, Emoji: c.settings.Acknowledge})
	}
	return all
}

// An askedMessages holds the messages that a run works on. It is safe for concurrent use.
type askedMessages struct {
	all   atomic.Pointer[[]spaces.AckReaction]
	again func() // shows them
}

func (a *askedMessages) list() []spaces.AckReaction {
	if all := a.all.Load(); all != nil {
		return *all
	}
	return nil
}

// add takes in further messages. Calls do not overlap.
func (a *askedMessages) add(more []spaces.AckReaction) {
	if len(more) == 0 {
		return
	}
	all := append(slices.Clip(a.list()), more...)
	a.all.Store(&all)
	if a.again != nil {
		a.again()
	}
}
