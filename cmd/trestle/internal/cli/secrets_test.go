package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/slack"
	"github.com/trestle-bridge/trestle/adapters/telegram"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/modelhttp"
	"github.com/trestle-bridge/trestle/internal/llm/openai"
)

// planted is a configuration with thirty credentials, none of which may be seen.
func planted() (yaml string, all []adapters.SecretString) {
	var out strings.Builder
	plant := func(form string, n int) string {
		s := fmt.Sprintf(form, n) + "+h1dden/w0rds"
		all = append(all, adapters.SecretString(s))
		return s
	}
	fmt.Fprintf(&out, "token: %q\nredis: %q\nwebhook_listen: nonsense\nmax_steps: none\n", plant("console-%d-0123456789012345678901234567", 1), "redis://me:"+plant("pass%d", 1)+"@db")
	fmt.Fprintf(&out, "model: {base_url: \"http://127.0.0.1:1/v1\", api_key: %q, namee: x}\nadapters:\n", plant("sk-model-%d", 1))
	for n := range 10 {
		fmt.Fprintf(&out, "  bot%d: {type: telegram, token: %q, api_url: \"http://127.0.0.1:1\", admit: %s}\n", n, plant("70%d:AAtoken", n), []string{"open", "nobody"}[n%2])
	}
	for n := range 2 {
		fmt.Fprintf(&out, "  work%d: {type: slack, bot_token: %q, app_token: %q, signing_secret: %q, bogus: 1}\n", n, plant("xoxb-%d", n), plant("xapp-%d", n), plant("signing%d", n))
	}
	for n := range 2 {
		fmt.Fprintf(&out, "  guild%d: {type: discord, token: %q, tokne: 1}\n", n, plant("discord%d", n))
	}
	out.WriteString("agents:\n")
	for n := range 9 {
		fmt.Fprintf(&out, "  agent%d: {model: {base_url: \"http://127.0.0.1:1/v%d\", api_key: %q}, phases: %s}\n", n, n, plant("sk-agent-%d", n), []string{"two", "three"}[n%2])
	}
	out.WriteString("  plain: {model: {base_url: \"\", api_key: \"\"}}\ndefault_agents: [plain, nobody]\n")
	return out.String(), all
}

// A hunt looks for credentials in everything that was said.
type hunt struct {
	t       *testing.T
	forms   []string
	outputs int
	bytes   int
	hits    int
}

func newHunt(t *testing.T, all []adapters.SecretString) *hunt {
	t.Helper()
	h := &hunt{t: t}
	for _, s := range all {
		h.forms = append(h.forms, s.Forms()...)
	}
	return h
}

func (h *hunt) in(where, text string) {
	h.t.Helper()
	h.outputs++
	h.bytes += len(text)
	for _, form := range h.forms {
		if i := strings.Index(text, form); i >= 0 {
			h.hits++
			h.t.Errorf("%s shows a credential: …%s", where, text[max(0, i-80):min(len(text), i+len(form)+20)])
			return
		}
	}
}

// inError looks into an error, in every way that a person may print it.
func (h *hunt) inError(where string, err error) {
	h.t.Helper()
	if err == nil {
		h.t.Errorf("%s did not fail", where)
		return
	}
	encoded, _ := json.Marshal(map[string]any{"error": err}) // one that has no JSON has no text either
	h.in(where, fmt.Sprintf("%v\n%+v\n%q\n%s", err, err, err, encoded))
	for e := err; e != nil; e = errors.Unwrap(e) {
		h.in(where, fmt.Sprintf("%#v", e))
	}
}

