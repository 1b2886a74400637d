package setup

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

var update = flag.Bool("update", false, "rewrite golden files")

func golden(t *testing.T, file, got string) {
	t.Helper()
	file = filepath.Join("testdata", file)
	testutil.Golden(t, *update, file, got)
}

func environment(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for _, p := range pairs {
			if k, v, _ := strings.Cut(p, "="); k == name {
				return v, true
			}
		}
		return "", false
	}
}

// load writes a plan and reads it as the program does, from the files alone.
func load(t interface {
	Helper()
	Fatal(...any)
}, dir string, p *InstallPlan,
) *config.Config {
	t.Helper()
	env, err := p.Env()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{config.DefaultFile: p.File(), config.EnvFile: env} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := config.Load(config.LoadOptions{Folder: dir, Lookup: environment()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func shown(p *InstallPlan) string {
	return p.File() + "\n== trestle.env\n" + p.EnvShown() + "\n== found\n" + strings.Join(p.Found, "\n") + "\n\n== left\n" + strings.Join(p.Left, "\n") + "\n"
}

// ECOSYSTEM 5: what the environment holds is announced and used, and no
// credential is in the file.
func TestEnvironmentBecomesAConfigurationThatLoads(t *testing.T) {
	p := FromEnvironment(environment("OPENAI_API_KEY=sk-1$2", "TRESTLE_MODEL=big", "TELEGRAM_BOT_TOKEN=7001:AA'quoted\"", "SLACK_BOT_TOKEN=xoxb-1", "TELEGRAM_API_URL=http://127.0.0.1:1"))
	golden(t, "environment.txt", shown(p))
	c := load(t, t.TempDir(), p)
	if len(c.Problems) > 0 || string(c.Adapters[0].Token) != "7001:AA'quoted\"" || string(c.Model.APIKey) != "sk-1$2" || c.Model.Name != "big" || c.Model.Offline {
		t.Errorf("problems %v, adapters %+v, model %+v", c.Problems, c.Adapters, c.Model)
	}
	for _, s := range p.Secrets() {
		if strings.Contains(shown(p), string(s)) {
			t.Errorf("%s is shown", string(s))
		}
	}
}

// A key of a provider is enough, and the file says which provider it is.
func TestKeyOfAProviderBecomesAConfigurationThatLoads(t *testing.T) {
	for variable, provider := range map[string]string{"ANTHROPIC_API_KEY": "anthropic", "GEMINI_API_KEY": "gemini", "GOOGLE_API_KEY": "gemini"} {
		p := FromEnvironment(environment(variable + "=planted"))
		c := load(t, t.TempDir(), p)
		if len(c.Problems) > 0 || c.Model.Provider != provider || c.Model.APIKey != "planted" || c.Model.Offline || strings.Contains(shown(p), "planted") {
			t.Errorf("%s: problems %v, model %+v in\n%s", variable, c.Problems, c.Model, shown(p))
		}
		if d := p.Differences(c); len(d) > 0 {
			t.Errorf("%s: the plan differs from its own file: %v", variable, d)
		}
		if d := p.Differences(&config.Config{Model: config.ModelEndpoint{Offline: true}}); len(d) != 1 || !strings.Contains(d[0], "provider: "+provider) || !strings.Contains(d[0], "${"+variable+"}") {
			t.Errorf("%s: %v", variable, d)
		}
	}
}

func TestNothingFoundIsAConfigurationToo(t *testing.T) {
	p := FromEnvironment(environment())
	golden(t, "nothing.txt", shown(p))
	if c := load(t, t.TempDir(), p); len(c.Problems) > 0 || !c.Model.Offline || len(c.Agents) != 1 || len(c.Adapters) != 0 {
		t.Errorf("config %+v", c)
	}
}

// ECOSYSTEM 3.2: --from openclaw takes over what has a counterpart and names the
// rest.
func TestOpenClawBecomesAConfigurationThatLoads(t *testing.T) {
	text, err := os.ReadFile("testdata/openclaw.json5")
	testutil.OK(t, err)
	p, err := FromOpenClaw(string(text), environment())
	testutil.OK(t, err)
	golden(t, "openclaw.txt", shown(p))
	c := load(t, t.TempDir(), p)
	if len(c.Problems) > 0 {
		t.Errorf("problems %v", c.Problems)
	}
	if len(c.Adapters) != 3 || string(c.Adapters[1].Token) != "7002:AAsecond" || c.Adapters[1].Admit != "open" || !strings.Contains(c.Agents[0].Persona, "costs $5") || len(c.Spaces) != 2 {
		t.Errorf("config %+v", c)
	}
}

// Whatever people and files hold, what is written of it reads as it was meant.
func TestWhatIsWrittenIsReadAsItWasMeant(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[^\x00-\x1f\x7f]{1,20}`).Draw(t, "name")
		persona := "p" + rapid.String().Draw(t, "persona")
		p := &InstallPlan{Agents: []AgentPlan{{"ada", name, persona}}, Schema: rapid.Bool().Draw(t, "schema")}
		c := load(t, dir, p)
		if len(c.Problems) > 0 || c.Agents[0].Name != name || c.Agents[0].Persona != persona {
			t.Fatalf("name %q became %q, persona %q became %q, problems %v", name, c.Agents[0].Name, persona, c.Agents[0].Persona, c.Problems)
		}
	})
}

// What a person says of the agent and of themselves is in the file, and loads.
func TestAgentAndOwnersBecomeAConfigurationThatLoads(t *testing.T) {
	for name, want := range map[string]struct{ id, persona string }{
		"Nova": {"nova", "You are Nova, "}, "Zoë Straße 2": {"zo_stra_e_2", "You are Zoë Straße 2, "}, "日本": {"agent", "You are 日本, "}, "no": {"no", "You are no, "},
	} {
		p := FromEnvironment(environment("TELEGRAM_BOT_TOKEN=7001:right", "SLACK_BOT_TOKEN=xoxb-1", "SLACK_APP_TOKEN=xapp-1"))
		p.SetAgent(name, "")
		p.Owners = []string{"telegram:123456", "slack:T0123/U0456"}
		c := load(t, t.TempDir(), p)
		if len(c.Problems) > 0 || len(c.Agents) != 1 || c.Agents[0].ID != want.id || c.Agents[0].Name != name || !strings.HasPrefix(c.Agents[0].Persona, want.persona) {
			t.Errorf("%s: problems %v, agents %+v", name, c.Problems, c.Agents)
		}
		if len(c.Owners) != 2 || c.Owners[0].User != "123456" || c.Owners[1].Scope != "T0123" || c.Owners[1].User != "U0456" {
			t.Errorf("%s: owners %+v", name, c.Owners)
		}
	}
	p := FromEnvironment(environment())
	p.SetAgent("Nova", "friendly")
	if c := load(t, t.TempDir(), p); !strings.HasPrefix(c.Agents[0].Persona, "You are warm") {
		t.Errorf("the built-in character is %q", c.Agents[0].Persona)
	}
}

// Each provider's endpoint is written under the variables that the environment would have.
func TestChosenProviderBecomesAConfigurationThatLoads(t *testing.T) {
	for _, provider := range config.Providers() {
		p := FromEnvironment(environment())
		p.SetModel(provider.Name, "http://127.0.0.1:1/v1", "some", "planted")
		c := load(t, t.TempDir(), p)
		if len(c.Problems) > 0 || c.Model.Provider != provider.Name && provider.Name != "openai" || c.Model.BaseURL != "http://127.0.0.1:1/v1" || c.Model.APIKey != "planted" || c.Model.Name != "some" {
			t.Errorf("%s: problems %v, model %+v", provider.Name, c.Problems, c.Model)
		}
	}
}

func TestBadOpenClawFilesSayTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"": "line 1: a value is missing", "{a: 1\nb: 2}": "line 2: a comma or } is missing", "{a 1}": "line 1: a colon is missing", "[1 2]": "line 1: a comma or ] is missing",
		"{'a": "line 1: a string has no end", "{a: nope}": "line 1: this is no value", "{} {}": "line 1: something stands behind the end", "[]": "the file is no object",
		"\xff": "line 1: the text is not UTF-8", strings.Repeat("[", 100): "line 1: too many values lie within each other", "{,}": "line 1: a key is missing",
	} {
		if _, err := FromOpenClaw(text, environment()); err == nil || err.Error() != want {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
}

// Whatever such a file holds, reading it ends, and what becomes of it loads.
func FuzzOpenClaw(f *testing.F) {
	text, err := os.ReadFile("testdata/openclaw.json5")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add(`{channels: {telegram: {botToken: "1:a\u0041\x41\n", accounts: {"a/b": {botToken: "2:b"}}, groups: {"x:y": {}}}}}`)
	f.Add(`{agents: {list: [{id: "a b"}, {id: null}, 1]}, models: 1}`)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		p, err := FromOpenClaw(text, environment())
		if err != nil {
			return
		}
		if _, err := p.Env(); err != nil {
			return
		}
		for _, problem := range load(t, dir, p).Problems {
			if !strings.HasPrefix(problem.Entry, "adapters.") && problem.Entry != "model" { // a credential may be none
				t.Errorf("%s", problem.Err)
			}
		}
	})
}
