package commands

import (
	"context"
	"log/slog"
	"regexp"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/spaces"
)

// The commands by which owners decide about people who ask to be let in. They are in no
// menu: the notice says how to write them.
const (
	CommandLetIn  = "letin"
	CommandRefuse = "refuse"
)

// A PairingDesk lets in people who ask to be, and refuses them.
type PairingDesk interface {
	// DecidePairing does what an owner decided about a request, once, and returns its
	// outcome. done is false when the request waits no more, or never did on this account.
	DecidePairing(ctx context.Context, d spaces.PairingDecision) (outcome string, done bool, err error)
}

// pairingWords is a message or a button that decides about a request: "letin K7QDX2AB".
var pairingWords = regexp.MustCompile(`(?i)^[/!]?(letin|refuse)\s+([a-z2-9]{8})[.!]?$`)

// parsePairing returns the command of a message that decides about a request to be let in;
// nil of another one. It needs no mention. An id has a digit: "refuse anything" is talk.
func parsePairing(text string) *adapters.ChatCommand {
	m := pairingWords.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil || !strings.ContainsAny(m[2], "23456789") {
		return nil
	}
	return &adapters.ChatCommand{Name: strings.ToLower(m[1]), Args: strings.ToUpper(m[2])}
}

// What people are told whose decision about a request to be let in does not count.
const (
	onlyOwners  = "Only an owner may decide who is let in."
	notHere     = "Decide that in your own chat with me."
	pairingOver = "That request is over: it was decided already, or its time has passed. A person who still wants to be let in writes to me again."
	noPairing   = "Write `letin` or `refuse` and what the request shows behind it."
)

// decidePairing does what a person decided about a request to be let in, by a button or in
// words. It returns what to answer, and whether it was this decision that counted.
func decidePairing(ctx context.Context, a *CommandHandler, q CommandRequest, lg *slog.Logger) (text string, done bool) {
	if a.Pairings == nil {
		return "", false
	}
	role, err := a.Roles.Role(ctx, q.Who)
	switch {
	case err != nil:
		lg.Error("role of who decides about a pairing", "err", err)
		return notStored, false
	case role < spaces.OfOwner || q.Who.Kind != spaces.Human:
		return onlyOwners, false
	case !q.Direct:
		return notHere, false
	}
	c := parsePairing(q.Command + " " + q.Args)
	if c == nil {
		return noPairing, false
	}
	d := spaces.PairingDecision{Request: c.Args, Account: q.Account, LetIn: c.Name == CommandLetIn, By: q.Who, At: q.At}
	text, done, err = a.Pairings.DecidePairing(ctx, d)
	switch {
	case err != nil:
		lg.Error("pairing not decided", "request", d.Request, "err", err)
		if !done {
			return notStored, false
		}
	case !done:
		return pairingOver, false
	}
	return text, true
}
