package slack

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/adapters/fake"
)

// maxBody bounds one request.
const maxBody = 32 << 20

// A call is one request of the Web API under way.
type call struct {
	of     *Server
	app    *WorkspaceApp
	method string
	args   url.Values
	base   string // by which the caller reaches us
	entry  APICall
}

// An answer is what a method says: a code of Slack's, or ok with fields.
type answer struct {
	err    string
	fields map[string]any
	retry  int // seconds; makes it a 429
}

func ok(fields map[string]any) answer { return answer{fields: fields} }

func refuse(code string) answer { return answer{err: code} }

// serveAPI plays one call: who calls, the pace, the fault that may meet it, its
// effect, the ledger, the answer.
func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request, method string) {
	c, err := s.read(w, r, method)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if refused := s.admit(c, r); refused.err != "" {
		c.finish(w, refused)
		return
	}
	if left := s.pace.early(c, s.o.Limits); left > 0 {
		c.entry.Early = left
		c.finish(w, answer{err: "ratelimited", retry: int((left + time.Second - 1) / time.Second)})
		return
	}
	f, hit := s.faults.Hit(func(f fake.CallFault) bool { return f.Method == "" || f.Method == method })
	switch {
	case !hit:
		c.finish(w, c.apply())
	case f.Do == fake.Delay:
		c.entry.Fault = f.Do
		if fake.WaitUnlessGone(r, f.Wait) {
			c.finish(w, c.apply())
			return
		}
		s.ledger.call(c.entry)
	default:
		c.fail(w, r, f)
	}
}

// read reads a request's arguments: a form, or JSON.
func (s *Server) read(w http.ResponseWriter, r *http.Request, method string) (*call, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return nil, err
	}
	c := &call{of: s, method: method, args: r.URL.Query(), base: fake.RequestOrigin(r), entry: APICall{At: time.Now(), Method: method}}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind == "application/json" && len(body) > 0 {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(body, &fields); err != nil {
			return nil, errors.New("invalid_json")
		}
		for name, raw := range fields {
			c.args.Set(name, bareValue(raw))
		}
		return c, nil
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, errors.New("invalid_form_data")
	}
	maps.Copy(c.args, form)
	return c, nil
}

// bareValue returns a JSON value as a form has it.
func bareValue(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// needs are the scopes that a method wants of a bot token.
var needs = map[string][]string{
	"chat.postMessage": {"chat:write"}, "chat.postEphemeral": {"chat:write"}, "chat.update": {"chat:write"}, "chat.delete": {"chat:write"},
	"reactions.add": {"reactions:write"}, "reactions.remove": {"reactions:write"}, "reactions.get": {"reactions:read"},
	"users.info": {"users:read"}, "users.list": {"users:read"}, "files.info": {"files:read"},
	"files.getUploadURLExternal": {"files:write"}, "files.completeUploadExternal": {"files:write"},
}

// admit finds out who calls, and whether they may.
func (s *Server) admit(c *call, r *http.Request) answer {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if token == "" {
		token = c.args.Get("token")
	}
	if token == "" {
		return refuse("not_authed")
	}
	c.args.Del("token")
	for _, a := range s.Apps() {
		bot, app := token == a.profile.BotToken, token == a.profile.AppToken
		if !bot && !app {
			continue
		}
		s.mu.Lock()
		revoked := a.revoked
		s.mu.Unlock()
		c.app, c.entry.App = a, a.ID
		switch {
		case revoked:
			return refuse("token_revoked")
		case app != (c.method == "apps.connections.open") && c.method != "auth.test" && c.method != "api.test":
			return refuse("not_allowed_token_type")
		case bot:
			for _, scope := range needs[c.method] {
				if !a.has(scope) {
					return a.lacks(scope)
				}
			}
		}
		c.describe()
		return answer{}
	}
	return refuse("invalid_auth")
}

// has reports whether the app's bot token has a scope; one without a list has all.
func (a *WorkspaceApp) has(scope string) bool {
	return len(a.profile.Scopes) == 0 || slices.Contains(a.profile.Scopes, scope)
}

// lacks refuses a call for want of a scope.
func (a *WorkspaceApp) lacks(scope string) answer {
	return answer{err: "missing_scope", fields: map[string]any{"needed": scope, "provided": strings.Join(a.profile.Scopes, ",")}}
}

// scope returns the scope for reading ("read") the channel, or its messages
// ("history").
func (c *WorkspaceChannel) scope(what string) string {
	return map[string]string{public: "channels:", private: "groups:", im: "im:", mpim: "mpim:"}[c.kind] + what
}

// describe notes what the call is about.
func (c *call) describe() {
	c.entry.Channel = cmp.Or(c.args.Get("channel"), c.args.Get("channel_id"))
	c.entry.Thread = c.args.Get("thread_ts")
	c.entry.Target = c.args.Get("ts")
	c.entry.Key = keyOf(json.RawMessage(c.args.Get("metadata")))
	for _, name := range []string{"markdown_text", "blocks", "text", "status"} {
		if c.entry.Text == "" && c.args.Get(name) != "[]" {
			c.entry.Text = c.args.Get(name)
		}
	}
}

// finish answers and notes it.
func (c *call) finish(w http.ResponseWriter, a answer) {
	status, body := a.bytes()
	scopes := AllScopes
	if c.app != nil && len(c.app.profile.Scopes) > 0 {
		scopes = strings.Join(c.app.profile.Scopes, ",")
	} else if c.app != nil && c.app.isAgent() {
		scopes += ",assistant:write"
	}
	w.Header().Set("X-OAuth-Scopes", scopes)
	c.note(a, status)
	c.of.ledger.call(c.entry)
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if a.retry > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(a.retry))
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client's hanging up is its own affair
}

