package config

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

var update = flag.Bool("update", false, "rewrite golden files")

// environment reads "NAME=value" lines.
func environment(text string) (lookup func(string) (string, bool), environ []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			environ = append(environ, line)
		}
	}
	return func(name string) (string, bool) {
		for _, v := range environ {
			if k, value, _ := strings.Cut(v, "="); k == name {
				return value, true
			}
		}
		return "", false
	}, environ
}

// loadText loads a configuration file with that text, and the environment.
func loadText(t *testing.T, yaml, env string) (*Config, error) {
	t.Helper()
	return Load(optionsFor(t, yaml, env))
}

// optionsFor returns the options to load a file with that text, and no file without one.
func optionsFor(t *testing.T, yaml, env string) LoadOptions {
	t.Helper()
	dir := t.TempDir()
	if yaml != "" {
		testutil.OK(t, os.WriteFile(filepath.Join(dir, DefaultFile), []byte(yaml), 0o600))
	}
	lookup, environ := environment(env)
	return LoadOptions{Folder: dir, Lookup: lookup, Environ: environ}
}

// golden compares got with the named part of an archive, or rewrites it.
func golden(t *testing.T, file, part, got string) {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	testutil.OK(t, err)
	for i := range archive.Files {
		f := &archive.Files[i]
		if f.Name != part {
			continue
		}
		if *update {
			f.Data = []byte(got)
			testutil.OK(t, os.WriteFile(file, txtar.Format(archive), 0o644))
			return
		}
		if diff := gocmp.Diff(string(f.Data), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", part, diff)
		}
		return
	}
	t.Fatalf("%s has no part %s", file, part)
}

func archivePart(t *testing.T, file, part string) string {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	testutil.OK(t, err)
	for _, f := range archive.Files {
		if f.Name == part {
			return string(f.Data)
		}
	}
	return ""
}

// Every error names its position and a fix, and an error in one entry leaves the
// others running.
func TestConfigFaultsNameTheirPlace(t *testing.T) {
	files, err := filepath.Glob("testdata/faults/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			dir := furnish(t, file)
			lookup, environ := environment(archivePart(t, file, "env"))
			c, err := Load(LoadOptions{Folder: dir, Lookup: lookup, Environ: environ})
			var out strings.Builder
			exit := said(&out, c, err)
			got := strings.ReplaceAll(out.String(), dir, "TMP")
			for line := range strings.Lines(strings.TrimSuffix(got, "\n")) {
				if strings.HasSuffix(line, ";\n") || strings.Contains(line, "%!") {
					t.Errorf("an unfinished line: %q", line)
				}
			}
			for _, f := range ListFindings(c, err) {
				if f.Where == "default" || f.What == "" || (f.Do == "" && !strings.Contains(f.What, "none of") && !strings.Contains(f.What, " is no ") && !strings.Contains(f.What, "is neither")) {
					t.Errorf("a finding does not say where, what and what to do: %+v", f)
				}
			}
			golden(t, file, "said", got+"exit "+exit+"\n")
		})
	}
}

// said writes the errors and warnings of a configuration, as `config check` does,
// and returns the exit code.
func said(w *strings.Builder, c *Config, err error) (exit string) {
	invalid, fatal := errors.AsType[*InvalidError](err)
	if fatal {
		WriteFaults(w, invalid.Text, invalid.Errors)
	}
	if c != nil {
		c.WriteProblems(w)
		c.WriteWarnings(w)
	}
	switch {
	case fatal:
		return "78"
	case !c.IsSound():
		return "1"
	}
	fmt.Fprintf(w, "%s is fine: %s\n", c.SourceName(), c.Summary())
	return "0"
}

// furnish writes the files of an archive into a new folder, the configuration with
// the mode of the archive.
func furnish(t *testing.T, file string) string {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	testutil.OK(t, err)
	dir, modes := t.TempDir(), map[string]os.FileMode{DefaultFile: 0o600}
	if archivePart(t, file, "mode") != "" {
		modes[DefaultFile] = 0o644
	}
	for _, f := range archive.Files {
		if f.Name == "env" || f.Name == "said" || f.Name == "mode" {
			continue
		}
		testutil.OK(t, os.WriteFile(filepath.Join(dir, f.Name), f.Data, cmp.Or(modes[f.Name], 0o644)))
	}
	return dir
}

// The example of the documentation loads unchanged.
func TestDocumentedExampleLoads(t *testing.T) {
	c, err := loadText(t, contractExample, "OPENAI_BASE_URL=http://127.0.0.1:1/v1\nOPENAI_API_KEY=sk-1\nTELEGRAM_BOT_TOKEN=1:a\nSLACK_BOT_TOKEN=x\nSLACK_APP_TOKEN=y\nDISCORD_BOT_TOKEN=z")
	testutil.OK(t, err)
	if got, want := string(c.Adapters[0].Token), "1:a"; got != want || c.Adapters[0].Misconfigured {
		t.Errorf("telegram token %q, misconfigured %v", got, c.Adapters[0].Misconfigured)
	}
	want := []ChatRef{{"telegram", "-1001234"}, {"acme", "C0123456"}, {"guild", "998877"}}
	if diff := gocmp.Diff(want, c.Spaces[0].Chats); diff != "" {
		t.Errorf("chats (-want +got):\n%s", diff)
	}
	if got := c.SettingsFor("ada", "guild:112233").Wake; got != "mention" {
		t.Errorf("wake of the server's channels is %q, want mention", got)
	}
	var entries []string
	for _, p := range c.Problems {
		entries = append(entries, p.Entry)
	}
	// max is named by the server and missing under agents.
	if diff := gocmp.Diff([]string{"servers.guild:112233"}, entries); diff != "" {
		t.Errorf("misconfigured (-want +got):\n%s", diff)
	}
}

