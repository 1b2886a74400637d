package discord

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/httpx"
)

var _ adapters.WebhookReceiver = (*Client)(nil)

const (
	// hookLimit is a little less than the three seconds that Discord waits.
	hookLimit = 2800 * time.Millisecond
	// hookWindow is how old, or how far ahead, the time of a call may be.
	hookWindow = 5 * time.Minute
)

// interactionCall is an interaction that came by a call of Discord's.
type interactionCall struct {
	raw      json.RawMessage
	recorded chan error // answered once
}

// HookPath returns where Discord was told to call with interactions; empty when
// they come over the gateway.
func (c *Client) HookPath() string { return c.hookPath }

// ServeHTTP takes one interaction that Discord calls us with. Only the raw bytes
// are looked at before the signature is proved, by the key that Discord names with
// our application. It answers after the sink has recorded what came, also when it
// was recorded before, and 503 when that could not be done in time.
func (c *Client) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, ok := httpx.ReadProvedBody(w, r, c.refuse, []string{stamped, signed}, func(body []byte) error { return c.proved(r.Header, body, time.Now()) })
	if !ok {
		return
	}
	var i interaction
	if err := adapters.DecodeFields(body, &i, "type"); err != nil {
		http.Error(w, "not an interaction", http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), hookLimit)
	defer cancel()
	c.presses.open(i, true)
	defer c.commands.open(i)()
	if i.Type != asked {
		if err := c.handIn(ctx, body); err != nil {
			c.log.Warn("interaction not recorded", "update", i.ID, "error", err)
			http.Error(w, "not recorded", http.StatusServiceUnavailable)
			return
		}
	}
	answer, known := i.firstAnswer()
	if said := c.presses.close(i.ID); said != "" {
		answer = firstAnswer{sayMessage, &firstSaid{Content: said, Flags: int(discordgo.MessageFlagsEphemeral)}}
	}
	if !known {
		http.Error(w, "a kind of interaction we do not read", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // its hanging up is its own affair
}

// The headers that prove a call.
const signed, stamped = "X-Signature-Ed25519", "X-Signature-Timestamp"

// refuse notes a call that was refused.
func (c *Client) refuse(reason string) { c.refused.Note(c.log, reason) }

// RefusedCalls returns how many calls were refused since the start.
func (c *Client) RefusedCalls() int64 { return c.refused.All() }

// proved checks Discord's signature over the time and the raw body, and the five
// minutes that a call is good for.
func (c *Client) proved(h http.Header, body []byte, now time.Time) error {
	self := c.self.Load()
	if self == nil || len(self.key) != ed25519.PublicKeySize {
		return errors.New("discord has not told the key of our application")
	}
	at, err := strconv.ParseInt(h.Get(stamped), 10, 64)
	if err != nil {
		return errors.New("the time is none")
	}
	if age := now.Sub(time.Unix(at, 0)); age > hookWindow || age < -hookWindow {
		return errors.New("the time is not now")
	}
	signature, err := hex.DecodeString(h.Get(signed))
	if err != nil || !ed25519.Verify(self.key, append([]byte(h.Get(stamped)), body...), signature) {
		return errors.New("the signature is wrong")
	}
	return nil
}

// handIn gives an interaction to the Receive that runs and waits until it is
// recorded.
func (c *Client) handIn(ctx context.Context, raw json.RawMessage) error {
	r := c.receives.Load()
	if r == nil {
		return errors.New("nothing receives at the moment")
	}
	one := interactionCall{raw, make(chan error, 1)}
	select {
	case r.calls <- one:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case err := <-one.recorded:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// takeCalled records an interaction that came by a call, and says so.
func (r *receiver) takeCalled(ctx context.Context, one interactionCall) error {
	soon, cancel := context.WithTimeout(ctx, hookLimit)
	defer cancel()
	updates, err := adapters.ReadGuarded(r.client.log, "interaction", one.raw, func() ([]adapters.Update, error) { return r.readInteraction(soon, one.raw) })
	if err != nil { // Discord did not answer where it was; the person has to click again
		one.recorded <- err
		return nil
	}
	err = r.record(ctx, updates)
	one.recorded <- err
	return err
}
