package slack

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/httpx"
)

// judge says what a failed call means: [adapters.JudgeOutcome] from what was seen, made
// finer by Slack's own code, which comes with status 200.
func (c *apiClient) judge(method string, seen httpx.CallOutcome, said apiStatus, err error) error {
	out := &adapters.Error{Op: method, Status: seen.Status}
	own := said.OK != nil && said.Error != ""
	_, out.Kind = adapters.JudgeOutcome(adapters.CallOutcome{Written: seen.Written, Status: seen.Status, Own: own})
	switch {
	case own:
		if kind := kindOf(said.Error); seen.Status < http.StatusInternalServerError || kind == adapters.Unknown {
			out.Kind = kind // a server that fails says nothing of the chat
		}
		err = errors.New(said.words())
	case seen.Status == http.StatusTooManyRequests:
	case seen.Status >= 300 && seen.Status < 500:
		// Slack says why in JSON. A page without it comes from something in between,
		// which cannot tell what happened behind it.
		out.Kind = adapters.Unknown
	}
	if out.Kind == adapters.Limited {
		seconds, _ := strconv.Atoi(seen.Header.Get("Retry-After")) // the header is missing in some answers
		out.RetryAfter = time.Duration(max(seconds, 0)) * time.Second
	}
	out.Err = c.scrub(seen.Status, err)
	return out
}

// words returns what Slack says in one line.
func (v apiStatus) words() string {
	s := v.Error
	if v.Needed != "" {
		s += " (needs the scope " + v.Needed + ")"
	}
	if len(v.Metadata.Messages) > 0 {
		s += ": " + strings.Join(v.Metadata.Messages[:min(len(v.Metadata.Messages), 3)], "; ")
	}
	return s
}

// Slack's codes by what they mean for the caller (docs.slack.dev/reference/methods,
// the tables of errors). Every other code is a definite no: Invalid.
var codes = map[adapters.FailureKind][]string{
	adapters.Limited: {"ratelimited", "rate_limited", "rate_limit_exceeded"},
	adapters.Unauthorized: {
		"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "not_allowed_token_type",
		"user_removed_from_team", "invalid_app_id", "app_not_installed", "team_not_found", "two_factor_setup_required",
	},
	adapters.NoTarget: {
		"channel_not_found", "thread_not_found", "message_not_found", "user_not_found", "users_not_found", "user_not_in_channel",
		"cannot_reply_to_message", "invalid_thread_ts", "bad_timestamp", "no_item_specified", "item_not_found",
		"restricted_action_non_threadable_channel", "restricted_action_thread_locked", "thread_locked", // the chat is as open as before
	},
	adapters.Forbidden: {
		"not_in_channel", "is_archived", "missing_scope", "no_permission", "restricted_action", "restricted_action_read_only_channel",
		"restricted_action_thread_only_channel",
		"messages_tab_disabled", "access_denied", "ekm_access_denied", "cant_update_message",
		"cant_delete_message", "edit_window_closed", "user_disabled", "cannot_dm_bot", "team_access_not_granted",
		"accesslimited", "as_user_not_supported", "not_reactable", "link_disabled", "no_access", "is_inactive",
		"posting_to_channel_denied", "compliance_exports_prevent_deletion",
	},
	adapters.NotSent: { // which pass
		"team_added_to_org", "org_login_required", "request_timeout", "external_channel_migrating", "message_limit_exceeded",
		"service_unavailable",
	},
	// Of these Slack says that some aspect of the operation may have succeeded
	// (docs.slack.dev/reference/methods/chat.postMessage, errors).
	adapters.Unknown: {"fatal_error", "internal_error", "update_failed"},
}

// kindOf returns what a code of Slack's means.
func kindOf(code string) adapters.FailureKind {
	for kind, list := range codes {
		if slices.Contains(list, code) {
			return kind
		}
	}
	return adapters.Invalid
}

// scrub keeps of err only its words without secrets, and whether the context
// ended it.
func (c *apiClient) scrub(status int, err error, secrets ...adapters.SecretString) error {
	if status == http.StatusOK {
		status = 0 // Slack's own codes come with it
	}
	return httpx.RedactError(err, status, append(secrets, c.o.BotToken, c.o.AppToken, c.o.SigningSecret)...)
}

// refusedFor reports whether err is Slack's definite refusal with one of codes.
func refusedFor(err error, codes ...string) bool {
	e, ok := errors.AsType[*adapters.Error](err)
	if !ok || e.Err == nil || e.Kind == adapters.Unknown {
		return false
	}
	code, _, _ := strings.Cut(e.Err.Error(), " ")
	return slices.Contains(codes, strings.TrimSuffix(code, ":"))
}