// failing is a way in which a server fails its clients.
type failing struct {
	name string
	do   http.RoundTripper
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// failures lists every way a call can fail on its way and back. The answers
// repeat whatever they were sent: a hostile or clumsy server does.
func failures(t *testing.T) []failing {
	t.Helper()
	echo := func(code int, form string) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			sent := r.URL.String() + " " + r.Header.Get("Authorization")
			body, err := json.Marshal(sent)
			if err != nil {
				return nil, err
			}
			text := strings.ReplaceAll(form, "SENT", string(body))
			return &http.Response{StatusCode: code, Status: fmt.Sprintf("%d %s", code, sent), Header: http.Header{"Location": {"http://elsewhere.test/" + sent}, "X-Sent": {sent}, "Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
		})
	}
	insecure := httptest.NewTLSServer(http.NotFoundHandler())
	insecure.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	t.Cleanup(insecure.Close)
	all := []failing{
		{"dial", roundTrip(func(r *http.Request) (*http.Response, error) {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: fmt.Errorf("connect %s: refused", r.URL)}
		})},
		{"dns", roundTrip(func(r *http.Request) (*http.Response, error) {
			return nil, &net.DNSError{Err: "no such host", Name: r.URL.String(), IsNotFound: true}
		})},
		{"tls", roundTrip(func(r *http.Request) (*http.Response, error) {
			r = r.Clone(r.Context())
			r.URL.Scheme, r.URL.Host = "https", insecure.Listener.Addr().String()
			return http.DefaultTransport.RoundTrip(r)
		})},
		{"timeout", roundTrip(func(r *http.Request) (*http.Response, error) {
			return nil, fmt.Errorf("%s %s: %w", r.Method, r.URL, context.DeadlineExceeded)
		})},
		{"cut", roundTrip(func(r *http.Request) (*http.Response, error) {
			body := io.MultiReader(strings.NewReader(`{"ok":`), errorReader{fmt.Errorf("read %s: %w", r.URL, io.ErrUnexpectedEOF)})
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(body), Request: r}, nil
		})},
		{"garbage", echo(200, "<html>SENT")},
	}
	for _, code := range []int{301, 302, 307, 400, 401, 403, 404, 409, 413, 422, 429, 500, 502, 503} {
		all = append(all, failing{fmt.Sprint(code), echo(code, `{"ok":false,"error_code":400,"description":SENT,"error":{"message":SENT,"type":SENT,"code":SENT}}`)})
	}
	return all
}

type errorReader struct{ err error }

func (e errorReader) Read([]byte) (int, error) { return 0, e.err }

// SECURITY S16: thirty credentials on every way a call can fail, in the errors
// themselves, in the log at its most talkative, and where a person reads them.
func TestNoCredentialIsInAnyFailure(t *testing.T) {
	_, all := planted()
	h := newHunt(t, all)
	paths := failures(t)
	for _, f := range paths {
		for _, s := range all {
			where := f.name + " of telegram"
			ad, err := telegram.New(telegram.Options{Token: s, APIURL: "http://telegram.test", HTTPClient: &http.Client{Transport: f.do}, Unpaced: true})
			if err != nil {
				h.inError("refused token", err)
			} else {
				_, err = ad.Connect(t.Context())
				h.aloud(where, err, all)
			}
			h.ofSlack(f, s, all)
			client, err := openai.New(modelhttp.ClientOptions{BaseURL: "http://model.test/v1", APIKey: string(s), Transport: f.do})
			if err != nil {
				t.Fatal(err)
			}
			_, err = client.Generate(t.Context(), llm.ModelRequest{Model: "m", Messages: []llm.TranscriptMessage{{Role: llm.User, Text: "hello"}}})
			h.aloud(f.name+" of the model", err, all)
		}
	}
	t.Logf("S16: %d credentials × %d failures of 3 clients: %d outputs, %d bytes, %d hits", len(all), len(paths), h.outputs, h.bytes, h.hits)
}

// ofSlack looks into the failures of a Slack app whose credentials are all s: of a
// question, of a post, of a file, and of what the doctor says of a socket.
func (h *hunt) ofSlack(f failing, s adapters.SecretString, all []adapters.SecretString) {
	h.t.Helper()
	answered := roundTrip(func(r *http.Request) (*http.Response, error) { // the bot token is good, what follows fails
		if !strings.HasSuffix(r.URL.Path, "/auth.test") {
			return f.do.RoundTrip(r)
		}
		body := io.NopCloser(strings.NewReader(`{"ok":true,"team_id":"T1","user_id":"U1","bot_id":"B1","user":"ada"}`))
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: body, Request: r}, nil
	})
	where, ctx := f.name+" of slack", h.t.Context()
	o := slack.Options{BotToken: s, AppToken: s, SigningSecret: s, APIURL: "http://slack.test", HTTPClient: &http.Client{Transport: f.do}, Unpaced: true}
	ad, err := slack.New(o)
	if err != nil {
		h.inError("refused token", err)
		return
	}
	_, err = ad.Connect(ctx)
	h.aloud(where, err, all)
	_, err = ad.Send(ctx, adapters.OutgoingMessage{Chat: "C1", Text: "hello", Key: "k"})
	h.aloud(where, err, all)
	_, err = ad.Fetch(ctx, adapters.IncomingFile{ID: "F1"}, 100)
	h.aloud(where, err, all)
	if strings.HasPrefix(string(s), "xapp-") {
		o.BotToken, o.HTTPClient = "xoxb-1", &http.Client{Transport: answered}
		if ad, err = slack.New(o); err != nil {
			h.t.Fatal(err)
		}
		found, err := json.Marshal(ad.Examine(ctx, []string{"C1"}, false))
		if err != nil || !strings.Contains(string(found), "TRS-S05") {
			h.t.Errorf("%s: the doctor finds %s, %v", where, found, err)
		}
		h.in(where, string(found))
	}
}

