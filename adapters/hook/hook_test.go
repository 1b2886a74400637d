package hook_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/hook"
	"github.com/trestle-bridge/trestle/adapters/httpx"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// record is a sink.
type record struct {
	mu      sync.Mutex
	updates []adapters.Update
	refuse  error
}

func (r *record) Accept(_ context.Context, b adapters.UpdateBatch) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refuse == nil {
		r.updates = append(r.updates, b.Updates...)
	}
	return r.refuse
}

func (*record) Alive(time.Time) {}

func (r *record) all() []adapters.Update {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.updates
}

// memory keeps files.
type memory map[string]string

func (m memory) Put(body io.Reader) (string, int64, error) {
	content, err := io.ReadAll(body)
	hash := adapters.HashContent(string(content))
	m[hash] = string(content)
	return hash, int64(len(content)), err
}

func (m memory) Take(hash string) (io.ReadCloser, error) {
	content, ok := m[hash]
	if !ok {
		return nil, errors.New("not there")
	}
	return io.NopCloser(strings.NewReader(content)), nil
}

// running returns a hook that receives into a record until the test is over.
func running(t *testing.T, o hook.Options) (*hook.Client, *record) {
	t.Helper()
	o.Name, o.NewID = "ci", counter()
	if o.Token == "" && o.Secret == "" {
		o.Token = token
	}
	c, err := hook.New(o)
	testutil.OK(t, err)
	sink := new(record)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := c.Receive(ctx, nil, sink); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); wg.Wait() })
	synctest.Wait()
	return c, sink
}

// call makes a call and returns the status and the body of the answer.
func call(c *hook.Client, r *http.Request) (int, map[string]string) {
	w := httptest.NewRecorder()
	c.ServeHTTP(w, r)
	var said map[string]string
	if err := json.Unmarshal(w.Body.Bytes(), &said); err != nil {
		return w.Code, map[string]string{"not json": w.Body.String()}
	}
	return w.Code, said
}

func hub(body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

func standard(key []byte, id, at, body string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + at + "." + body))
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

const hello = `{"text": "build 7 failed", "from": "jenkins"}`

func TestAnEventIsAMessageOfItsProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		files := memory{}
		c, sink := running(t, hook.Options{Files: files})
		status, said := call(c, post(t.Context(), `{"text": "build 7 failed", "from": "jenkins", "thread": "build 7", "chat": "builds",
			"files": [{"name": "log.txt", "type": "text/plain", "content": "aGVsbG8="}], "data": {"id": 12345678901234567890}}`,
			"Authorization", "Bearer "+token, "Idempotency-Key", "b-7"))
		if status != http.StatusAccepted || said["id"] != "b-7" {
			t.Fatalf("got %d %v", status, said)
		}
		want := adapters.Update{
			ID: "b-7", Key: "event:b-7", Chat: adapters.Chat{ID: "builds", Kind: adapters.Group}, Thread: adapters.Thread{ID: "build 7", Title: "build 7"},
			From: adapters.Person{ID: "ci/jenkins", Scope: "builds", Kind: adapters.Service, Name: "jenkins"}, At: time.Now(),
			Body: adapters.IncomingMessage{ID: "b-7", Text: "build 7 failed", Attachments: []adapters.IncomingFile{
				{Kind: "file", ID: adapters.HashContent("hello"), Name: "log.txt", MIME: "text/plain", Size: 5},
				{Kind: "file", ID: adapters.HashContent(`{"id": 12345678901234567890}`), Name: "data.json", MIME: "application/json", Size: 28},
			}},
		}
		if d := cmp.Diff([]adapters.Update{want}, sink.all()); d != "" {
			t.Fatalf("(-want +got)\n%s", d)
		}
		body, err := c.Fetch(t.Context(), adapters.IncomingFile{ID: adapters.HashContent("hello")}, 100)
		testutil.OK(t, err)
		if got, err := io.ReadAll(body); string(got) != "hello" || err != nil {
			t.Errorf("the file is %q, %v", got, err)
		}
		if _, err := c.Fetch(t.Context(), adapters.IncomingFile{ID: "none"}, 100); adapters.KindOf(err) != adapters.Invalid {
			t.Errorf("a file that is not there: %v, want invalid", err)
		}
	})
}

func TestACallProvesWhoMakesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := strconv.FormatInt(time.Now().Unix(), 10)
		old := strconv.FormatInt(time.Now().Add(-6*time.Minute).Unix(), 10)
		wrong := standard([]byte("another secret of somebody"), "m1", now, hello)
		for name, test := range map[string]struct {
			headers []string
			id      string // empty: refused
		}{
			"token":                       {[]string{"Authorization", "Bearer " + token}, "00000001"},
			"token with a key":            {[]string{"Authorization", "bearer " + token, "Idempotency-Key", "k1"}, "k1"},
			"wrong token":                 {[]string{"Authorization", "Bearer " + token + "x"}, ""},
			"another scheme":              {[]string{"Authorization", "Basic " + token}, ""},
			"the secret as token":         {[]string{"Authorization", "Bearer " + secret}, ""},
			"nothing":                     {nil, ""},
			"github":                      {[]string{"X-Hub-Signature-256", hub(hello), "X-GitHub-Delivery", "d1"}, "d1"},
			"github without a delivery":   {[]string{"X-Hub-Signature-256", hub(hello)}, "signed-" + adapters.HashContent(hub(hello))},
			"github with another body":    {[]string{"X-Hub-Signature-256", hub(hello + " ")}, ""},
			"github without sha256":       {[]string{"X-Hub-Signature-256", strings.TrimPrefix(hub(hello), "sha256=")}, ""},
			"standard":                    {[]string{"Webhook-Id", "m1", "Webhook-Timestamp", now, "Webhook-Signature", standard([]byte(secret), "m1", now, hello)}, "m1"},
			"standard with two secrets":   {[]string{"Webhook-Id", "m1", "Webhook-Timestamp", now, "Webhook-Signature", wrong + " " + standard([]byte(secret), "m1", now, hello)}, "m1"},
			"standard with another id":    {[]string{"Webhook-Id", "m2", "Webhook-Timestamp", now, "Webhook-Signature", standard([]byte(secret), "m1", now, hello)}, ""},
			"standard of old":             {[]string{"Webhook-Id", "m1", "Webhook-Timestamp", old, "Webhook-Signature", standard([]byte(secret), "m1", old, hello)}, ""},
			"standard with a wrong key":   {[]string{"Webhook-Id", "m1", "Webhook-Timestamp", now, "Webhook-Signature", wrong}, ""},
			"standard without a time":     {[]string{"Webhook-Id", "m1", "Webhook-Signature", standard([]byte(secret), "m1", now, hello)}, ""},
			"an encoded body":             {[]string{"Authorization", "Bearer " + token, "Content-Encoding", "gzip"}, ""},
			"an id that is no line":       {[]string{"Authorization", "Bearer " + token, "Idempotency-Key", "a\u200bb"}, "400"},
			"an id of ours":               {[]string{"Authorization", "Bearer " + token, "Idempotency-Key", "trestle-1"}, "400"},
			"an id of a thousand letters": {[]string{"Authorization", "Bearer " + token, "Idempotency-Key", strings.Repeat("a", 1000)}, "400"},
		} {
			c, sink := running(t, hook.Options{Token: token, Secret: secret})
			status, said := call(c, post(t.Context(), hello, test.headers...))
			switch {
			case test.id == "400":
				if status != http.StatusBadRequest || len(sink.all()) != 0 {
					t.Errorf("%s: got %d %v, want 400", name, status, said)
				}
			case test.id == "":
				if status != http.StatusUnauthorized || said["error"] == "" || len(sink.all()) != 0 || c.RefusedCalls() != 1 {
					t.Errorf("%s: got %d %v, %d recorded, %d refused; want 401", name, status, said, len(sink.all()), c.RefusedCalls())
				}
			case status != http.StatusAccepted || said["id"] != test.id || len(sink.all()) != 1:
				t.Errorf("%s: got %d %v, want 202 and %s", name, status, said, test.id)
			}
		}
	})
}

