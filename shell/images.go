package shell

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/spaces"
)

// ErrComing says of a file that it is being fetched: the caller may ask again.
var ErrComing = errors.New("the file is on its way")

// ImageSource shows the pictures of messages to models that see.
type ImageSource interface {
	// Picture returns a file that was seen on an account as a picture with no side
	// longer than side pixels. It is [ErrComing] until the file is here; any other
	// error is for good. Calls may overlap.
	Picture(ctx context.Context, account, file string, side int) (llm.ModelImage, error)
}

const (
	// sightPatience is how long a cycle waits, from its beginning, for pictures that
	// are on their way.
	sightPatience = 10 * time.Second
	sightPoll     = 250 * time.Millisecond
	// sightReach is how many messages before the newest one are looked through.
	sightReach = 10
)

// An imageRef is one picture of one message.
type imageRef struct {
	message spaces.EventID
	file    spaces.FileAttachment
	account string
}

// see gathers the pictures that the next call shows. One that is on its way is
// waited for; what does not come stays a line of words.
func (c *cycle) see(ctx context.Context) {
	if c.shell.Sight == nil || c.settings.Pictures <= 0 {
		return
	}
	c.sights = c.choose()
	for {
		coming := false
		for _, s := range c.sights {
			if _, known := c.seen[s]; known {
				continue
			}
			p, err := c.shell.Sight.Picture(ctx, s.account, s.file.ID, c.settings.PictureSide)
			switch {
			case errors.Is(err, ErrComing):
				coming = true
			case err != nil && ctx.Err() == nil:
				c.log.Info("picture not shown", "message", s.message, "error", err)
				c.seen[s] = llm.ModelImage{}
			case err == nil:
				c.seen[s] = p
			}
		}
		if !coming || time.Since(c.began) > sightPatience || !pause(ctx, sightPoll) {
			return
		}
	}
}

// pause waits for d and reports whether ctx is still on.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// choose returns the pictures worth seeing, at most as many as are allowed, in the
// order in which they were posted: those of what woke the cycle, of what that
// answers, and of the messages right before it in its thread, since the conversation was last begun
// afresh. All are in the room that woke it, whose members have seen them.
func (c *cycle) choose() []imageRef {
	c.mind.mu.Lock()
	defer c.mind.mu.Unlock()
	seat := c.mind.seat(c.wake.Cycle.Space)
	if seat == nil || len(c.wake.Events) == 0 {
		return nil
	}
	near := map[spaces.EventID]bool{}
	for _, e := range c.wake.Events {
		for _, id := range []spaces.EventID{e.ID, e.ReplyTo} {
			if seat.Room.Chat.Find(id) != nil {
				near[id] = true
			}
		}
	}
	newest, before := c.wake.Events[len(c.wake.Events)-1], sightReach
	var sights []imageRef
	all := seat.Room.Chat.Messages
	for i := len(all) - 1; i >= 0 && before+len(near) > 0 && len(sights) < c.settings.Pictures; i-- {
		m := &all[i]
		wanted := near[m.ID]
		delete(near, m.ID)
		if m.Seq > c.upto || m.Deleted || m.Notice != nil || len(m.Refs) == 0 {
			continue
		}
		if m.Seq <= newest.Seq && m.Thread == newest.Thread && before > 0 {
			wanted = wanted || m.Seq > seat.Uplink.Fresh
			before--
		}
		if wanted {
			sights = append(picturesOf(m, c.settings.Pictures-len(sights)), sights...)
		}
	}
	return sights
}

// picturesOf returns the first pictures of a message, at most so many.
func picturesOf(m *spaces.ChatMessage, most int) (sights []imageRef) {
	for _, a := range m.Attachments {
		if isPicture(a) && len(sights) < most {
			sights = append(sights, imageRef{m.ID, a, cmp.Or(m.FileAccount, m.Refs[0].Account)})
		}
	}
	return sights
}

// isPicture reports whether a model that sees can be shown a file.
func isPicture(a spaces.FileAttachment) bool {
	return a.ID != "" && (a.Kind == "photo" || strings.HasPrefix(a.MIME, "image/"))
}

// pictures returns what is shown with the next call, what the frame says of it,
// and the tokens it takes.
func (c *cycle) pictures() (shown []llm.ModelImage, lines []hud.ImageRef, tokens int) {
	for _, s := range c.sights {
		if p := c.seen[s]; len(p.Data) > 0 {
			shown, lines, tokens = append(shown, p), append(lines, hud.ImageRef{Message: s.message, File: s.file}), tokens+p.Tokens
		}
	}
	return shown, lines, tokens
}
