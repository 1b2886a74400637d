package discord

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/adapters/fake"
)

// call is one request of the API under way.
type call struct {
	r     *http.Request
	bot   *BotUser // nil where the path is the credential
	name  string
	body  json.RawMessage // the JSON of the request, also of a form
	files []SharedFile
	entry APICall
}

// answer is what a call is answered with.
type answer struct {
	status int
	body   any
	code   int    // of a refusal
	text   string // of a refusal
	retry  float64
	global bool
	errors any
}

func ok(body any) answer { return answer{status: http.StatusOK, body: body} }

func refuse(status, code int, text string) answer {
	return answer{status: status, code: code, text: text}
}

var done = answer{status: http.StatusNoContent}

// Refusals that several calls share, with Discord's codes and words.
var (
	noChannel  = refuse(http.StatusNotFound, 10003, "Unknown Channel")
	noGuild    = refuse(http.StatusNotFound, 10004, "Unknown Guild")
	noMessage  = refuse(http.StatusNotFound, 10008, "Unknown Message")
	noUser     = refuse(http.StatusNotFound, 10013, "Unknown User")
	noWebhook  = refuse(http.StatusNotFound, 10015, "Unknown Webhook")
	noAccess   = refuse(http.StatusForbidden, 50001, "Missing Access")
	noRight    = refuse(http.StatusForbidden, 50013, "Missing Permissions")
	archived   = refuse(http.StatusBadRequest, 50083, "Thread is archived")
	notAllowed = refuse(http.StatusUnauthorized, 0, "401: Unauthorized")
)

// badForm refuses a field of a request.
func badForm(field, code, text string) answer {
	a := refuse(http.StatusBadRequest, 50035, "Invalid Form Body")
	type one struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	a.errors = map[string]any{field: map[string][]one{"_errors": {{code, text}}}}
	return a
}

func (a answer) bytes() []byte {
	switch {
	case a.status == http.StatusNoContent:
		return nil
	case a.status == http.StatusTooManyRequests:
		return encode(struct {
			Message string  `json:"message"`
			After   float64 `json:"retry_after"`
			Global  bool    `json:"global"`
		}{"You are being rate limited.", a.retry, a.global})
	case a.status >= 400:
		return encode(struct {
			Message string `json:"message"`
			Code    int    `json:"code"`
			Errors  any    `json:"errors,omitempty"`
		}{a.text, a.code, a.errors})
	default:
		return encode(a.body)
	}
}

var version = regexp.MustCompile(`^/api(/v\d+)?`)

// ServeHTTP answers one request.
func (d *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasPrefix(r.URL.Path, "/gateway"):
		d.serveGateway(w, r)
	case strings.HasPrefix(r.URL.Path, "/files/"):
		d.serveFile(w, r)
	case version.MatchString(r.URL.Path):
		inner := r.Clone(r.Context())
		inner.URL.Path = version.ReplaceAllString(r.URL.Path, "")
		inner.URL.RawPath = version.ReplaceAllString(r.URL.RawPath, "")
		d.routes.ServeHTTP(w, inner)
	default:
		http.NotFound(w, r)
	}
}

// handle makes a handler of a call's function.
func (d *Server) handle(name string, open bool, f func(*call) answer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := &call{r: r, name: name, entry: APICall{At: time.Now(), Method: name, Channel: parseID(r.PathValue("channel"))}}
		d.mu.Lock()
		d.origin = fake.RequestOrigin(r)
		c.bot = d.bots[strings.TrimPrefix(r.Header.Get("Authorization"), "Bot ")]
		refused := !open && (c.bot == nil || c.bot.revoked || !strings.HasPrefix(r.Header.Get("Authorization"), "Bot "))
		d.mu.Unlock()
		if c.bot != nil {
			c.entry.Bot = c.bot.ID
		}
		if err := c.read(); err != nil {
			d.finish(w, c, refuse(http.StatusBadRequest, 50109, "The request body contains invalid JSON."))
			return
		}
		if refused {
			d.finish(w, c, notAllowed)
			return
		}
		if c.tooLarge() {
			d.finish(w, c, refuse(http.StatusRequestEntityTooLarge, 40005, "Request entity too large"))
			return
		}
		if wait := limitCall(d, w, c); wait > 0 {
			c.entry.Early = wait
			d.finish(w, c, answer{status: http.StatusTooManyRequests, retry: wait.Seconds(), global: w.Header().Get("X-RateLimit-Global") != ""})
			return
		}
		fault, hit := d.faults.Hit(c.matches)
		if !hit {
			d.finish(w, c, c.apply(f))
			return
		}
		c.entry.Fault = fault.Do
		if fault.Do == fake.Delay {
			fake.WaitUnlessGone(r, fault.Wait)
			d.finish(w, c, c.apply(f))
			return
		}
		var truth answer
		if fault.Apply || fault.Do == fake.Truncate {
			truth = c.apply(f)
		}
		d.fail(w, c, fault, truth)
	}
}

