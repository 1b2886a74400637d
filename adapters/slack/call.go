package slack

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	slackgo "github.com/slack-go/slack"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/httpx"
)

// apiStatus is the part of an answer that every method has.
type apiStatus struct {
	OK       *bool  `json:"ok"`
	Error    string `json:"error"`
	Needed   string `json:"needed"`  // the scope that is missing
	Warning  string `json:"warning"` // such as message_truncated
	Metadata struct {
		Messages []string `json:"messages"`
	} `json:"response_metadata"`
}

// call has the library make one request and returns the answer's body when
// Slack says ok. The body is read by us and not by the library, which refuses a
// whole page of history for one block it does not know. Any other outcome is an
// [*adapters.Error].
func (c *Client) call(ctx context.Context, method string, do func(context.Context, *slackgo.Client) error) ([]byte, error) {
	seen, err := c.callSeen(ctx, method, do)
	return seen.Whole, err
}

// callSeen is call for those who look at the whole answer.
func (c *Client) callSeen(ctx context.Context, method string, do func(context.Context, *slackgo.Client) error) (httpx.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, c.o.CallTimeout)
	defer cancel()
	traced, written := adapters.Trace(ctx)
	var seen httpx.Answer
	api := slackgo.New(botPlace, slackgo.OptionAppLevelToken(appPlace),
		slackgo.OptionAPIURL(c.base+"/api/"), slackgo.OptionHTTPClient(httpx.RoundTripFunc(func(r *http.Request) (*http.Response, error) { return seen.Take(c.http.Do(r)) })))
	err := do(traced, api)
	seen.Written = written.Load()
	var said apiStatus
	if seen.Whole != nil && json.Unmarshal(seen.Whole, &said) != nil {
		said = apiStatus{}
	}
	if seen.Status == http.StatusOK && said.OK != nil && *said.OK {
		if said.Warning != "" {
			c.log.Debug("slack warns", "op", method, "warning", said.Warning)
		}
		return seen, nil
	}
	if err == nil {
		err = fmt.Errorf("the answer says neither yes nor no")
	}
	return httpx.Answer{}, c.judge(method, seen, said, err)
}

// callInto is call with the answer read as a T.
func callInto[T any](ctx context.Context, c *Client, method string, do func(context.Context, *slackgo.Client) error) (T, error) {
	var out T
	raw, err := c.call(ctx, method, do)
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return out, &adapters.Error{Kind: adapters.Unknown, Op: method, Err: err}
	}
	return out, nil
}
