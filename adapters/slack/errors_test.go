package slack

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

// answering is a server that gives every request the same answer.
type answering struct {
	status int
	retry  string
	body   string
}

func (a answering) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	if a.retry != "" {
		w.Header().Set("Retry-After", a.retry)
	}
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, a.body) // the client's hanging up is its own affair
}

// PLATFORMS 2.1, DELIVERY 2.4: a limit comes as a status or as a code; Slack's codes
// are a definite no, and a page without one says nothing of what became of the send.
func TestAnswersMeanWhatTheyMean(t *testing.T) {
	no := func(code string) answering { return answering{200, "", `{"ok":false,"error":"` + code + `"}`} }
	for name, c := range map[string]struct {
		answering
		want  adapters.FailureKind
		after time.Duration
	}{
		"a limit by its status":           {answering{429, "7", `{"ok":false,"error":"ratelimited"}`}, adapters.Limited, 7 * time.Second},
		"a limit of what stands between":  {answering{429, "30", "<html>slow down</html>"}, adapters.Limited, 30 * time.Second},
		"a limit by its code":             {answering{200, "3", `{"ok":false,"error":"ratelimited"}`}, adapters.Limited, 3 * time.Second},
		"a limit without a time":          {no("rate_limited"), adapters.Limited, 0},
		"a limit in the past":             {answering{429, "-5", "{}"}, adapters.Limited, 0},
		"a dead token":                    {no("token_revoked"), adapters.Unauthorized, 0},
		"a token that has run out":        {no("token_expired"), adapters.Unauthorized, 0},
		"Socket Mode is off":              {no("link_disabled"), adapters.Forbidden, 0},
		"no such channel":                 {no("channel_not_found"), adapters.NoTarget, 0},
		"no such thread":                  {no("thread_not_found"), adapters.NoTarget, 0},
		"not in the channel":              {no("not_in_channel"), adapters.Forbidden, 0},
		"an archived channel":             {no("is_archived"), adapters.Forbidden, 0},
		"a missing scope":                 {no("missing_scope"), adapters.Forbidden, 0},
		"a closed Messages tab":           {no("messages_tab_disabled"), adapters.Forbidden, 0},
		"a channel that moves just now":   {no("external_channel_migrating"), adapters.NotSent, 0},
		"a workspace that moves just now": {no("org_login_required"), adapters.NotSent, 0},
		"too many from the workspace":     {no("message_limit_exceeded"), adapters.NotSent, 0},
		"an edit that failed in Slack":    {no("update_failed"), adapters.Unknown, 0},
		"a message that may not go":       {no("compliance_exports_prevent_deletion"), adapters.Forbidden, 0},
		"reactions in a locked thread":    {no("thread_locked"), adapters.NoTarget, 0},
		"other blocks than it had":        {no("block_mismatch"), adapters.Invalid, 0},
		"too long":                        {no("msg_too_long"), adapters.Invalid, 0},
		"a code of tomorrow":              {no("something_new"), adapters.Invalid, 0},
		"a no with its reason and a 400":  {answering{400, "", `{"ok":false,"error":"is_archived"}`}, adapters.Forbidden, 0},
		"Slack's own trouble":             {no("internal_error"), adapters.Unknown, 0},
		"a 503":                           {answering{503, "", "upstream"}, adapters.NotSent, 0},
		"a 502":                           {answering{502, "", "<html>bad gateway</html>"}, adapters.Unknown, 0},
		"no service, with a 500":          {answering{500, "", `{"ok":false,"error":"service_unavailable"}`}, adapters.NotSent, 0},
		"half done, with a 500":           {answering{500, "", `{"ok":false,"error":"fatal_error"}`}, adapters.Unknown, 0},
		"a 500 with a code":               {answering{500, "", `{"ok":false,"error":"is_archived"}`}, adapters.NotSent, 0},
		"a 403 of what stands between":    {answering{403, "", "<html>forbidden</html>"}, adapters.Unknown, 0},
		"a redirect":                      {answering{302, "", ""}, adapters.Unknown, 0},
		"no JSON":                         {answering{200, "", "<html>"}, adapters.Unknown, 0},
		"neither yes nor no":              {answering{200, "", "{}"}, adapters.Unknown, 0},
		"a yes without a message":         {answering{200, "", `{"ok":true}`}, adapters.Unknown, 0},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(c.answering)
			defer server.Close()
			client, err := New(Options{BotToken: "xoxb-1", AppToken: "xapp-1", APIURL: server.URL, HTTPClient: server.Client()})
			if err != nil {
				t.Fatal(err)
			}
			_, err = client.Send(t.Context(), adapters.OutgoingMessage{Chat: "C1", Text: "hello", Key: "k"})
			told, ok := errors.AsType[*adapters.Error](err)
			if !ok || told.Kind != c.want || told.RetryAfter != c.after {
				t.Errorf("sending ends with %v, want %s, to be tried again after %s", err, c.want, c.after)
			}
		})
	}
}

// Every code represents one thing: kindOf looks in no order.
func TestEveryCodeMeansOneThing(t *testing.T) {
	seen := map[string]adapters.FailureKind{}
	for kind, list := range codes {
		for _, code := range list {
			if other, twice := seen[code]; twice {
				t.Errorf("%s means %s and %s", code, other, kind)
			}
			seen[code] = kind
		}
	}
	if len(seen) < 40 {
		t.Errorf("%d codes are known", len(seen))
	}
}
