package telegram

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/adapters/fake"
)

// call is one request of a bot, decoded.
type call struct {
	bot    *BotUser
	method string // lower case, as the platform compares it
	params url.Values
	entry  APICall
	// numbers is by how much the ids of messages are larger for the bot in the chat
	// that the call is about.
	numbers int64
}

// reply is an answer in the platform's shape. Its zero code means success.
type reply struct {
	result     json.RawMessage
	code       int
	text       string
	retryAfter int
	migrateTo  int64
	message    int64 // the message made or changed, for the ledger
	handed     int   // updates handed over, for the ledger
}

func refuse(code int, format string, args ...any) *reply {
	return &reply{code: code, text: fmt.Sprintf(format, args...)}
}

// badRequest is the platform's commonest refusal.
func badRequest(format string, args ...any) *reply {
	return refuse(http.StatusBadRequest, "Bad Request: "+format, args...)
}

var yes = json.RawMessage("true")

func (p *reply) body() []byte {
	if p.code == 0 {
		b := make([]byte, 0, len(p.result)+24)
		b = append(b, `{"ok":true,"result":`...)
		b = append(b, p.result...)
		return append(b, '}')
	}
	type parameters struct {
		RetryAfter int   `json:"retry_after,omitzero"`
		MigrateTo  int64 `json:"migrate_to_chat_id,omitzero"`
	}
	return fake.EncodeJSON(struct {
		OK          bool       `json:"ok"`
		Code        int        `json:"error_code"`
		Description string     `json:"description"`
		Parameters  parameters `json:"parameters,omitzero"`
	}{false, p.code, p.text, parameters{p.retryAfter, p.migrateTo}})
}

func (p *reply) status() int {
	if p.code == 0 {
		return http.StatusOK
	}
	return p.code
}

func (p *reply) write(w http.ResponseWriter) {
	b := p.body()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	if p.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(p.retryAfter))
	}
	w.WriteHeader(p.status())
	_, _ = w.Write(b) // a client that hung up is not our failure
}

// readCall decodes the request, whose parameters may come in the query, as a
// form, as multipart or as JSON, alone or together.
func (t *Server) readCall(bot *BotUser, method string, r *http.Request) (*call, *reply) {
	c := &call{bot: bot, method: strings.ToLower(method)}
	body, err := readParams(r)
	if err != nil {
		return nil, badRequest("%s", err)
	}
	c.params = body
	c.entry = APICall{At: time.Now(), Bot: bot.user.ID, Method: method}
	if id, ok := bot.chatID(c.params.Get("chat_id")); ok {
		c.entry.Chat = id
	}
	c.entry.Thread, _ = c.number("message_thread_id")
	c.entry.Target, _ = c.number("message_id")
	c.entry.Offset, _ = c.number("offset")
	c.entry.Text = c.params.Get("text") + c.params.Get("caption")
	c.entry.ReplyTo = c.replyTo().MessageID
	return c, nil
}

func readParams(r *http.Request) (url.Values, error) {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	switch strings.TrimSpace(strings.ToLower(kind)) {
	case "multipart/form-data":
		if err := r.ParseMultipartForm(fake.MaxBody); err != nil {
			return nil, fmt.Errorf("can't parse multipart body")
		}
		return r.Form, nil
	case "application/json":
		params := r.URL.Query()
		raw, err := io.ReadAll(io.LimitReader(r.Body, fake.MaxBody))
		if err != nil {
			return nil, fmt.Errorf("can't read body")
		}
		return params, jsonParams(raw, params)
	default:
		if err := r.ParseForm(); err != nil {
			return nil, fmt.Errorf("can't parse parameters")
		}
		return r.Form, nil
	}
}

// jsonParams adds the members of a JSON object: strings as they are, everything
// else as its JSON text, which is how the other encodings carry it.
func jsonParams(raw []byte, into url.Values) error {
	if len(raw) == 0 {
		return nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return fmt.Errorf("can't parse JSON object")
	}
	for name, value := range members {
		var s string
		if json.Unmarshal(value, &s) != nil {
			s = string(value)
		}
		if s != "null" {
			into.Set(name, s)
		}
	}
	return nil
}

func (c *call) number(name string) (int64, bool) {
	n, err := strconv.ParseInt(c.params.Get(name), 10, 64)
	return n, err == nil
}

func (c *call) flag(name string) bool {
	v := strings.ToLower(c.params.Get(name))
	return v == "true" || v == "1" || v == "yes"
}

// object decodes the parameter into v, and reports whether it was there and readable.
func (c *call) object(name string, v any) (present bool, bad *reply) {
	raw := c.params.Get(name)
	if raw == "" {
		return false, nil
	}
	if json.Unmarshal([]byte(raw), v) != nil {
		return false, badRequest("can't parse %s JSON object", strings.ReplaceAll(name, "_", " "))
	}
	return true, nil
}

// replyTarget is what reply_parameters says, or its predecessor reply_to_message_id.
type replyTarget struct {
	MessageID    int64 `json:"message_id"`
	AllowWithout bool  `json:"allow_sending_without_reply"`
}

func (c *call) replyTo() replyTarget {
	var to replyTarget
	if raw := c.params.Get("reply_parameters"); raw != "" {
		if json.Unmarshal([]byte(raw), &to) == nil {
			to.MessageID -= min(to.MessageID, c.numbers)
			return to
		}
	}
	to.MessageID, _ = c.number("reply_to_message_id")
	to.MessageID -= min(to.MessageID, c.numbers)
	to.AllowWithout = c.flag("allow_sending_without_reply")
	return to
}
