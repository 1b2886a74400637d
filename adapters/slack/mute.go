package slack

import (
	"context"
	"errors"
	"time"

	slackgo "github.com/slack-go/slack"
)

// mute is how many questions in a row Slack has left unanswered, and since when: all
// messages wait for each, so that the next ones are waited for only shortly, and after
// some of them nobody asks for a while.
type mute struct {
	n     int
	since time.Time
}

// errMute is why nobody was asked for a name.
var errMute = errors.New("slack answers no questions about names")

// limit returns how long to wait for an answer; 0: do not ask.
func (m mute) limit(now time.Time) time.Duration {
	switch {
	case m.n == 0:
		return nameLimit
	case m.n >= maxMute && now.Sub(m.since) < mutePause:
		return 0
	}
	return hastyLimit
}

// asked asks Slack for a name, as long as that may hold up messages.
func asked[T any](ctx context.Context, n *names, method string, do func(context.Context, *slackgo.Client) error) (T, error) {
	n.mu.Lock()
	limit := n.mute.limit(time.Now())
	n.mu.Unlock()
	if limit == 0 {
		var none T
		return none, errMute
	}
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out, err := callInto[T](waiting, n.c, method, do)
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case err == nil || waiting.Err() == nil: // it answered, be it with a no
		n.mute = mute{}
	case ctx.Err() == nil:
		n.mute = mute{n.mute.n + 1, time.Now()}
	}
	return out, err
}

// retry returns how long a name is left alone that was not learnt: one for which Slack
// was given no time only until it is asked again.
func (n *names) retry() time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.mute.n > 0 {
		return mutePause
	}
	return namesRetry
}
