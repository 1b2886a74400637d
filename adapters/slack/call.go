package slack

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	slackgo "github.com/slack-go/slack"

	"github.com/trestle-bridge/trestle/adapters"
)

// maxAnswer bounds one answer of the Web API.
const maxAnswer = 64 << 20

// answer is what was seen of one call, as far as it came.
type answer struct {
	written    bool
	status     int
	retryAfter string // the header
	whole      []byte // the body, once it was read to its end
	scopes     string // those of the token, as the answer's header lists them
}

// verdict is the part of an answer that every method has.
type verdict struct {
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
	return seen.whole, err
}

// callSeen is call for those who look at the whole answer.
func (c *Client) callSeen(ctx context.Context, method string, do func(context.Context, *slackgo.Client) error) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, c.o.CallTimeout)
	defer cancel()
	traced, written := adapters.Trace(ctx)
	var seen answer
	api := slackgo.New(botPlace, slackgo.OptionAppLevelToken(appPlace),
		slackgo.OptionAPIURL(c.base+"/api/"), slackgo.OptionHTTPClient(c.exchange(&seen)))
	err := do(traced, api)
	seen.written = written.Load()
	var said verdict
	if seen.whole != nil && json.Unmarshal(seen.whole, &said) != nil {
		said = verdict{}
	}
	if seen.status == http.StatusOK && said.OK != nil && *said.OK {
		if said.Warning != "" {
			c.log.Debug("slack warns", "op", method, "warning", said.Warning)
		}
		return seen, nil
	}
	if err == nil {
		err = fmt.Errorf("the answer says neither yes nor no")
	}
	return answer{}, c.judge(method, seen, said, err)
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

// doer makes a function the library's HTTP client.
type doer func(*http.Request) (*http.Response, error)

// Do calls f.
func (f doer) Do(r *http.Request) (*http.Response, error) { return f(r) }

// exchange returns the library's client for one call. It reads the body whole,
// so that the connection is reused and the answer can be looked at.
func (c *Client) exchange(seen *answer) doer {
	return func(r *http.Request) (*http.Response, error) {
		resp, err := c.http.Do(r)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		seen.status, seen.retryAfter = resp.StatusCode, resp.Header.Get("Retry-After")
		seen.scopes = resp.Header.Get("X-OAuth-Scopes")
		body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
		if err != nil {
			return nil, err
		}
		if len(body) > maxAnswer {
			return nil, fmt.Errorf("the answer is longer than %d bytes", maxAnswer)
		}
		seen.whole = body
		resp.Body = io.NopCloser(bytes.NewReader(body))
		return resp, nil
	}
}