func (c *call) apply(f func(*call) answer) answer {
	a := f(c)
	c.entry.Applied = a.status < 300
	return a
}

// matches reports whether a fault is meant for this call.
func (c *call) matches(f fake.CallFault) bool {
	return (f.Method == "" || strings.EqualFold(f.Method, c.name)) &&
		(f.Chat == 0 || SnowflakeID(f.Chat) == c.entry.Channel) && (f.Bot == 0 || c.bot != nil && SnowflakeID(f.Bot) == c.bot.ID)
}

// read takes the body apart.
func (c *call) read() error {
	raw, err := io.ReadAll(io.LimitReader(c.r.Body, 64<<20))
	if err != nil {
		return err
	}
	kind, params, _ := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	if kind != "multipart/form-data" {
		if len(raw) > 0 && !json.Valid(raw) {
			return io.ErrUnexpectedEOF
		}
		c.body, c.entry.Body = raw, raw
		return nil
	}
	form := multipart.NewReader(bytes.NewReader(raw), params["boundary"])
	for {
		part, err := form.NextPart()
		if err == io.EOF { //nolint:errorlint // NextPart returns it bare
			return nil
		}
		if err != nil {
			return err
		}
		data, err := io.ReadAll(part)
		if err != nil {
			return err
		}
		if part.FormName() == "payload_json" {
			c.body, c.entry.Body = data, data
			continue
		}
		c.files = append(c.files, SharedFile{Name: part.FileName(), MIME: part.Header.Get("Content-Type"), Data: data})
	}
}

// What Discord takes of files (docs.discord.com/developers/reference#uploading-files).
const (
	maxFile  = 10 << 20
	maxFiles = 25 << 20
)

// tooLarge reports whether a file is larger than Discord takes, or all together.
func (c *call) tooLarge() bool {
	all := 0
	for _, f := range c.files {
		if all += len(f.Data); len(f.Data) > maxFile {
			return true
		}
	}
	return all > maxFiles
}

// into reads the body into v; nothing is an empty object.
func (c *call) into(v any) bool { return len(c.body) == 0 || json.Unmarshal(c.body, v) == nil }

// finish writes an answer and notes the call.
func (d *Server) finish(w http.ResponseWriter, c *call, a answer) {
	c.entry.Status, c.entry.Code = a.status, a.code
	d.ledger.note(func(r *CallLog) { r.Calls = append(r.Calls, c.entry) })
	d.mu.Lock()
	d.ring()
	d.mu.Unlock()
	write(w, a)
}

func write(w http.ResponseWriter, a answer) {
	if a.status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", strconv.Itoa(int(a.retry+0.999)))
	}
	body := a.bytes()
	if body != nil {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(body) // the client's hanging up is its own affair
}

// fail answers as the fault says. truth is the true answer where the call was applied.
func (d *Server) fail(w http.ResponseWriter, c *call, f fake.CallFault, truth answer) {
	note := func(status int) {
		c.entry.Status = status
		d.ledger.note(func(r *CallLog) { r.Calls = append(r.Calls, c.entry) })
	}
	status := f.Status
	switch f.Do {
	case fake.Refuse:
		a := refused(f)
		if f.RetryAfter > 0 {
			a = answer{status: http.StatusTooManyRequests, retry: float64(f.RetryAfter)}
			d.limits.hold(c, time.Duration(f.RetryAfter)*time.Second)
		}
		d.finish(w, c, a)
	case fake.HTML:
		if status == 0 {
			status = http.StatusBadGateway
		}
		note(status)
		w.Header().Set("Content-Type", "text/html")
		if f.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(f.RetryAfter))
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte("<html><head><title>cloudflare</title></head><body>error</body></html>"))
	case fake.Garbage:
		note(http.StatusOK)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(cmp.Or(f.Description, "{\"id\":\"1\x00\xff")))
	case fake.Truncate:
		note(truth.status)
		fake.WriteHalf(w, truth.status, truth.bytes())
	case fake.Hang:
		note(0)
		<-c.r.Context().Done()
	case fake.Cut:
		note(0)
		fake.BreakConnection(w)
	case fake.Delay:
		panic("fake: a delay does not fail")
	}
}

// refused is the answer of a Refuse fault: its description may begin with a code
// of Discord's.
func refused(f fake.CallFault) answer {
	a := refuse(f.Status, 0, f.Description)
	if code, text, ok := strings.Cut(f.Description, " "); ok {
		if n, err := strconv.Atoi(code); err == nil {
			a.code, a.text = n, text
		}
	}
	if a.status == 0 {
		a.status = http.StatusInternalServerError
	}
	if a.text == "" {
		a.text = http.StatusText(a.status)
	}
	return a
}