func TestASecretMayHoldItsKeyInBase64(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := []byte("twenty-four bytes of key")
		c, _ := running(t, hook.Options{Secret: adapters.SecretString("whsec_" + base64.StdEncoding.EncodeToString(key))})
		now := strconv.FormatInt(time.Now().Unix(), 10)
		if status, said := call(c, post(t.Context(), hello, "Webhook-Id", "m1", "Webhook-Timestamp", now, "Webhook-Signature", standard(key, "m1", now, hello))); status != http.StatusAccepted {
			t.Errorf("got %d %v", status, said)
		}
	})
}

// unread is a body that must not be read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) { u.t.Error("the body was read"); return 0, io.EOF }

func TestNothingIsReadOfACallWithoutProof(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := running(t, hook.Options{Token: token, Secret: secret})
		for _, headers := range [][]string{nil, {"Authorization", "Bearer guess"}, {"Webhook-Signature", "v1,x"}} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/hooks/ci", unread{t})
			for i := 0; i < len(headers); i += 2 {
				r.Header.Set(headers[i], headers[i+1])
			}
			if status, said := call(c, r); status != http.StatusUnauthorized {
				t.Errorf("%v: got %d %v", headers, status, said)
			}
		}
	})
}

// SECURITY S9: forged calls.
func TestForgedCallsAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, sink := running(t, hook.Options{Secret: secret})
		rng := rand.New(rand.NewPCG(31, 7))
		now := strconv.FormatInt(time.Now().Unix(), 10)
		for i := range 10_000 {
			body, signature, id := []byte(hello), hub(hello), "m1"
			headers := []string{"X-Hub-Signature-256", signature}
			if i%2 == 1 {
				headers = []string{"Webhook-Id", id, "Webhook-Timestamp", now, "Webhook-Signature", standard([]byte(secret), id, now, hello)}
			}
			if i%4 < 2 {
				body[rng.IntN(len(body))] ^= 1 << rng.IntN(7)
			} else {
				at := len(headers) - 1
				forged := []byte(headers[at])
				forged[4+rng.IntN(len(forged)-6)] ^= 2 // case alone is not looked at, and the last letter holds spare bits
				if strings.EqualFold(string(forged), headers[at]) {
					continue
				}
				headers[at] = string(forged)
			}
			if status, _ := call(c, post(t.Context(), string(body), headers...)); status != http.StatusUnauthorized {
				t.Fatalf("forged call %d is answered %d: %q %q", i, status, headers, body)
			}
		}
		if len(sink.all()) != 0 {
			t.Errorf("%d forged events are recorded", len(sink.all()))
		}
	})
}

func TestARefusedEventSaysWhatToDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, sink := running(t, hook.Options{Chats: func() []string { return []string{"events"} }})
		for body, want := range map[string]struct {
			status int
			says   string
		}{
			`{"from": "jenkins"}`:              {400, `{"text": "…"}`},
			`{"txt": "hello"}`:                 {400, "Its keys are text, from, chat"},
			`{"text": "a"} {}`:                 {400, "something follows"},
			`[`:                                {400, "the body is not the JSON"},
			`{"text": 7}`:                      {400, "the body is not the JSON"},
			`{"text": "a", "chat": "deploys"}`: {404, "adds ci:deploys to the chats of one"},
			`{"text": "a", "from": "a\nb"}`:    {400, "from has more than"},
			`{"text": "a", "data": {}}`:        {422, "without files and data"},
			`{"text": "a", "files": [{"content": "%"}]}`:     {400, "not base64"},
			"{\"text\": \"\xff\"}":                           {400, "not UTF-8"},
			`{"text": "` + strings.Repeat("a", 65537) + `"}`: {400, "send the rest as a file"},
			`{"text": "` + strings.Repeat("a", 1<<20) + `"}`: {413, "too long"},
		} {
			status, said := call(c, post(t.Context(), body, "Authorization", "Bearer "+token))
			if status != want.status || !strings.Contains(said["error"], want.says) {
				t.Errorf("%.40s: got %d %v, want %d with %q", body, status, said, want.status, want.says)
			}
		}
		r := post(t.Context(), hello, "Authorization", "Bearer "+token)
		r.Method = http.MethodGet
		if status, said := call(c, r); status != http.StatusMethodNotAllowed || said["error"] == "" {
			t.Errorf("GET: %d %v", status, said)
		}
		if status, said := call(c, post(t.Context(), hello, "Authorization", "Bearer "+token, "Content-Type", "multipart/form-data; boundary=x")); status != http.StatusBadRequest {
			t.Errorf("another type: %d %v", status, said)
		}
		if n := len(sink.all()); n != 0 {
			t.Errorf("%d refused events are recorded", n)
		}
	})
}

func TestPlainTextAndFormsAreRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, sink := running(t, hook.Options{})
		for kind, body := range map[string]string{
			"text/plain; charset=utf-8": "build 7 failed", "application/x-www-form-urlencoded": "text=build+7+failed",
			"application/vnd.ci+json": `{"text": "build 7 failed"}`, "application/x-www-form-urlencoded;": "payload=%7B%22text%22%3A%22build+7+failed%22%7D",
		} {
			if status, said := call(c, post(t.Context(), body, "Authorization", "Bearer "+token, "Content-Type", kind)); status != http.StatusAccepted {
				t.Errorf("%s: %d %v", kind, status, said)
			}
		}
		for _, u := range sink.all() {
			if got := u.Body.(adapters.IncomingMessage).Text; got != "build 7 failed" {
				t.Errorf("the text is %q", got)
			}
		}
	})
}

func TestATemplateMakesTheText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, sink := running(t, hook.Options{Files: memory{}, Text: `{{if eq .status "failed"}}Build {{.id}} of {{range .branches}}{{.}} {{end}}failed{{end}}`})
		if status, said := call(c, post(t.Context(), `{"status": "failed", "id": 12345678901234567890, "branches": ["main", "next"]}`, "Authorization", "Bearer "+token)); status != http.StatusAccepted {
			t.Fatalf("got %d %v", status, said)
		}
		m := sink.all()[0].Body.(adapters.IncomingMessage)
		if m.Text != "Build 12345678901234567890 of main next failed" || len(m.Attachments) != 1 || m.Attachments[0].Name != "data.json" {
			t.Errorf("got %+v", m)
		}
		if status, said := call(c, post(t.Context(), `{"status": "passed"}`, "Authorization", "Bearer "+token)); status != http.StatusOK || said["ignored"] == "" {
			t.Errorf("an event without text: %d %v", status, said)
		}
		if status, said := call(c, post(t.Context(), `"a text"`, "Authorization", "Bearer "+token)); status != http.StatusBadRequest || !strings.Contains(said["error"], "does not fit this body") {
			t.Errorf("another body: %d %v", status, said)
		}
		if n := len(sink.all()); n != 1 {
			t.Errorf("%d events are recorded", n)
		}
	})
}

func TestTheTextOfATemplateIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, sink := running(t, hook.Options{Files: memory{}, Text: `{{range .a}}{{range $.a}}{{$.b}}{{end}}{{end}}`})
		list := "[" + strings.TrimSuffix(strings.Repeat("1,", 10_000), ",") + "]"
		status, said := call(c, post(t.Context(), `{"a": `+list+`, "b": "`+strings.Repeat("x", 1000)+`"}`, "Authorization", "Bearer "+token))
		if status != http.StatusBadRequest || !strings.Contains(said["error"], "more than 65536 bytes") || len(sink.all()) != 0 {
			t.Errorf("got %d %.200v", status, said)
		}
	})
}

func TestAnEventIsAnsweredWhenItIsRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, sink := running(t, hook.Options{})
		sink.mu.Lock()
		sink.refuse = errors.New("the disk is full of /secret/places")
		sink.mu.Unlock()
		status, said := call(c, post(t.Context(), hello, "Authorization", "Bearer "+token, "Idempotency-Key", "k"))
		if status != http.StatusServiceUnavailable || strings.Contains(said["error"], "disk") {
			t.Errorf("not recorded: %d %v", status, said)
		}
		sink.mu.Lock()
		sink.refuse = nil
		sink.mu.Unlock()
		for range 2 { // the record knows the same event by its key
			if status, said := call(c, post(t.Context(), hello, "Authorization", "Bearer "+token, "Idempotency-Key", "k")); status != http.StatusAccepted || said["id"] != "k" {
				t.Errorf("again: %d %v", status, said)
			}
		}
		all := sink.all()
		if len(all) != 2 || all[0].Key != all[1].Key {
			t.Errorf("recorded %+v, want one key twice", all)
		}
	})
}

func TestNothingIsTakenWhileNobodyReceives(t *testing.T) {
	c, err := hook.New(hook.Options{Name: "ci", Token: token, NewID: counter()})
	testutil.OK(t, err)
	if status, said := call(c, post(t.Context(), hello, "Authorization", "Bearer "+token)); status != http.StatusServiceUnavailable {
		t.Errorf("got %d %v", status, said)
	}
}

func TestAHookTakesSoManyEventsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, sink := running(t, hook.Options{})
		limited := 0
		for range 100 {
			w := httptest.NewRecorder()
			c.ServeHTTP(w, post(t.Context(), hello, "Authorization", "Bearer "+token))
			if w.Code == http.StatusTooManyRequests && w.Header().Get("Retry-After") != "" {
				limited++
			}
		}
		for range 100 { // strangers use up nobody's budget
			call(c, post(t.Context(), hello, "Authorization", "Bearer guess"))
		}
		<-time.After(time.Second)
		status, _ := call(c, post(t.Context(), hello, "Authorization", "Bearer "+token))
		if limited != 40 || status != http.StatusAccepted || len(sink.all()) != 61 {
			t.Errorf("%d of 100 are refused, a second later one is answered %d, %d are recorded", limited, status, len(sink.all()))
		}
	})
}

func TestAReplyIsSignedAndNeverRedirected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []*http.Request
		var body []byte
		status := http.StatusNoContent
		c, _ := running(t, hook.Options{
			ReplyURL: "http://127.0.0.1:9/replies", ReplySecret: replySecret,
			HTTPClient: &http.Client{Transport: httpx.RoundTripFunc(func(r *http.Request) (*http.Response, error) {
				seen = append(seen, r)
				body, _ = io.ReadAll(r.Body)
				w := httptest.NewRecorder()
				w.Header().Set("Location", "http://169.254.169.254/")
				w.WriteHeader(status)
				return w.Result(), nil
			})},
		})
		m := adapters.OutgoingMessage{Chat: "events", Thread: "build 7", ReplyTo: "b-7", Text: "I **look**.", Key: "k1", Face: adapters.AgentPersona{Name: "Ada"}}
		receipt, err := c.Send(t.Context(), m)
		testutil.OK(t, err)
		h := seen[0].Header
		if want := standard([]byte(replySecret), "trestle-k1", h.Get("Webhook-Timestamp"), string(body)); h.Get("Webhook-Signature") != want || h.Get("Webhook-Id") != "trestle-k1" || receipt.Message != "trestle-k1" {
			t.Errorf("headers %v, receipt %+v; want the signature %s", h, receipt, want)
		}
		if d := cmp.Diff(`{"id":"trestle-k1","chat":"events","thread":"build 7","reply_to":"b-7","from":"Ada","text":"I **look**."}`, string(body)); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
		status = http.StatusFound
		if _, err := c.Send(t.Context(), m); adapters.KindOf(err) != adapters.Invalid || len(seen) != 2 {
			t.Errorf("redirected: %v after %d requests, want invalid after 2", err, len(seen))
		}
	})
}

func TestAHookWithoutAnAddressIsOneWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := running(t, hook.Options{})
		if receipt, err := c.Send(t.Context(), adapters.OutgoingMessage{Chat: "events", Text: "hello", Key: "k"}); err != nil || receipt.Message != "trestle-k" {
			t.Errorf("got %+v, %v", receipt, err)
		}
	})
}

func TestAHookIsNotMadeOfWeakSecrets(t *testing.T) {
	for name, o := range map[string]hook.Options{
		"nothing":                 {Name: "ci"},
		"short token":             {Name: "ci", Token: "short"},
		"short secret":            {Name: "ci", Secret: "short"},
		"no name":                 {Token: token},
		"a name with a slash":     {Name: "a/b", Token: token},
		"replies without secret":  {Name: "ci", Token: token, ReplyURL: "https://ci.example"},
		"a template that is none": {Name: "ci", Token: token, Text: "{{"},
	} {
		o.NewID = counter()
		if _, err := hook.New(o); err == nil {
			t.Errorf("%s: no error", name)
		} else if strings.Contains(err.Error(), token) || strings.Contains(err.Error(), "short ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheDoctorKnowsWhatIsMissing(t *testing.T) {
	for name, test := range map[string]struct {
		chats []string
		err   error
		want  string
	}{
		"fine":        {[]string{"events"}, nil, "ok "},
		"no room":     {nil, nil, "warn TRS-E01"},
		"unreachable": {[]string{"events"}, errors.New("refused"), "fail TRS-E02"},
	} {
		c, err := hook.New(hook.Options{
			Name: "ci", Token: token, NewID: counter(), ReplyURL: "http://127.0.0.1:9/" + replySecret, ReplySecret: replySecret,
			HTTPClient: &http.Client{Transport: httpx.RoundTripFunc(func(r *http.Request) (*http.Response, error) {
				if r.Method != http.MethodHead {
					t.Errorf("%s: %s", name, r.Method)
				}
				w := httptest.NewRecorder()
				w.WriteHeader(http.StatusMethodNotAllowed)
				return w.Result(), test.err
			})},
		})
		testutil.OK(t, err)
		found := c.Examine(t.Context(), test.chats, false)
		if got := fmt.Sprintf("%s %s", found[0].Level, found[0].Code); len(found) != 1 || got != test.want || strings.Contains(fmt.Sprint(found), replySecret) {
			t.Errorf("%s: got %+v, want %s", name, found, test.want)
		}
	}
}

func FuzzEventBody(f *testing.F) {
	for _, s := range []string{hello, `{"text":null}`, `{"files":[{}]}`, "text=a&text=b", "[[[[", `{"data":null,"text":""}`, `{"status":"x","list":[1,{"a":null}]}`} {
		f.Add("application/json", []byte(s))
		f.Add("application/x-www-form-urlencoded", []byte(s))
		f.Add("text/plain", []byte(s))
	}
	open := func(text string) *hook.Client {
		c, err := hook.New(hook.Options{Name: "ci", Token: token, NewID: counter(), Text: text, Files: memory{}})
		if err != nil {
			f.Fatal(err)
		}
		return c
	}
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		for _, text := range []string{"", "{{.status}}{{range .list}}{{.}}{{end}}"} {
			w := httptest.NewRecorder()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/hooks/ci", bytes.NewReader(body))
			r.Header["Authorization"], r.Header["Content-Type"] = []string{"Bearer " + token}, []string{kind}
			open(text).ServeHTTP(w, r)
			// Nobody receives, so a body that is read is answered 503.
			if w.Code != http.StatusServiceUnavailable && w.Code != http.StatusBadRequest && w.Code != http.StatusRequestEntityTooLarge && w.Code != http.StatusOK {
				t.Errorf("answered %d", w.Code)
			}
			if !json.Valid(w.Body.Bytes()) {
				t.Errorf("answered %q", w.Body)
			}
		}
	})
}
