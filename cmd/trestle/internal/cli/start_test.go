package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/adapters/fake"
	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// onTelegram serves a Telegram with one bot on the loopback until the test ends
// and returns it with its address.
func onTelegram(t *testing.T, token string) (*faketelegram.Server, string) {
	t.Helper()
	telegram := faketelegram.NewTelegram(faketelegram.Options{})
	telegram.AddBot(faketelegram.BotProfile{Token: token, Name: "Ada", Username: "ada_bot"})
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	testutil.OK(t, err)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- fake.ServeUntilDone(ctx, ln, telegram) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return telegram, "http://" + ln.Addr().String()
}

func sumOf(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	testutil.OK(t, err)
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// ECOSYSTEM 3.2, 9: --check starts everything, receives and sends nothing, and
// leaves the record as it was, also beside a running process.
func TestCheckStartsEverythingAndChangesNothing(t *testing.T) {
	telegram, url := onTelegram(t, "7001:right")
	s := stage{folder: t.TempDir(), env: "TELEGRAM_BOT_TOKEN=7001:right\nTELEGRAM_API_URL=" + url}
	local := stage{folder: s.folder}
	local.done(t, "hello\n", "chat")
	record := filepath.Join(s.folder, "data", "trestle.db")
	before := sumOf(t, record)
	out, errs, code := s.do(t, "", "run", "--check")
	if code != apperr.Done || !strings.Contains(out, "everything starts") || !strings.Contains(errs, "[adapter_telegram] completed") {
		t.Errorf("exit %s: %s%s", code, out, errs)
	}
	if sumOf(t, record) != before {
		t.Error("the record has changed")
	}
	methods := map[string]bool{}
	for _, c := range telegram.Ledger().Calls {
		methods[c.Method] = true
	}
	if len(methods) != 1 || !methods["getMe"] {
		t.Errorf("the platform was asked %v, want getMe alone", methods)
	}

	s.env = "TELEGRAM_BOT_TOKEN=7001:wrong\nTELEGRAM_API_URL=" + url
	out, errs, code = s.do(t, "", "run", "--check")
	if code != apperr.Failed || !strings.Contains(out, "1 of") || !strings.Contains(errs, "[adapter_telegram] failed") {
		t.Errorf("with a wrong token: exit %s: %s%s", code, out, errs)
	}
	local.serve(t)
	if report := answerOf[console.Boot](t, local, "run", "--check", "-o", "json"); len(report.Failed) > 0 {
		t.Errorf("beside a running process: %+v", report)
	}
}

// ECOSYSTEM 5: run with nothing configured stays up and shows three steps; each
// is ticked when it is done.
func TestFirstRunStaysUpAndShowsThreeSteps(t *testing.T) {
	s := stage0(t)
	banner := &watch{want: "3 a platform", seen: make(chan struct{})}
	out, errs := &screen{}, &screen{}
	p := s.program(nil, io.MultiWriter(out, banner), errs)
	p.In = mustOpen(t, os.DevNull)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan apperr.ExitCode, 1)
	go func() { ended <- p.Run(ctx, []string{"run"}) }()
	select {
	case <-banner.seen:
	case code := <-ended:
		t.Fatalf("it ended with %s: %s", code, errs)
	}
	for _, want := range []string{"nothing is configured yet", "[ ] 1 a model", "[x] 2 a room", "[ ] 3 a platform", "console http://127.0.0.1:"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	stop()
	if code := <-ended; code != apperr.Done {
		t.Errorf("it ended with %s: %s", code, errs)
	}
}

func TestStepsAreTickedOnceEach(t *testing.T) {
	var out strings.Builder
	p := &Environment{Out: &out}
	steps, done := firstSteps(""), map[int]bool{}
	h := console.Health{Extensions: []console.Component{{Name: "model", Kind: "model", State: "offline", Healthy: true}, {Name: "local", Kind: "adapter", Healthy: true}}}
	runCommand{installation{p}}.showSteps(h, steps, done, true)
	h.Extensions = append(h.Extensions, console.Component{Name: "telegram", Kind: "adapter", Healthy: true, Handle: "ada_bot"})
	h.Extensions[0].State = "configured"
	runCommand{installation{p}}.showSteps(h, steps, done, false)
	runCommand{installation{p}}.showSteps(h, steps, done, false)
	var marks []string
	for line := range strings.Lines(out.String()) {
		marks = append(marks, line[2:7])
	}
	if want := []string{"[ ] 1", "[x] 2", "[ ] 3", "[x] 1", "[x] 3"}; !slices.Equal(marks, want) {
		t.Errorf("ticks are %q, want %q", marks, want)
	}
}

// A token in the environment that no account uses is said where a person looks: at the start,
// in the terminal, by doctor, and by doctor of that platform.
func TestTokenThatNoAccountUsesIsSaid(t *testing.T) {
	s := stage{folder: t.TempDir(), env: "TELEGRAM_BOT_TOKEN=7001:right\nSLACK_BOT_TOKEN=xoxb-1"}
	s.write(t, "agents: {ada: {name: Ada}}\n", 0o600)
	telegram := `TELEGRAM_BOT_TOKEN is set, and the file names no telegram account: the token is not used`
	slack := `write adapters: {slack: {type: slack, bot_token: "${SLACK_BOT_TOKEN}", app_token: "${SLACK_APP_TOKEN}"}}`
	out, _, code := s.do(t, "", "doctor", "--min", "warn")
	if code != apperr.Failed || strings.Count(out, telegram) != 1 || !strings.Contains(out, "\ntelegram   warn") || !strings.Contains(out, slack) {
		t.Errorf("doctor: exit %s:\n%s", code, out)
	}
	if out, errs, _ := s.do(t, "", "doctor", "telegram"); !strings.Contains(out, telegram) || strings.Contains(out, "slack") || strings.Contains(out, "config") {
		t.Errorf("doctor telegram:\n%s%s", out, errs)
	}
	if _, errs, code := s.do(t, "", "doctor", "discord"); code != apperr.Usage || !strings.Contains(errs, "no account is called discord") || !strings.Contains(errs, "trestle init asks for one") {
		t.Errorf("doctor discord: exit %s:\n%s", code, errs)
	}

	shown := &screen{}
	p := s.program(nil, shown, io.Discard)
	conf, err := p.load()
	testutil.OK(t, err)
	runCommand{installation{p}}.showSteps(console.Health{}, firstSteps(unusedTokens(conf)), map[int]bool{}, true)
	greeting := missingParts(newServer(conf, p.logger(0), io.Discard, false))
	for what, text := range map[string]string{"the steps": shown.String(), "the greeting": greeting} {
		if !strings.Contains(text, telegram) || !strings.Contains(text, slack) {
			t.Errorf("%s:\n%s", what, text)
		}
	}
}
