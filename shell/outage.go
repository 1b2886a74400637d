package shell

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/spaces"
)

// When people who wait for an answer are told that it takes longer.
const (
	noticeAfter = 20 * time.Second // they will have waited so long when a model that failed is asked again
	slowAnswer  = time.Minute      // a model has not answered for so long
)

// Notices to people whose answer waits. They are taken back with the answer.
const (
	slowNotice     = "This takes longer than usual: my model has not answered yet. I will write as soon as it does."
	downNotice     = "My model cannot be reached at the moment. I will answer as soon as it can."
	busyNotice     = "My model takes no more requests at the moment. I will answer as soon as it does."
	refusedNotice  = "My model refuses me: the operator has to look at its account. I will answer after that."
	workingNotice  = "Still working on it: %s has not answered yet. I will write as soon as it has."
	progressNotice = "Still working on it: %s tells `%s`. I will write as soon as it has answered."
	missingNotice  = "My model is not there any more: the operator has to choose another. I will answer after that."
)

// outageNotices are what people are told by how a model failed.
var outageNotices = map[llm.ErrorKind]string{
	llm.Unavailable: downNotice, llm.Timeout: downNotice, llm.Limited: busyNotice, llm.Denied: refusedNotice, llm.NoModel: missingNotice,
}

// waitNotice returns a notice to the room in which people wait for the cycle. It is the
// same for all attempts at the same message, whose notice is posted once.
func (c *cycle) waitNotice(text string) spaces.RoomNotice {
	n := spaces.RoomNotice{Room: c.wake.Cycle.Space, Text: text, At: c.shell.Now()}
	if len(c.wake.Events) > 0 {
		first, last := c.wake.Events[0], c.wake.Events[len(c.wake.Events)-1]
		n.Key, n.Thread, n.About = spaces.WaitingKey(c.agent.ID, n.Room, first.ID), last.Thread, last.ID
		n.Stop = spaces.StopMessageButton(first.ID, c.agent.ID)
	}
	return n
}

// tellsOfOutage has the closing of an attempt that failed tell people that they wait for
// the model. pause is how long it is until the next attempt.
func (c *cycle) tellsOfOutage(cl *spaces.CycleClose, kind llm.ErrorKind, pause time.Duration) {
	n := c.waitNotice(outageNotices[kind])
	if n.Text == "" || n.Key == "" || !cl.Back || c.lastAttempt(cl) || !c.unspoken() || c.waited()+pause < noticeAfter {
		return
	}
	cl.Notices = append(cl.Notices, n)
}

// watchSlow tells people that they wait for the model when the call that begins now takes
// long. The returned function ends the watch.
func (c *cycle) watchSlow(ctx context.Context) (stop func()) {
	n := c.waitNotice(slowNotice)
	if n.Key == "" || !c.unspoken() || c.shell.Journal == nil {
		return func() {}
	}
	over := make(chan struct{})
	timer := time.AfterFunc(slowAnswer, func() {
		defer close(over)
		c.keptWaiting.Store(true)
		if err := c.shell.Journal.Announce(ctx, n); err != nil {
			c.log.Warn("people not told that the model is slow", "error", err)
		}
	})
	return func() {
		if !timer.Stop() {
			<-over
		}
	}
}

// toldToWait reports whether people can have been told that they wait for the model. It is safe
// for concurrent use.
func (c *cycle) toldToWait() bool { return c.keptWaiting.Load() }

// takesUp notes whether people can have been told so because earlier attempts at a row failed.
func (c *cycle) takesUp(rows []spaces.InboxRow) {
	if slices.ContainsFunc(rows, func(r spaces.InboxRow) bool { return !r.NotBefore.IsZero() }) {
		c.keptWaiting.Store(true)
	}
}

// withdraws returns the notices that go with the end of the cycle, of those that can have
// been posted.
func (c *cycle) withdraws() (back []spaces.RoomNotice) {
	if n := c.waitNotice(""); c.toldToWait() && n.Key != "" {
		back = append(back, n)
	}
	if c.awokeBy != nil {
		back = append(back, spaces.RoomNotice{Room: c.awokeBy.Space, Key: c.awokeBy.StatusKey()})
	}
	return back
}

// tellsOfTools has the closing of a cycle that waits for tools tell people so, unless the
// agent has said something or people are asked to allow a call.
func (c *cycle) tellsOfTools(cl *spaces.CycleClose, open []spaces.ToolRun) {
	waits := c.unspoken() || c.awokeBy != nil && c.spoke == 0
	if !waits || len(cl.Notices) > 0 || len(open) == 0 {
		return
	}
	names := make([]string, len(open))
	for i := range open {
		names[i] = open[i].Tool
	}
	run := open[0]
	run.Cycle = c.wake.Cycle.ID
	n := spaces.RoomNotice{Room: cmp.Or(c.wake.Cycle.Space, c.active), Key: run.StatusKey(), Text: fmt.Sprintf(workingNotice, strings.Join(names, ", "))}
	n.Stop = spaces.StopButton(run.Cycle)
	if c.awokeBy != nil {
		n.Thread = c.awokeBy.Thread
	}
	if len(c.wake.Events) > 0 {
		last := c.wake.Events[len(c.wake.Events)-1]
		n.Thread, n.About = last.Thread, last.ID
	}
	cl.Notices = append(cl.Notices, n)
}