// aloud looks into an error and into what the program makes of it: a line of the
// log, what people are shown, a panic.
func (h *hunt) aloud(where string, err error, all []adapters.SecretString) {
	h.t.Helper()
	h.inError(where, err)
	var out bytes.Buffer
	p := &Environment{Err: &out, verbose: true}
	p.hidden().AddSecrets(all...)
	p.logger(slog.LevelDebug).Debug("call failed", "error", err, "panic", any(err), "stack", string(debug.Stack()))
	apperr.Report(p.hidden().Writer(&out), err)
	h.in(where+", said", out.String())
}

// SECURITY S16: everything that commands say of a configuration with thirty
// credentials and a mistake in every entry, and what a whole life leaves behind.
func TestNoCredentialIsInAnyAnswer(t *testing.T) {
	yaml, all := planted()
	if len(all) != 30 {
		t.Fatalf("%d credentials are planted, want 30", len(all))
	}
	h := newHunt(t, all)
	s := stage{folder: t.TempDir()}
	if err := os.WriteFile(filepath.Join(s.folder, config.DefaultFile), []byte(yaml), 0o644); err != nil { // as careless as can be
		t.Fatal(err)
	}
	if _, errs, code := s.do(t, "hello\n", "chat", "-v"); code != apperr.Done {
		t.Fatalf("exit %s: %s", code, errs)
	} else {
		h.in("chat -v", errs)
	}
	for _, line := range []string{
		"config check", "config check -o json", "config show --all --origin", "config show -o json", "config schema",
		"status", "status -o json", "doctor", "doctor -o json", "spaces -o json", "runs -o json", "problems -o json", "adapters -o json", "run --check -v", "run --config nowhere.yaml",
	} {
		out, errs, _ := s.do(t, "", strings.Fields(line)...)
		h.in(line, out+errs)
	}
	h.inFolder(s.folder)
	t.Logf("S16: %d credentials in %d answers, %d bytes, %d hits", len(all), h.outputs, h.bytes, h.hits)
}

// inFolder looks into every file below a folder, but for the configuration.
func (h *hunt) inFolder(folder string) {
	err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || d.Name() == config.DefaultFile {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil {
			h.in(path, string(text))
		}
		return err
	})
	if err != nil {
		h.t.Error(err)
	}
}

// crashing names the credential of a process that is to crash.
const crashing = "TRESTLE_TEST_CRASH"

// SECURITY S16: a crash shows every goroutine and what the program panicked
// with, and no credential.
func TestNoCredentialIsInACrash(t *testing.T) {
	if token := os.Getenv(crashing); token != "" {
		ad, err := telegram.New(telegram.Options{Token: adapters.SecretString(token), APIURL: "http://127.0.0.1:1"})
		if err != nil {
			panic(err)
		}
		_, err = ad.Connect(t.Context())
		panic(fmt.Sprintf("%v %+v %#v %v %v", err, ad, ad, adapters.SecretString(token), &config.Config{Token: adapters.SecretString(token)}))
	}
	_, all := planted()
	h := newHunt(t, all[3:4])
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestNoCredentialIsInACrash$")
	c.Env = append(os.Environ(), crashing+"="+string(all[3]), "GOTRACEBACK=all")
	out, err := c.CombinedOutput()
	if err == nil || !bytes.Contains(out, []byte("panic: ")) || !bytes.Contains(out, []byte("goroutine ")) {
		t.Fatalf("the process did not crash: %v\n%s", err, out)
	}
	h.in("the crash", string(out))
	t.Logf("S16: %d bytes of a crash, %d hits", h.bytes, h.hits)
}
