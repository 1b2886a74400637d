package shell

import (
	"cmp"
	"strings"
	"sync"
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
// reports whether people were told that they wait.
func (s *Shell) show(w *spaces.Wake, tool *spaces.ToolRun, told func() bool) (rest func(over bool, stop spaces.StopReason)) {
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
		return func(bool, spaces.StopReason) {}
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
		sign.Told = told()
		s.Presence.Active(sign, rested)
		mu.Lock()
		defer mu.Unlock()
		if !done && time.Now().Before(until) {
			timer = time.AfterFunc(presenceEvery, beat)
		}
	}
	mu.Lock()
	timer = time.AfterFunc(presenceAfter, beat)
	mu.Unlock()
	return func(over bool, stop spaces.StopReason) {
		mu.Lock()
		defer mu.Unlock()
		done = true
		timer.Stop()
		if over {
			rested <- stop == spaces.StopWaitingReply || stop == spaces.StopWaitingTool
		}
		close(rested)
	}
}
