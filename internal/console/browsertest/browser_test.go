package browsertest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/console/consoletest"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// A browser is a headless Chromium behind its driver, spoken to in the WebDriver
// protocol. It ends with the test.
type browser struct {
	t       *testing.T
	address string // of the driver
	session string
}

// foreign are names that lead to this machine in the browser alone.
const foreign = "MAP evil.example 127.0.0.1, MAP rebound.example 127.0.0.1"

// newBrowser starts a browser with a profile of its own.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	for _, program := range []string{"chromium", "chromedriver"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("%v: the console's tests need a browser; as root: apt-get install chromium chromium-driver (make test does)", err)
		}
	}
	profile := t.TempDir()
	driver := exec.CommandContext(context.WithoutCancel(t.Context()), "chromedriver", "--port=0") // it outlives the test by the time it takes to quit
	out, err := driver.StdoutPipe()
	testutil.OK(t, err)
	testutil.OK(t, driver.Start())
	t.Cleanup(func() {
		_ = driver.Process.Kill()
		_ = driver.Wait()
	})
	b := &browser{t: t, address: "http://127.0.0.1:" + portOf(t, out)}
	var begun struct {
		SessionID string `json:"sessionId"`
	}
	b.call("/session", map[string]any{"capabilities": map[string]any{"alwaysMatch": map[string]any{
		"unhandledPromptBehavior": "ignore",
		"goog:chromeOptions": map[string]any{"args": []string{
			"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
			"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--disable-popup-blocking",
			"--user-data-dir=" + profile, "--host-resolver-rules=" + foreign,
		}},
	}}}, &begun)
	b.session = begun.SessionID
	t.Cleanup(b.quit)
	return b
}

// portOf reads which port the driver listens on.
func portOf(t *testing.T, out io.Reader) string {
	t.Helper()
	said := regexp.MustCompile(`started successfully on port (\d+)`)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if m := said.FindStringSubmatch(lines.Text()); m != nil {
			go func() { _, _ = io.Copy(io.Discard, out) }() // ends with the driver
			return m[1]
		}
	}
	t.Fatal("chromedriver did not start")
	return ""
}

// quit closes the browser although the test is over.
func (b *browser) quit() {
	r, err := http.NewRequest(http.MethodDelete, b.address+"/session/"+b.session, nil) //nolint:noctx // the test's context has ended
	if err != nil {
		return
	}
	client := &http.Client{Timeout: 5 * time.Second}
	if resp, err := client.Do(r); err == nil {
		_ = resp.Body.Close() // the driver ends it in any case
	}
}

// call sends a command to the driver and reads its value into v, which may be nil.
func (b *browser) call(path string, body, v any) {
	b.t.Helper()
	if b.session != "" {
		path = "/session/" + b.session + path
	}
	var data bytes.Buffer
	if body != nil {
		testutil.OK(b.t, json.NewEncoder(&data).Encode(body))
	}
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.address+path, &data)
	testutil.OK(b.t, err)
	resp, err := http.DefaultClient.Do(r)
	testutil.OK(b.t, err)
	defer resp.Body.Close()
	var answer struct{ Value json.RawMessage }
	testutil.OK(b.t, json.NewDecoder(resp.Body).Decode(&answer))
	if resp.StatusCode != http.StatusOK {
		b.t.Fatalf("%s: %s", path, answer.Value)
	}
	if v != nil {
		if err := json.Unmarshal(answer.Value, v); err != nil {
			b.t.Fatalf("%s: %v in %s", path, err, answer.Value)
		}
	}
}

func (b *browser) visit(url string) {
	b.t.Helper()
	b.call("/url", map[string]string{"url": url}, nil)
}

// devtools sends a command of the DevTools protocol.
func (b *browser) devtools(command string, params map[string]any) {
	b.t.Helper()
	b.call("/goog/cdp/execute", map[string]any{"cmd": command, "params": params}, nil)
}

// run runs a script in the page and reads what it returns into v.
func (b *browser) run(script string, v any) {
	b.t.Helper()
	b.call("/execute/sync", map[string]any{"script": script, "args": []any{}}, v)
}

// await runs a script that calls its last argument when it is done.
func (b *browser) await(script string, v any, args ...any) {
	b.t.Helper()
	if args == nil {
		args = []any{}
	}
	b.call("/execute/async", map[string]any{"script": script, "args": args}, v)
}

// A stand is a console that the browser can reach, and may look at.
type stand struct {
	*consoletest.ConsoleWorld
	server *httptest.Server
}

// newStand serves a console, and opens it in the browser as a person would.
func newStand(t *testing.T, b *browser) *stand {
	t.Helper()
	s := &stand{ConsoleWorld: consoletest.Open(t)}
	s.server = httptest.NewServer(s.Console.Handler())
	t.Cleanup(func() {
		s.server.CloseClientConnections() // streams would stay
		s.server.Close()
	})
	made, err := s.Console.NewLink(t.Context())
	testutil.OK(t, err)
	b.visit(s.server.URL + made.Path)
	return s
}

// session returns how many sessions there are.
func (s *stand) sessions(t *testing.T) int {
	t.Helper()
	keys, err := s.Store.Keys().ListKeys(t.Context(), console.KeySession)
	testutil.OK(t, err)
	return len(keys)
}

// A trap is a server that must not be called, and counts calls.
type trap struct {
	server *httptest.Server

	mu    sync.Mutex // guards calls
	calls []string
}

func newTrap(t *testing.T) *trap {
	t.Helper()
	p := &trap{}
	p.server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.calls = append(p.calls, r.URL.String())
	}))
	t.Cleanup(p.server.Close)
	return p
}

// caught returns who called.
func (p *trap) caught() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.calls...)
}

// elsewhere is the trap's address under a name of another site.
func (p *trap) elsewhere() string {
	_, port, err := net.SplitHostPort(p.server.Listener.Addr().String())
	if err != nil {
		panic("browsertest: " + err.Error()) // a listener has an address
	}
	return fmt.Sprintf("http://evil.example:%s", port)
}
