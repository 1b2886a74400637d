package slack

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	slackgo "github.com/slack-go/slack"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/httpx"
)

var _ adapters.WebhookReceiver = (*Client)(nil)

// hookLimit is a little less than Slack's three seconds: it takes our word for
// "not recorded" better than silence.
const hookLimit = 2800 * time.Millisecond

// HookPath returns where Slack was told to call; empty without a signing secret.
func (c *Client) HookPath() string {
	if c.o.SigningSecret == "" {
		return ""
	}
	return c.o.HookPath
}

// ServeHTTP takes one request of Slack's: an event, a slash command, or a button.
// Only the raw bytes are looked at before the signature is proved. It answers 200
// after the sink has recorded what came, also when it was recorded before, and
// 503 when that could not be done in time.
func (c *Client) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	headers := []string{"X-Slack-Request-Timestamp", "X-Slack-Signature"}
	body, ok := httpx.ReadProvedBody(w, r, c.refuse, headers, func(body []byte) error { return c.proved(r.Header, body) })
	if !ok {
		return
	}
	d, challenge := requestOf(r.Header.Get("Content-Type"), body)
	if challenge != "" {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, challenge) // its hanging up is its own affair
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), hookLimit)
	defer cancel()
	if err := c.deliver(ctx, d); err != nil {
		c.log.Warn("request not recorded", "update", d.id, "error", err)
		http.Error(w, "not recorded, try again", http.StatusServiceUnavailable)
	}
}

// refuse notes a call that was refused.
func (c *Client) refuse(reason string) { c.refused.Note(c.log, reason) }

// RefusedCalls returns how many calls were refused since the start.
func (c *Client) RefusedCalls() int64 { return c.refused.All() }

// proved checks Slack's signature over the raw body and the five minutes that a
// request is good for.
func (c *Client) proved(h http.Header, body []byte) error {
	if c.o.SigningSecret == "" {
		return errors.New("there is no signing secret")
	}
	v, err := slackgo.NewSecretsVerifier(h, string(c.o.SigningSecret))
	if err != nil {
		return errors.New("the signature or its time is wrong")
	}
	if _, err := v.Write(body); err != nil {
		return err
	}
	if v.Ensure() != nil {
		return errors.New("the signature is wrong")
	}
	return nil
}

// requestOf reads a request. A challenge is to be echoed and nothing else.
func requestOf(contentType string, body []byte) (d *delivery, challenge string) {
	if strings.HasPrefix(contentType, "application/x-www-form-urlencoded") {
		form, err := url.ParseQuery(string(body))
		switch {
		case err != nil:
			return &delivery{id: adapters.RawKey(body), kind: "unreadable", payload: body}, ""
		case form.Has("payload"):
			payload := []byte(form.Get("payload"))
			return &delivery{id: idIn(payload, adapters.RawKey(body)), kind: "interactive", payload: payload}, ""
		default:
			payload := commandOfForm(form)
			return &delivery{id: idIn(payload, adapters.RawKey(body)), kind: "slash_commands", payload: payload}, ""
		}
	}
	var hello struct {
		Type      string `json:"type"`
		Challenge string `json:"challenge"`
	}
	if json.Unmarshal(body, &hello) == nil && hello.Type == "url_verification" && hello.Challenge != "" {
		return nil, hello.Challenge
	}
	return &delivery{id: idIn(body, adapters.RawKey(body)), kind: "events_api", payload: body, opened: openingIn("events_api", body)}, ""
}

// commandOfForm returns a slash command's form in the shape that sockets bring.
func commandOfForm(form url.Values) []byte {
	fields := map[string]string{}
	for name := range form {
		if name != "token" { // the old way to prove where it comes from; a secret
			fields[name] = form.Get(name)
		}
	}
	out, err := json.Marshal(fields)
	if err != nil {
		panic("slack: a form does not marshal: " + err.Error())
	}
	return out
}

// deliver gives a delivery to the Receive that runs and waits until it is recorded.
func (c *Client) deliver(ctx context.Context, d *delivery) error {
	r := c.hook.Load()
	if r == nil {
		return errNotReceiving
	}
	recorded := make(chan struct{})
	d.acks = append(d.acks, func() { close(recorded) })
	if !r.inbox.add(d) {
		return errors.New("too much waits already")
	}
	r.sink.Alive(time.Now())
	select {
	case <-recorded:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
