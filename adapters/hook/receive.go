package hook

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/httpx"
)

// recordLimit is how long a call waits for its event to be recorded.
const recordLimit = 10 * time.Second

// A delivery is an event on its way to the sink.
type delivery struct {
	update adapters.Update
	taken  chan error // takes one answer
}

// A callError is what a caller is told, with the status of the answer.
type callError struct {
	status int
	what   string
}

// Error returns what the caller is told.
func (e *callError) Error() string { return e.what }

// HookPath returns the path of the hook.
func (c *Client) HookPath() string { return PathPrefix + c.o.Name }

// RefusedCalls returns how many calls did not prove where they came from.
func (c *Client) RefusedCalls() int64 { return c.refused.All() }

// ServeHTTP takes one event. It answers in JSON: 202 with the id of the message once that is
// recorded, also when it was recorded before; 200 when the template makes no message of it;
// 4xx with what to change; 429 and 503 when the caller should try again with the same id.
func (c *Client) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, err := c.take(w, r)
	refusal, refused := errors.AsType[*callError](err)
	switch {
	case errors.Is(err, errIgnored):
		answer(w, http.StatusOK, map[string]string{"ignored": err.Error()})
	case refused:
		switch refusal.status {
		case http.StatusUnauthorized:
			w.Header().Set("Www-Authenticate", "Bearer")
		case http.StatusMethodNotAllowed:
			w.Header().Set("Allow", http.MethodPost)
		case http.StatusTooManyRequests, http.StatusServiceUnavailable:
			w.Header().Set("Retry-After", "2")
		}
		answer(w, refusal.status, map[string]string{"error": refusal.what})
	case err != nil:
		c.log.Warn("event not recorded", "event", id, "error", err)
		w.Header().Set("Retry-After", "5")
		answer(w, http.StatusServiceUnavailable, map[string]string{"error": "the event could not be recorded: send it again with the same id"})
	default:
		answer(w, http.StatusAccepted, map[string]string{"id": id})
	}
}

// answer writes one JSON object; that the caller hangs up is its own affair.
func answer(w http.ResponseWriter, status int, body map[string]string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// take records the event of a call and returns its id.
func (c *Client) take(w http.ResponseWriter, r *http.Request) (string, error) {
	p, err := c.proofOf(r.Header)
	if err != nil {
		c.refused.Note(c.log, err.Error())
		return "", &callError{http.StatusUnauthorized, err.Error()}
	}
	body, refused := httpx.ProveCall(w, r, p.headers, p.check)
	if refused != nil {
		c.refused.Note(c.log, refused.Reason)
		return "", &callError{refused.Status, refused.Reason}
	}
	if !c.pace.Allow() {
		return "", &callError{http.StatusTooManyRequests, "too many events: send this one again later"}
	}
	id := cmp.Or(p.id, c.o.NewID())
	if !isName(id) || strings.HasPrefix(id, replyPrefix) {
		return "", &callError{http.StatusBadRequest, fmt.Sprintf("the id of the event has more than %d bytes, characters that are not shown, or begins with %s", maxName, replyPrefix)}
	}
	e, err := readEvent(r.Header.Get("Content-Type"), body, c.text)
	if errors.Is(err, errIgnored) {
		return "", err
	}
	if err != nil {
		return "", &callError{http.StatusBadRequest, err.Error()}
	}
	e.Chat, e.From = cmp.Or(e.Chat, DefaultChat), cmp.Or(e.From, c.o.Name)
	if c.o.Chats != nil && !slices.Contains(c.o.Chats(), e.Chat) {
		return "", &callError{http.StatusNotFound, fmt.Sprintf("no space has the chat %s: the operator adds %s:%s to the chats of one", e.Chat, c.o.Name, e.Chat)}
	}
	if !c.receiving.Load() {
		return id, errors.New("the hook does not receive now")
	}
	files, err := c.store(&e)
	if err != nil {
		return id, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), recordLimit)
	defer cancel()
	return id, c.deliver(ctx, c.update(id, e, files))
}

// store puts the files of an event where [Client.Fetch] finds them.
func (c *Client) store(e *event) ([]adapters.IncomingFile, error) {
	files, err := e.contents()
	if err != nil {
		return nil, &callError{http.StatusBadRequest, err.Error()}
	}
	var kept []adapters.IncomingFile
	for _, f := range files {
		if c.o.Files == nil {
			return nil, &callError{http.StatusUnprocessableEntity, errNoFiles.Error() + ": send the event without files and data"}
		}
		hash, size, err := c.o.Files.Put(bytes.NewReader(f.content))
		if err != nil {
			return nil, fmt.Errorf("store a file: %w", err)
		}
		kept = append(kept, adapters.IncomingFile{Kind: f.kind(), ID: hash, Name: f.name, MIME: f.media, Size: size})
	}
	return kept, nil
}

// update returns an event as the contract tells of it. A program is known within its chat, by
// the hook and its name: the hook vouches for it, as a chat does for who speaks as the chat.
func (c *Client) update(id string, e event, files []adapters.IncomingFile) adapters.Update {
	return adapters.Update{
		ID: id, Key: "event:" + id,
		Chat:   adapters.Chat{ID: e.Chat, Kind: adapters.Group},
		Thread: adapters.Thread{ID: e.Thread, Title: e.Thread},
		From:   adapters.Person{ID: c.o.Name + "/" + e.From, Scope: e.Chat, Kind: adapters.Service, Name: e.From},
		At:     time.Now(), Body: e.message(id, files),
	}
}

// deliver gives an update to the Receive that runs and waits until it is recorded.
func (c *Client) deliver(ctx context.Context, u adapters.Update) error {
	d := delivery{update: u, taken: make(chan error, 1)}
	select {
	case c.events <- d:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case err := <-d.taken:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
