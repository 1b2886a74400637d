package telegram

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/httpx"
)

// judge says what a failed call means: [adapters.JudgeOutcome] from what was seen, made
// finer by what Telegram says in its own form of error.
func (c *Client) judge(method string, seen httpx.CallOutcome, err error) error {
	out := &adapters.Error{Op: method, Status: seen.Status}
	refusal, ours := errors.AsType[*tgbotapi.Error](err)
	if ours && refusal.Code == 0 { // the library leaves it out of what it says of an upload
		refusal.Code = seen.Status
	}
	status := seen.Status
	if ours && status < 500 {
		status = refusal.Code // some servers answer 200 and say the code in the body
	}
	_, out.Kind = adapters.JudgeOutcome(adapters.CallOutcome{Written: seen.Written, Status: status, Own: ours})
	if !ours {
		judgeForeign(c.token, out, seen, err)
		return out
	}
	judgeRefusal(out, refusal)
	out.Err = errors.New(c.token.Scrub(fmt.Sprintf("%d %s", refusal.Code, refusal.Message)))
	return out
}

// judgeForeign judges what is not Telegram's own error: no answer, half an
// answer, a page of something in between.
func judgeForeign(token adapters.SecretString, out *adapters.Error, seen httpx.CallOutcome, err error) {
	switch {
	case out.Kind == adapters.Limited:
		seconds, _ := strconv.Atoi(seen.Header.Get("Retry-After"))
		out.RetryAfter = time.Duration(max(seconds, 0)) * time.Second
	case seen.Status >= 400 && seen.Status < 500 && out.Kind != adapters.NotSent:
		// Telegram says why in JSON. A page without it comes from something in
		// between, which cannot tell what happened behind it.
		out.Kind = adapters.Unknown
	}
	out.Err = httpx.RedactError(err, seen.Status, token)
}

// judgeRefusal reads Telegram's own error.
func judgeRefusal(out *adapters.Error, e *tgbotapi.Error) {
	said := strings.ToLower(e.Message)
	switch {
	case e.Code >= 500: // JudgeOutcome has said what that means
	case e.Code == http.StatusTooManyRequests:
		out.Kind, out.RetryAfter = adapters.Limited, retryAfter(e.RetryAfter, said)
	case e.MigrateToChatID != 0:
		out.Kind, out.MovedTo = adapters.Moved, formatID(e.MigrateToChatID)
	case e.Code == http.StatusUnauthorized, e.Code == http.StatusNotFound && said == "not found":
		// 404 without more words is how Telegram answers a token it cannot even parse.
		out.Kind = adapters.Unauthorized
	case e.Code == http.StatusForbidden, saysAny(said, noRight):
		out.Kind = adapters.Forbidden
	case e.Code == http.StatusBadRequest && saysAny(said, noTarget):
		out.Kind = adapters.NoTarget
	}
}

// What Telegram writes in a 400, lower case, as its server's source has it.
var (
	noTarget = []string{
		"chat not found", "user not found", "message thread not found", "topic_deleted", "topic_closed", "topic_id_invalid",
		"message to be replied not found", "message to reply not found", "replied message not found",
		"message to edit not found", "message to delete not found", "message to react not found", "message not found",
		"message_id_invalid", "group chat was deactivated", "chat was deleted", "peer_id_invalid", "chat_id_invalid",
	}
	noRight = []string{
		"not enough rights", "have no rights", "have no write access", "can't access the chat", "need administrator rights",
		"chat_write_forbidden", "chat_forbidden", "chat_restricted", "chat_guest_send_forbidden", "channel_private",
		"chat_send_", // CHAT_SEND_PLAIN_FORBIDDEN and its like, for each kind of message
		"user_banned_in_channel", "chat_admin_required", "user_is_blocked", "you_blocked_user", "input_user_deactivated",
		"voice_messages_forbidden", "message can't be edited", "message can't be deleted",
	}
)

// saysAny reports whether text holds one of words.
func saysAny(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// retryAfter returns how long a 429 asks to wait: its parameter, else the words
// "retry after N" at the end of its text.
func retryAfter(seconds int, said string) time.Duration {
	if seconds <= 0 {
		if _, n, ok := strings.Cut(said, "retry after "); ok {
			seconds, _ = strconv.Atoi(n)
		}
	}
	return time.Duration(max(seconds, 0)) * time.Second
}

// refusedFor reports whether err is a definite refusal whose text holds words.
func refusedFor(err error, words ...string) bool {
	e, ok := errors.AsType[*adapters.Error](err)
	return ok && (e.Kind == adapters.Invalid || e.Kind == adapters.NoTarget) && e.Err != nil &&
		saysAny(strings.ToLower(e.Err.Error()), words)
}
