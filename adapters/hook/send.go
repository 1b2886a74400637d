package hook

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/httpx"
)

// replyPrefix begins the ids of what is sent, by which an answer to it is known.
const replyPrefix = "trestle-"

// replyLimit is how long the receiver of a reply may take.
const replyLimit = 15 * time.Second

// A reply is what the address for replies takes.
type reply struct {
	ID      string `json:"id"`
	Chat    string `json:"chat"`
	Thread  string `json:"thread,omitempty"`
	ReplyTo string `json:"reply_to,omitempty"`
	From    string `json:"from,omitempty"` // who speaks, where several share the hook
	Text    string `json:"text"`           // CommonMark
}

// Split returns the text whole: a program takes it as CommonMark.
func (c *Client) Split(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// Send posts a reply to the operator's address, signed as Standard Webhooks are, and any
// answer of 2xx is its receipt. The id is the same for each attempt. Without an address the
// message is taken and sent nowhere: the chat is one way.
func (c *Client) Send(ctx context.Context, p adapters.OutgoingMessage) (adapters.Receipt, error) {
	id := replyPrefix + cmp.Or(p.Key, c.o.NewID())
	if c.o.ReplyURL == "" {
		return adapters.Receipt{Message: id, At: time.Now()}, nil
	}
	body, err := json.Marshal(reply{ID: id, Chat: p.Chat, Thread: p.Thread, ReplyTo: p.ReplyTo, From: p.Face.Name, Text: p.Text})
	if err != nil {
		return adapters.Receipt{}, &adapters.Error{Kind: adapters.Invalid, Op: "reply", Err: err}
	}
	status, err := c.post(ctx, id, body)
	if err != nil {
		return adapters.Receipt{}, err
	}
	c.log.Debug("reply taken", "status", status)
	return adapters.Receipt{Message: id, At: time.Now()}, nil
}

// post makes one attempt.
func (c *Client) post(ctx context.Context, id string, body []byte) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, replyLimit)
	defer cancel()
	traced, written := adapters.TraceWritten(ctx)
	r, err := http.NewRequestWithContext(traced, http.MethodPost, string(c.o.ReplyURL), bytes.NewReader(body))
	if err != nil {
		return 0, &adapters.Error{Kind: adapters.Invalid, Op: "reply", Err: errors.New("reply_url is no address")}
	}
	at := strconv.FormatInt(time.Now().Unix(), 10)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "trestle")
	r.Header.Set(eventID, id)
	r.Header.Set(eventTime, at)
	r.Header.Set(eventSigns, signEvent(c.o.ReplySecret, id, at, body))
	resp, err := c.http.Do(r)
	if err != nil {
		_, kind := adapters.JudgeOutcome(adapters.CallOutcome{Written: written.Load()})
		return 0, &adapters.Error{Kind: kind, Op: "reply", Err: httpx.RedactError(unaddressed(err), 0, c.secrets()...)}
	}
	_ = resp.Body.Close() // the status says it all
	return resp.StatusCode, judge(resp)
}

// judge returns what an answer means; nil for any of 2xx.
func judge(resp *http.Response) error {
	e := &adapters.Error{Op: "reply", Status: resp.StatusCode, Err: fmt.Errorf("the address for replies answers %s", resp.Status)}
	sent, kind := adapters.JudgeOutcome(adapters.CallOutcome{Written: true, Status: resp.StatusCode, Readable: true})
	e.Kind = kind
	switch {
	case sent:
		return nil
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		e.Kind, e.Err = adapters.Invalid, errors.New("the address for replies redirects, which is not followed")
	case resp.StatusCode == http.StatusUnauthorized, resp.StatusCode == http.StatusForbidden:
		e.Kind = adapters.Forbidden
	case resp.StatusCode == http.StatusNotFound, resp.StatusCode == http.StatusGone:
		e.Kind = adapters.NoTarget
	case e.Kind == adapters.Conflict:
		e.Kind = adapters.Invalid // nobody else receives with our credentials
	case e.Kind == adapters.Limited:
		if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds > 0 {
			e.RetryAfter = time.Duration(min(seconds, 3600)) * time.Second
		}
	}
	return e
}
