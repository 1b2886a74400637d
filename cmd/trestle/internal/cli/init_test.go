package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// endpoint serves a model endpoint that knows one key.
func endpoint(t *testing.T, key string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		switch {
		case r.Header.Get("Authorization") != "Bearer "+key:
			rw.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(rw, `{"error":{"message":"no such key"}}`)
		case strings.HasSuffix(r.URL.Path, "/models"):
			fmt.Fprint(rw, `{"object":"list","data":[{"id":"little","object":"model"}]}`)
		default:
			fmt.Fprint(rw, `{"id":"1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"yes"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":1}}`)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// ECOSYSTEM 5: token in hand, three answers; each is tried as it is entered, a
// refused one may be corrected, and the files are shown before they are written.
func TestInitAsksForThreeThingsAndTriesThem(t *testing.T) {
	_, telegram := onTelegram(t, "7001:right")
	base := endpoint(t, "sk-right")
	s := stage{folder: t.TempDir(), env: "TELEGRAM_API_URL=" + telegram}
	out, errs, _ := s.do(t, "7001:wrong\n7001:right\n"+base+"\nsk-right\n", "init")
	for _, want := range []string{"found nothing", "credentials are refused", "connected as @ada_bot", "little answers", "next: trestle run; then send /start to @ada_bot"} {
		if !strings.Contains(errs, want) {
			t.Errorf("nothing says %q in\n%s", want, errs)
		}
	}
	for _, want := range []string{"== trestle.yaml\n# yaml-language-server", "token: ${TELEGRAM_BOT_TOKEN}", "TELEGRAM_BOT_TOKEN=***", "config "} {
		if !strings.Contains(out, want) {
			t.Errorf("nothing says %q in\n%s", want, out)
		}
	}
	if strings.Contains(out+errs, "7001:right") || strings.Contains(out+errs, "sk-right") {
		t.Error("a credential is shown")
	}
	for _, name := range []string{config.DefaultFile, config.EnvFile} {
		info, err := os.Stat(filepath.Join(s.folder, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	lookup, environ := environment("")
	c, err := config.Load(config.LoadOptions{Folder: s.folder, Lookup: lookup, Environ: environ})
	if err != nil || !c.IsSound() || string(c.Adapters[0].Token) != "7001:right" || c.Model.Name != "little" || string(c.Model.APIKey) != "sk-right" {
		t.Errorf("%v: %+v, findings %v", err, c, config.ListFindings(c, err))
	}
}

// ECOSYSTEM 1, rule 8; 3.2: a configured installation is sacred: init says what
// is different and changes nothing.
func TestInitNeverOverwrites(t *testing.T) {
	s := stage{folder: t.TempDir(), env: "TELEGRAM_BOT_TOKEN=7001:right\nSLACK_BOT_TOKEN=xoxb-1\nSLACK_APP_TOKEN=xapp-1\nOPENAI_API_KEY=sk-1"}
	file := filepath.Join(s.folder, config.DefaultFile)
	const mine = "# mine\nmodel: {name: x}\nadapters: {bot: {type: telegram, token: \"${OTHER:-7002:other}\", api_url: \"http://127.0.0.1:1\"}}\n"
	testutil.OK(t, os.WriteFile(file, []byte(mine), 0o600))
	out, errs, _ := s.do(t, "", "init")
	for _, want := range []string{
		"trestle.yaml is there and is kept as it is", "TELEGRAM_BOT_TOKEN is set, and no telegram account uses it",
		"SLACK_BOT_TOKEN is set, and there is no slack account", "the environment names a model endpoint",
	} {
		if !strings.Contains(errs, want) {
			t.Errorf("nothing says %q in\n%s", want, errs)
		}
	}
	if !strings.Contains(out, "config ") {
		t.Errorf("nothing was examined:\n%s", out)
	}
	text, err := os.ReadFile(file)
	if err != nil || string(text) != mine || exists(filepath.Join(s.folder, config.EnvFile)) {
		t.Errorf("the file is now %q, %v", text, err)
	}
}

// What the platform refuses is not written down.
func TestInitWritesNothingThatIsRefused(t *testing.T) {
	_, telegram := onTelegram(t, "7001:right")
	for name, test := range map[string]struct{ env, in, want string }{
		"found": {"TELEGRAM_BOT_TOKEN=7001:wrong\nTELEGRAM_API_URL=" + telegram, "", "correct the variable"},
		"typed": {"TELEGRAM_API_URL=" + telegram, "7001:a\n7001:b\n7001:c\n", "no token was accepted"},
		"model": {"OPENAI_API_KEY=sk-wrong\nOPENAI_BASE_URL=" + endpoint(t, "sk-right"), "\n", "correct the variables of the model"},
	} {
		t.Run(name, func(t *testing.T) {
			s := stage{folder: t.TempDir(), env: test.env}
			_, errs, code := s.do(t, test.in, "init")
			if code != apperr.Failed || !strings.Contains(errs, test.want) || exists(filepath.Join(s.folder, config.DefaultFile)) || exists(filepath.Join(s.folder, config.EnvFile)) {
				t.Errorf("exit %s:\n%s", code, errs)
			}
		})
	}
}

// An env file that is there is kept, and then nothing is half written.
func TestInitKeepsAnEnvFile(t *testing.T) {
	s := stage{folder: t.TempDir(), env: "OPENAI_BASE_URL=http://127.0.0.1:1/v1"}
	testutil.OK(t, os.WriteFile(filepath.Join(s.folder, config.EnvFile), []byte("A=b\n"), 0o600))
	_, errs, code := s.do(t, "", "init", "--from", "env")
	if code != apperr.Failed || !strings.Contains(errs, "it is kept; move it away") || exists(filepath.Join(s.folder, config.DefaultFile)) {
		t.Errorf("exit %s:\n%s", code, errs)
	}
}

// ECOSYSTEM 3.2: --from openclaw reads its file, and --print asks and writes
// nothing.
func TestInitTakesOverAnotherHost(t *testing.T) {
	s := stage{folder: t.TempDir()}
	claw := filepath.Join(s.folder, "openclaw.json")
	testutil.OK(t, os.WriteFile(claw, []byte(`{channels: {telegram: {botToken: "7001:right"}, irc: {}}, agents: {list: [{id: "main", identity: {name: "Clawd"}}]}}`), 0o600))
	s.env = "OPENCLAW_CONFIG_PATH=" + claw
	out, errs, code := s.do(t, "", "init", "--from", "openclaw", "--print")
	if code != apperr.Done || !strings.Contains(out, "name: Clawd") || !strings.Contains(errs, "left out: channels.irc") || exists(filepath.Join(s.folder, config.DefaultFile)) {
		t.Errorf("exit %s:\n%s\n%s", code, out, errs)
	}
	if strings.Contains(out+errs, "7001:right") {
		t.Error("a credential is shown")
	}
	s.env = "OPENCLAW_CONFIG_PATH=" + claw + ".none"
	if _, errs, code := s.do(t, "", "init", "--from", "openclaw"); code != apperr.Failed || !strings.Contains(errs, "name it with OPENCLAW_CONFIG_PATH") {
		t.Errorf("exit %s:\n%s", code, errs)
	}
}
