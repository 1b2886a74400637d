package shell

import (
	"context"
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
	slowNotice    = "This takes longer than usual: my model has not answered yet. I will write as soon as it does."
	downNotice    = "My model cannot be reached at the moment. I will answer as soon as it can."
	busyNotice    = "My model takes no more requests at the moment. I will answer as soon as it does."
	refusedNotice = "My model refuses me: the operator has to look at its account. I will answer after that."
	missingNotice = "My model is not there any more: the operator has to choose another. I will answer after that."
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
		n.Key, n.Thread = "waiting|"+string(c.agent.ID)+"|"+string(n.Room)+"|"+string(first.ID), last.Thread
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
	cl.Say, cl.Once, cl.Room, cl.Thread = n.Text, n.Key, n.Room, n.Thread
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
		c.slow.Store(true)
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

// withdraws returns the key of the notice that goes with the end of the cycle; empty when
// none can have been posted.
func (c *cycle) withdraws() string {
	told := c.slow.Load()
	for _, r := range c.wake.Rows {
		told = told || !r.NotBefore.IsZero()
	}
	if !told {
		return ""
	}
	return c.waitNotice("").Key
}