// AllScopes are those of a bot token that was given no others, of an app that is no agent.
const AllScopes = "app_mentions:read,channels:history,channels:read,chat:write,chat:write.customize,commands,files:read,files:write," +
	"groups:history,groups:read,im:history,im:read,im:write,mpim:history,mpim:read,pins:read,reactions:read,reactions:write,users:read"

func (c *call) note(a answer, status int) {
	c.entry.Status, c.entry.Error, c.entry.Applied = status, a.err, a.err == ""
	if ts, made := a.fields["ts"].(string); made && a.err == "" {
		c.entry.Message = ts
	}
}

func (a answer) bytes() (status int, body []byte) {
	fields := map[string]any{"ok": a.err == ""}
	if a.err != "" {
		fields["error"] = a.err
	}
	maps.Copy(fields, a.fields)
	if a.retry > 0 {
		return http.StatusTooManyRequests, encode(fields)
	}
	return http.StatusOK, encode(fields)
}

// fail answers as the fault says.
func (c *call) fail(w http.ResponseWriter, r *http.Request, f fake.CallFault) {
	c.entry.Fault = f.Do
	var done answer
	if f.Apply || f.Do == fake.Truncate {
		done = c.apply()
		c.note(done, 0)
	}
	switch f.Do {
	case fake.Refuse:
		refused := answer{err: f.Description, retry: f.RetryAfter}
		switch {
		case f.RetryAfter > 0:
			refused.err = "ratelimited"
			c.of.pace.hold(c, time.Duration(f.RetryAfter)*time.Second)
		case f.Status >= 500:
			c.html(w, f.Status)
			return
		case refused.err == "":
			refused.err = "internal_error"
		}
		c.finish(w, refused)
	case fake.HTML:
		status := f.Status
		if status == 0 {
			status = http.StatusBadGateway
		}
		c.html(w, status)
	case fake.Garbage:
		c.entry.Status = http.StatusOK
		c.of.ledger.call(c.entry)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, cmp.Or(f.Description, "{\"ok\":true,\"chan\x00\xff")) // the client's hanging up is its own affair
	case fake.Truncate:
		c.of.ledger.call(c.entry)
		_, body := done.bytes()
		fake.WriteHalf(w, http.StatusOK, body)
	case fake.Hang:
		c.entry.Status = 0
		c.of.ledger.call(c.entry)
		<-r.Context().Done()
	case fake.Cut, fake.Delay:
		c.entry.Status = 0
		c.of.ledger.call(c.entry)
		fake.BreakConnection(w)
	}
}

// html answers with a page of something in between.
func (c *call) html(w http.ResponseWriter, status int) {
	c.entry.Status = status
	c.of.ledger.call(c.entry)
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, "<html><head><title>"+strconv.Itoa(status)+"</title></head><body>Server Error</body></html>") // as above
}

// apply lets the call have its effect.
func (c *call) apply() answer {
	do, known := methods[c.method]
	if !known {
		return refuse("unknown_method")
	}
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	return do(c)
}

// methods are what is known of the Web API. The workspace is locked while one runs.
var methods = map[string]func(*call) answer{
	"agents.sessions.setStatus":             (*call).setSession,
	"api.test":                              func(*call) answer { return ok(nil) },
	"auth.test":                             (*call).authTest,
	"apps.connections.open":                 (*call).openConnection,
	"assistant.threads.setSuggestedPrompts": setPrompts,
	"assistant.threads.setStatus":           (*call).setStatus,
	"chat.delete":                           (*call).deleteMessage,
	"chat.postEphemeral":                    (*call).postEphemeral,
	"chat.postMessage":                      (*call).postMessage,
	"chat.update":                           (*call).updateMessage,
	"conversations.history":                 (*call).history,
	"conversations.info":                    (*call).channelInfo,
	"conversations.list":                    (*call).channels,
	"conversations.members":                 (*call).members,
	"conversations.open":                    (*call).openDirect,
	"conversations.replies":                 (*call).replies,
	"files.completeUploadExternal":          (*call).completeUpload,
	"files.getUploadURLExternal":            (*call).uploadURL,
	"files.info":                            (*call).fileInfo,
	"reactions.add":                         (*call).addReaction,
	"reactions.get":                         (*call).getReactions,
	"reactions.remove":                      (*call).removeReaction,
	"team.info":                             (*call).teamInfo,
	"users.conversations":                   (*call).channels,
	"users.info":                            (*call).userInfo,
	"users.list":                            (*call).userList,
	"views.publish":                         (*call).publishView,
}
