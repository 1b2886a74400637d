package slack

import (
	"errors"
	"github.com/gorilla/websocket"
	"golang.org/x/time/rate"
	"log/slog"
	"net/url"
	"sync/atomic"

	"context"
	"encoding/json"
	"fmt"
	"net/http"

	slackgo "github.com/slack-go/slack"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/httpx"
)

// apiClient makes calls of Slack's Web API as one app.
type apiClient struct {
	o        Options
	base     string // without a slash at its end
	http     *http.Client
	dialer   *websocket.Dialer
	ours     func(*url.URL) bool // whether a host may see a token
	log      *slog.Logger
	readings *rate.Limiter

	self atomic.Pointer[self] // set by identify
}

// self is who we are in the workspace.
type self struct {
	Team string `json:"team_id"`
	User string `json:"user_id"`
	Bot  string `json:"bot_id"`
	Name string `json:"user"`
}

// account is our own id: a Slack user's is unique within its team only.
func (s self) account() string { return s.Team + "-" + s.User }

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
func (c *apiClient) call(ctx context.Context, method string, do func(context.Context, *slackgo.Client) error) ([]byte, error) {
	seen, err := c.callSeen(ctx, method, do)
	return seen.Whole, err
}

// callSeen is call for those who look at the whole answer.
func (c *apiClient) callSeen(ctx context.Context, method string, do func(context.Context, *slackgo.Client) error) (httpx.Answer, error) {
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
func callInto[T any](ctx context.Context, c *apiClient, method string, do func(context.Context, *slackgo.Client) error) (T, error) {
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

// authTest asks who the bot token belongs to; its scopes come with the answer.
func (c *apiClient) authTest(ctx context.Context) (httpx.Answer, error) {
	return c.callSeen(ctx, "auth.test", func(ctx context.Context, api *slackgo.Client) error {
		_, err := api.AuthTestContext(ctx)
		return err
	})
}

// identify asks Slack for the bot token's user and team and stores both. The answer's
// header holds the scopes of the token.
func (c *apiClient) identify(ctx context.Context) (self, httpx.Answer, error) {
	seen, err := c.authTest(ctx)
	if err != nil {
		return self{}, seen, err
	}
	var me self
	if err := json.Unmarshal(seen.Whole, &me); err != nil || me.Team == "" || me.User == "" {
		return self{}, seen, &adapters.Error{Kind: adapters.Unknown, Op: "auth.test", Err: errors.New("the answer names no user of a team")}
	}
	c.self.Store(&me)
	return me, seen, nil
}

// me returns who we are, asking Slack when Connect has not yet.
func (c *apiClient) me(ctx context.Context) (self, error) {
	if me := c.self.Load(); me != nil {
		return *me, nil
	}
	me, _, err := c.identify(ctx)
	if err != nil {
		return self{}, fmt.Errorf("learn who we are: %w", err)
	}
	return me, nil
}
