package slack

import (
	"context"
	"errors"
	"time"

	slackgo "github.com/slack-go/slack"

	"github.com/trestle-bridge/trestle/adapters"
)

// A silentAPI counts the calls in a row that Slack has not answered, and holds until
// when no further call is made. Every message waits for such calls, so after a failure
// the next ones get a short timeout, and after several, or when Slack sends
// Retry-After, they are suspended for a while. Each method has its own.
type silentAPI struct {
	n     int
	until time.Time
}

// errMute is the error of a name that was not looked up while calls are suspended.
var errMute = errors.New("slack answers no questions about names")

// limit returns how long to wait for an answer; 0: do not ask.
func (m silentAPI) limit(now time.Time) time.Duration {
	switch {
	case now.Before(m.until):
		return 0
	case m.n == 0:
		return nameLimit
	default:
		return hastyLimit
	}
}

// after returns m as a question leaves it that ended with err; late tells that Slack did
// not answer in time.
func (m silentAPI) after(err error, late bool, now time.Time) silentAPI {
	e, failed := errors.AsType[*adapters.Error](err)
	switch {
	case failed && e.Kind == adapters.Limited:
		return silentAPI{m.n, now.Add(max(e.RetryAfter, time.Second))}
	case !late:
		return silentAPI{}
	case m.n+1 >= maxMute:
		return silentAPI{m.n + 1, now.Add(mutePause)}
	default:
		return silentAPI{n: m.n + 1}
	}
}

// asked asks Slack for a name, as long as that may hold up messages.
func asked[T any](ctx context.Context, n *names, method string, do func(context.Context, *slackgo.Client) error) (T, error) {
	n.mu.Lock()
	limit := n.mutes[method].limit(time.Now())
	n.mu.Unlock()
	if limit == 0 {
		var none T
		return none, errMute
	}
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out, err := callInto[T](waiting, n.c, method, do)
	if ctx.Err() == nil {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.mutes[method] = n.mutes[method].after(err, err != nil && waiting.Err() != nil, time.Now())
	}
	return out, err
}

// retry returns how long a name is left alone that was not learnt by a method: one for
// which Slack was given no time only until it is asked again.
func (n *names) retry(method string) time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	m, now := n.mutes[method], time.Now()
	switch {
	case now.Before(m.until):
		return m.until.Sub(now)
	case m.n > 0:
		return mutePause
	default:
		return namesRetry
	}
}
