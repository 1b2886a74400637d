package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	fakediscord "github.com/trestle-bridge/trestle/adapters/fake/discord"
	fakeslack "github.com/trestle-bridge/trestle/adapters/fake/slack"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// endpoint serves a model endpoint that knows one key; with an empty one it asks for none.
func endpoint(t *testing.T, key string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		switch {
		case key != "" && r.Header.Get("Authorization") != "Bearer "+key:
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

// platformStage is a folder, and the three platforms with one bot each.
func platformStage(t *testing.T) stage {
	t.Helper()
	_, telegram := onTelegram(t, "7001:right")
	slack := fakeslack.New(fakeslack.Options{Team: "T0ACME"})
	slack.AddApp(fakeslack.AppProfile{Name: "Ada", BotToken: "xoxb-right", AppToken: "xapp-right"})
	discord := fakediscord.New(fakediscord.Options{})
	discord.AddBot(fakediscord.BotProfile{Token: "right.a.b", Name: "ada"})
	discord.AddBot(fakediscord.BotProfile{Token: "blind.a.b", Name: "ada", NoContent: true})
	at := func(h http.Handler) string {
		s := httptest.NewServer(h)
		t.Cleanup(s.Close)
		return s.URL
	}
	return stage{folder: t.TempDir(), env: "TELEGRAM_API_URL=" + telegram + "\nSLACK_API_URL=" + at(slack) + "\nDISCORD_API_URL=" + at(discord)}
}

// said fails the test unless every text is in what was said.
func said(t *testing.T, what string, texts ...string) {
	t.Helper()
	for _, want := range texts {
		if !strings.Contains(what, want) {
			t.Errorf("nothing says %q in\n%s", want, what)
		}
	}
}

// written returns the configuration in a folder, read from its files alone.
func written(t *testing.T, folder string) *config.Config {
	t.Helper()
	lookup, environ := environment("")
	c, err := config.Load(config.LoadOptions{Folder: folder, Lookup: lookup, Environ: environ})
	if err != nil || !c.IsSound() {
		t.Fatalf("%v: findings %v", err, config.ListFindings(c, err))
	}
	return c
}

// ECOSYSTEM 5: everything that a real start needs is asked for, each answer is tried as it is
// entered, a refused one may be corrected, and the files are shown before they are written.
func TestInitAsksForWhatARealStartNeedsAndTriesIt(t *testing.T) {
	base := endpoint(t, "sk-right")
	s := platformStage(t)
	answers := []string{
		"myspace", "1, slack 3", // one that is none, then all three
		"7001:wrong", "7001:right",
		"xoxb-right", "xapp-wrong", "", "t", "", "xapp-right", // tried again, then typed anew
		"blind.a.b", "t", "right.a.b",
		"9", "other", base, "sk-wrong", "", base, "sk-right", "", // a choice that is none, a wrong key
		strings.Repeat("n", 41), "", "Nova", "You keep the calendar.",
		"@me", "123456", "U0456", "987654321987654321",
	}
	out, errs, _ := s.do(t, strings.Join(answers, "\n")+"\n", "init")
	said(t, errs, "found nothing", `"myspace" is none of them`, "https://t.me/BotFather", "https://api.slack.com/apps", "https://discord.com/developers/applications",
		"Telegram refuses the token\n  do: @BotFather", "connected as @ada_bot", "Slack opens no socket for the app token", "Message Content Intent", "choose one of openai, anthropic, gemini, other", "no such key", "little answers",
		"at most 40 characters", `"@me" is no id of a person on telegram`, "written, for you alone to read; undo with: rm trestle.yaml trestle.env\n", "next: trestle run; then send /start to @ada_bot")
	said(t, out, "== trestle.yaml\nversion: 1", "token: ${TELEGRAM_BOT_TOKEN}", "TELEGRAM_BOT_TOKEN=***", "config ")
	for _, secret := range []string{"7001:right", "7001:wrong", "sk-right", "xoxb-right", "xapp-right", "right.a.b", "blind.a.b"} {
		if strings.Contains(out+errs, secret) {
			t.Errorf("%s is shown in\n%s\n%s", secret, errs, out)
		}
	}
	for _, name := range []string{config.DefaultFile, config.EnvFile} {
		info, err := os.Stat(filepath.Join(s.folder, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if exists(filepath.Join(s.folder, config.SchemaFile)) {
		t.Error("the schema was not asked for, and is written")
	}
	c := written(t, s.folder)
	if len(c.Adapters) != 3 || string(c.Adapters[0].Token) != "7001:right" || string(c.Adapters[1].AppToken) != "xapp-right" || string(c.Adapters[2].Token) != "right.a.b" || c.Model.Name != "little" || string(c.Model.APIKey) != "sk-right" {
		t.Errorf("adapters %+v, model %+v", c.Adapters, c.Model)
	}
	if len(c.Agents) != 1 || c.Agents[0].ID != "nova" || c.Agents[0].Name != "Nova" || c.Agents[0].Persona != "You keep the calendar." {
		t.Errorf("agents %+v", c.Agents)
	}
	if len(c.Owners) != 3 || c.Owners[0].User != "123456" || c.Owners[1].Scope != "T0ACME" || c.Owners[1].User != "U0456" || c.Owners[2].User != "987654321987654321" {
		t.Errorf("owners %+v", c.Owners)
	}
}

// A server of models on this machine is offered with its models, and used where nothing else is
// chosen; a provider is asked for its key.
func TestInitOffersTheModelsThereAre(t *testing.T) {
	for name, test := range map[string]struct {
		in, provider, base, model string
		offline                   bool
	}{
		"the local one":     {"\n\n\n\n\n", "", "LOCAL", "little", false},
		"none":              {"\nnone\n\n\n", "", "", "", true},
		"anthropic":         {"\n2\nsk-ant-right\nclaude-x\n\n\n", "anthropic", "", "claude-x", false},
		"an address":        {"\nLOCAL\n\n\n\n\n", "", "LOCAL", "little", false},
		"no key, then none": {"\n1\n\nnone\n\n\n", "", "", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			local := endpoint(t, "")
			anthropic := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				rw.Header().Set("Content-Type", "application/json")
				if r.Header.Get("X-Api-Key") != "sk-ant-right" {
					rw.WriteHeader(http.StatusUnauthorized)
					return
				}
				fmt.Fprint(rw, `{"id":"1","type":"message","role":"assistant","model":"claude-x","content":[{"type":"text","text":"yes"}],"stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":1}}`)
			}))
			defer anthropic.Close()
			s := stage{folder: t.TempDir(), env: "ANTHROPIC_BASE_URL=" + anthropic.URL}
			var out, errs screen
			p := s.program(strings.NewReader(strings.ReplaceAll(test.in, "LOCAL", local)), &out, &errs)
			p.Endpoints = []string{local}
			p.Run(t.Context(), []string{"init"})
			said(t, errs.String(), "on this machine, at "+local+": little")
			c := written(t, s.folder)
			if test.offline {
				if !c.Model.Offline {
					t.Errorf("model %+v in\n%s", c.Model, errs.String())
				}
				return
			}
			want := strings.ReplaceAll(test.base, "LOCAL", local)
			if test.provider == "anthropic" {
				want = anthropic.URL
			}
			if c.Model.Provider != test.provider || c.Model.BaseURL != want || c.Model.Name != test.model {
				t.Errorf("model %+v in\n%s", c.Model, errs.String())
			}
		})
	}
}

// Without a terminal nothing is asked, and flags say what the environment does not.
func TestInitTakesTheAgentAndItsOwnerFromFlags(t *testing.T) {
	s := platformStage(t)
	s.env += "\nTELEGRAM_BOT_TOKEN=7001:right"
	quiet := func(args ...string) (string, apperr.ExitCode) {
		var out, errs screen
		code := s.program(mustOpen(t, os.DevNull), &out, &errs).Run(t.Context(), append([]string{"init"}, args...))
		return errs.String(), code
	}
	for _, test := range []struct {
		want string
		args []string
	}{
		{"is no id of a person on telegram", []string{"--owner", "telegram:@me"}},
		{"is of no account", []string{"--owner", "slack:T0123/U0456"}},
		{"no @ before it", []string{"--name", "@nova"}},
	} {
		if errs, code := quiet(test.args...); code != apperr.Usage || !strings.Contains(errs, test.want) || exists(filepath.Join(s.folder, config.DefaultFile)) {
			t.Errorf("%v: exit %s:\n%s", test.args, code, errs)
		}
	}
	errs, code := quiet("--name", "Nova", "--character", "technical", "--owner", "telegram:123456", "--schema")
	c := written(t, s.folder)
	if code != apperr.Done || strings.Contains(errs, "?") || c.Agents[0].Name != "Nova" || len(c.Owners) != 1 || c.Owners[0].User != "123456" {
		t.Errorf("exit %s, agents %+v, owners %+v:\n%s", code, c.Agents, c.Owners, errs)
	}
	said(t, errs, "rm trestle.yaml trestle.env trestle.schema.json")
	if !exists(filepath.Join(s.folder, config.SchemaFile)) {
		t.Error("no schema is written")
	}
}

// A signal ends the questions, and nothing is written then.
func TestInterruptedInitWritesNothing(t *testing.T) {
	s := platformStage(t)
	in, answers := io.Pipe()
	t.Cleanup(func() { _ = answers.Close() })
	asked := &watch{want: "Name of your agent", seen: make(chan struct{})}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan apperr.ExitCode, 1)
	errs := &screen{}
	go func() { ended <- s.program(in, io.Discard, io.MultiWriter(asked, errs)).Run(ctx, []string{"init"}) }()
	_, err := io.WriteString(answers, "1\n7001:right\nnone\n")
	testutil.OK(t, err)
	<-asked.seen
	stop()
	if code := <-ended; code != apperr.Interrupted {
		t.Errorf("exit %s", code)
	}
	said(t, errs.String(), "stopped, and nothing was written")
	if left, err := os.ReadDir(s.folder); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// Where the second file cannot be written, the first one is not left behind.
func TestInitWritesBothFilesOrNone(t *testing.T) {
	s := platformStage(t)
	file := filepath.Join(s.folder, config.DefaultFile)
	testutil.OK(t, os.Symlink("nowhere", file)) // is not there, and is in the way
	_, errs, code := s.do(t, "", "init", "--from", "env")
	if code != apperr.Failed || !strings.Contains(errs, "it is kept; move it away") || exists(filepath.Join(s.folder, config.EnvFile)) {
		t.Errorf("exit %s:\n%s", code, errs)
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
		"typed": {"TELEGRAM_API_URL=" + telegram, "1\n7001:a\n7001:b\n7001:c\n", "no token was accepted"},
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
