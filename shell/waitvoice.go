package shell

import (
	"context"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// TranscriptionStatus know which spoken messages are still being heard.
type TranscriptionStatus interface {
	// Coming reports whether a file is a voice whose words are still to come.
	Coming(ctx context.Context, account string, file spaces.FileAttachment) (bool, error)
}

// earPatience is how long a cycle waits, from its beginning, for the words of voices.
const earPatience = 30 * time.Second

// listen waits until what was spoken to the agent has been heard, so that it does
// not answer a voice that it has not understood. What takes longer is seen when it
// is there, like any other line.
func (c *cycle) listen(ctx context.Context) {
	for c.unheard(ctx) && time.Since(c.began) < earPatience && pause(ctx, sightPoll) {
		continue
	}
}

// unheard reports whether a message that woke the cycle carries a voice whose words
// are still to come.
func (c *cycle) unheard(ctx context.Context) bool {
	if c.shell.Ears == nil {
		return false
	}
	for _, e := range c.wake.Events {
		said, ok := e.Body.(spaces.MessagePosted)
		if !ok {
			continue
		}
		for _, a := range said.Attachments {
			coming, err := c.shell.Ears.Coming(ctx, said.Ref.Account, a)
			if err != nil && ctx.Err() == nil {
				c.log.Error("voices not looked after", "error", err)
			}
			if coming && err == nil {
				return true
			}
		}
	}
	return false
}
