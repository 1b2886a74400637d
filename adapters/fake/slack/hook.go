package slack

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// call delivers an envelope by a signed request. mu is held.
func (e *envelope) call() {
	s := e.app.of
	kind, body := "application/json", []byte(nil)
	switch {
	case e.kind == "slash_commands":
		form := url.Values{"trigger_id": {e.event}, "token": {"old-verification-token"}}
		for name, value := range e.payload {
			form.Set(name, fmt.Sprint(value))
		}
		kind, body = "application/x-www-form-urlencoded", []byte(form.Encode())
	case e.kind == "interactive":
		kind, body = "application/x-www-form-urlencoded", []byte(url.Values{"payload": {string(e.raw)}}.Encode())
	case e.raw != nil:
		body = e.raw
	default:
		body = encode(e.payload)
	}
	attempt, to, secret := e.attempt, e.app.profile.EventsURL, e.app.profile.SigningSecret
	s.calls.Go(func() {
		ok := postSigned(s, to, secret, kind, body, attempt)
		s.mu.Lock()
		defer s.mu.Unlock()
		switch {
		case e.settled:
		case ok:
			e.done()
		default:
			e.missed()
		}
	})
}

// postSigned makes one request and reports whether it was answered 200 in time.
func postSigned(s *Server, to, secret, kind string, body []byte, attempt int) bool {
	r, err := http.NewRequest(http.MethodPost, to, bytes.NewReader(body)) //nolint:noctx // the client's own limit ends it
	if err != nil {
		return false
	}
	Sign(r.Header, secret, body, time.Now())
	r.Header.Set("Content-Type", kind)
	if attempt > 0 {
		r.Header.Set("X-Slack-Retry-Num", strconv.Itoa(attempt))
		r.Header.Set("X-Slack-Retry-Reason", "http_error")
	}
	client := *s.o.Client
	client.Timeout = patience
	resp, err := client.Do(r)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20)) // the status says all
	return resp.StatusCode/100 == 2
}

// Sign puts Slack's signature over body at a time into h.
func Sign(h http.Header, secret string, body []byte, at time.Time) {
	stamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = fmt.Fprintf(mac, "v0:%s:%s", stamp, body) // a hash never fails
	h.Set("X-Slack-Request-Timestamp", stamp)
	h.Set("X-Slack-Signature", "v0="+hex.EncodeToString(mac.Sum(nil)))
}

// Verify asks the app at its address to echo a challenge, as Slack does when the
// address is set.
func (a *WorkspaceApp) Verify(ctx context.Context) (string, error) {
	body := encode(map[string]any{"type": "url_verification", "challenge": "a-challenge", "token": "old-verification-token"})
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, a.profile.EventsURL, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	Sign(r.Header, a.profile.SigningSecret, body, time.Now())
	r.Header.Set("Content-Type", "application/json")
	resp, err := a.of.o.Client.Do(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
	return string(said), err
}
