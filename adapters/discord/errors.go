package discord

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/httpx"
)

// refusal is Discord's own form of error.
type refusal struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Errors  json.RawMessage `json:"errors"`
}

// judge says what a failed call means: [adapters.JudgeOutcome] from what was seen, made
// finer by what Discord says in its own form of error.
func (c *apiClient) judge(r route, seen httpx.CallOutcome, err error) error {
	out := &adapters.Error{Op: r.op, Status: seen.Status}
	var said refusal
	own := seen.Whole != nil && json.Unmarshal(seen.Whole, &said) == nil && said.Message != "" && seen.Status/100 != 2
	_, out.Kind = adapters.JudgeOutcome(adapters.CallOutcome{Written: seen.Written, Status: seen.Status, Own: own})
	if seen.Status/100 == 2 {
		out.Kind = adapters.Unknown // accepted, but what it became cannot be read
	}
	if out.Kind == adapters.Limited {
		out.RetryAfter, _ = retryAfter(seen)
	}
	if own {
		if out.Kind = refusedAs(out.Kind, seen.Status, said.Code); out.Kind != adapters.Limited {
			out.RetryAfter = 0
		}
		out.Err = &refusedError{code: said.Code, text: c.token.Scrub(strings.TrimRight(fmt.Sprintf("HTTP %d %d %s %s", seen.Status, said.Code, said.Message, short(said.Errors)), " "))}
		return out
	}
	switch {
	case seen.Status == http.StatusUnauthorized: // only Discord looks at the token
		out.Kind = adapters.Unauthorized
	case seen.Status == http.StatusNotFound && r.method == http.MethodGet:
		out.Kind = adapters.NoTarget // nothing happens where something is only read
	case seen.Status/100 == 4 && out.Kind != adapters.NotSent && out.Kind != adapters.Limited:
		// Discord says why in JSON. A page without it comes from something in
		// between, which cannot tell what happened behind it.
		out.Kind = adapters.Unknown
	}
	secret := c.token
	if r.bare {
		secret = adapters.SecretString(r.path)
	}
	out.Err = httpx.RedactError(cmp.Or(err, errUnread), seen.Status, secret)
	if accepted(seen) {
		out.Err = fmt.Errorf("%w: %w", errUnread, out.Err)
		if r.method == http.MethodGet && json.Valid(seen.Whole) {
			out.Kind = adapters.Invalid // nothing happened, and it would be answered alike again
		}
	}
	return out
}

// errUnread means that a call was accepted and its answer is in no form we know.
var errUnread = errors.New("the answer cannot be read")

// short returns raw, cut where it grows long.
func short(raw json.RawMessage) string {
	const most = 500
	if len(raw) <= most {
		return string(raw)
	}
	return string(raw[:most]) + "…"
}

// Codes of Discord's errors (docs.discord.com, topics/opcodes-and-status-codes).
const (
	unknownMessage     = 10008
	unknownWebhook     = 10015
	invalidForm        = 50035
	botsOnly           = 20002
	missingAccess      = 50001
	missingPermissions = 50013
	threadArchived     = 50083
	unreadHistory      = 160002 // "Cannot reply without permission to read message history"
	threadLocked       = 160005
	oldEdits           = 30046 // "Maximum number of edits to messages older than 1 hour reached. Try again later"
)

// passing are the codes of refusals that are none of the message: what Discord bounds
// or has switched off for a while, and what Cloudflare in front of it does not let through
// (40333), whatever the status says.
var passing = []int{20016, 20022, 20028, 20029, 40004, 40062, 40333, 110001, 130000}

// refusedAs returns the kind of a refusal that Discord itself gave.
func refusedAs(kind adapters.FailureKind, status, code int) adapters.FailureKind {
	switch {
	case code == oldEdits:
		return adapters.Invalid // the error has no duration, and later messages of the channel would wait for this one
	case status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout:
		return kind
	case status == http.StatusUnauthorized:
		return adapters.Unauthorized
	case slices.Contains(passing, code):
		return adapters.NotSent
	case code == threadArchived, code == threadLocked:
		return adapters.NoTarget // the rest of the chat is as open as before
	case status == http.StatusForbidden, code == missingAccess, code == missingPermissions, code == botsOnly:
		return adapters.Forbidden
	case status == http.StatusNotFound:
		return adapters.NoTarget
	default:
		return adapters.Invalid
	}
}

// refusedError is what Discord said, in words free of the token.
type refusedError struct {
	code int
	text string
}

// Error returns the words.
func (e *refusedError) Error() string { return e.text }

// refusedWith reports whether err is a refusal with one of the codes.
func refusedWith(err error, codes ...int) bool {
	e, ok := errors.AsType[*refusedError](err)
	return ok && slices.Contains(codes, e.code)
}