const contractExample = `data: ./data
database: ""
redis: ""
listen: 127.0.0.1:7420
webhook_listen: ""

model:
  base_url: ${OPENAI_BASE_URL}
  api_key: ${OPENAI_API_KEY}
  name: gpt-5-mini
  context_tokens: 32000

adapters:
  telegram: {type: telegram, token: ${TELEGRAM_BOT_TOKEN}, api_url: ""}
  acme:     {type: slack, bot_token: ${SLACK_BOT_TOKEN}, app_token: ${SLACK_APP_TOKEN}, signing_secret: "", api_url: ""}
  guild:    {type: discord, token: ${DISCORD_BOT_TOKEN}, api_url: ""}

admit: pairing
limits: {outgoing: platform}
default_agents: [ada]

agents:
  ada: {name: Ada, persona: "You are Ada …", phases: two, dialect: tools}

servers:
  "guild:112233": {agents: [ada, max], wake: mention, circle: acme}

spaces:
  family:
    name: Family
    circle: home
    agents: [ada]
    wake: auto
    relay: false
    chats: ["telegram:-1001234", "acme:C0123456", "guild:998877"]
`

// GTS-13, GTS-37, PRD-5.2-5: global, agent, space; the most specific wins.
func TestMostSpecificSettingWins(t *testing.T) {
	c, err := loadText(t, `
max_steps: 3
cross_space: {origin_limit: 7}
wait.timeout: 90s
agents:
  ada: {max_steps: 4, parallel: 1}
  bob: {}
spaces:
  den: {agents: [ada, bob], max_steps: 5, budget: {per_cycle: 60k}}
`, "")
	testutil.OK(t, err)
	for _, test := range []struct {
		agent, space string
		want         int
	}{{"", "", 3}, {"bob", "", 3}, {"ada", "", 4}, {"ada", "den", 5}, {"bob", "den", 5}} {
		if got := c.SettingsFor(test.agent, test.space).MaxSteps; got != test.want {
			t.Errorf("max_steps of %q in %q is %d, want %d", test.agent, test.space, got, test.want)
		}
	}
	s := c.SettingsFor("ada", "den")
	if s.CrossSpace.OriginLimit != 7 || s.CrossSpace.TargetLimit != 15 || s.Budget.PerCycle.Tokens != 60_000 || s.Wait.Timeout.String() != "1m30s" || s.Parallel != 1 {
		t.Errorf("settings of ada in den: %+v", s)
	}
}

// Without a file the environment configures adapters, model and settings.
func TestEnvironmentAloneIsEnough(t *testing.T) {
	c, err := loadText(t, "", "OPENAI_BASE_URL=http://127.0.0.1:9/v1\nTRESTLE_MODEL=small\nTELEGRAM_BOT_TOKEN=42:token\nTRESTLE_LISTEN=127.0.0.1:0\nTRESTLE_DATA=here\nTRESTLE_MAX_STEPS=2\nTRESTLE_AGENTS__MAX__PERSONA=You are Max.\nTRESTLE_FAULTS=x")
	testutil.OK(t, err)
	if c.Model.Offline || c.Model.BaseURL != "http://127.0.0.1:9/v1" || c.Model.Name != "small" || c.Listen != "127.0.0.1:0" || filepath.Base(c.Data) != "here" {
		t.Errorf("config is %+v", c)
	}
	if len(c.Adapters) != 1 || string(c.Adapters[0].Token) != "42:token" || len(c.Problems) != 0 {
		t.Errorf("adapters %+v, problems %v", c.Adapters, c.Problems)
	}
	if c.Agents[0].ID != "max" || c.SettingsFor("max", "").MaxSteps != 2 {
		t.Errorf("agents %+v", c.Agents)
	}
}

func TestNothingConfiguredIsOneAgentOffline(t *testing.T) {
	c, err := loadText(t, "", "")
	testutil.OK(t, err)
	if !c.Model.Offline || len(c.Agents) != 1 || len(c.Adapters) != 0 || len(c.Problems) != 0 {
		t.Errorf("config is %+v", c)
	}
}

// limits.outgoing: off sets the default token budgets to 0 and keeps those of the
// file.
func TestOutgoingOffLiftsDefaultCapsOnly(t *testing.T) {
	c, err := loadText(t, "limits: {outgoing: off}\nbudget: {agent_per_day: 5k}\n", "")
	testutil.OK(t, err)
	got := c.SettingsFor("ada", "").Budget
	if got.PerDay.Limited() || got.PerCycle.Limited() || got.SpacePerDay.Limited() || got.AgentPerDay.Tokens != 5000 {
		t.Errorf("budget is %+v", got)
	}
}
