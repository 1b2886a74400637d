package settingsdesk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

const file = `# ours
agents:
  ada: {name: Ada}   # the first
adapters:
  bot: {type: telegram, token: "7:AAEhBOweik6ad9r-secret", limits: {outgoing: platform}}
tools:
  commands: {up: {run: [uptime], description: how long}}
`

// openDesk returns a desk over a file, and a function that reads the file.
func openDesk(t *testing.T) (*ConfigDesk, func() string) {
	t.Helper()
	dir := t.TempDir()
	testutil.OK(t, os.WriteFile(filepath.Join(dir, config.DefaultFile), []byte(file), 0o600))
	source := config.LoadOptions{Folder: dir, Lookup: func(string) (string, bool) { return "", false }}
	current := func() *config.Config {
		c, err := config.Load(source)
		testutil.OK(t, err)
		return c
	}
	return New(source, config.Load, current), func() string {
		text, err := os.ReadFile(filepath.Join(dir, config.DefaultFile))
		testutil.OK(t, err)
		return string(text)
	}
}

// refusalOf returns what a refused change says.
func refusalOf(t *testing.T, err error) string {
	t.Helper()
	said, ok := errors.AsType[console.UserError](err)
	if !ok {
		t.Fatalf("%v is no refusal", err)
	}
	return said.Refusal().Error + " / " + said.Refusal().Do
}

// A change is made as it was shown, once, and is taken back once.
func TestAChangeIsMadeAsItWasShown(t *testing.T) {
	d, read := openDesk(t)
	c := console.SettingChange{Path: "agents.ada.timezone", Value: "Europe/Zurich"}
	shown, err := d.Propose(c)
	testutil.OK(t, err)
	testutil.Same(t, "shown", "  ada: {name: Ada, timezone: Europe/Zurich}   # the first", shown.Added[0])
	if read() != file || !shown.Writable {
		t.Error("a change that is shown is written, or cannot be")
	}
	c.Seen = shown.Seen
	_, err = d.Apply(c)
	testutil.OK(t, err)
	testutil.Same(t, "file", strings.Replace(file, "{name: Ada}", "{name: Ada, timezone: Europe/Zurich}", 1), read())
	detail, err := d.Setting("agents.ada.timezone")
	testutil.OK(t, err)
	testutil.Same(t, "in force", [2]string{"Europe/Zurich", "trestle.yaml:3:30"}, [2]string{detail.Value, detail.Origin})
	if _, err = d.Apply(c); !strings.Contains(refusalOf(t, err), "changed meanwhile") {
		t.Errorf("a change is made over another: %v", err)
	}
	all, err := d.Changes()
	testutil.OK(t, err)
	testutil.Same(t, "changes", 1, len(all))
	_, err = d.Undo(all[0].Seen)
	testutil.OK(t, err)
	testutil.Same(t, "undone", file, read())
	if _, err = d.Undo(all[0].Seen); !strings.Contains(refusalOf(t, err), "not the last change") {
		t.Errorf("a change is taken back twice: %v", err)
	}
}

// No credential is shown, whether the file has it beside what changes or it was just written.
func TestNoCredentialIsShown(t *testing.T) {
	d, read := openDesk(t)
	c := console.SettingChange{Path: "adapters.bot.limits.outgoing", Value: "off"}
	shown, err := d.Propose(c)
	testutil.OK(t, err)
	c.Seen = shown.Seen
	_, err = d.Apply(c)
	testutil.OK(t, err)
	written, err := d.Apply(console.SettingChange{Path: "model.api_key", Value: "sk-5f1c-the-key"})
	testutil.OK(t, err)
	testutil.Same(t, "variable", "MODEL_API_KEY", written.Variable)
	all, err := d.Changes()
	testutil.OK(t, err)
	detail, err := d.Setting("model.api_key")
	testutil.OK(t, err)
	if text := fmt.Sprint(shown, written, all, detail); strings.Contains(text, "secret") || strings.Contains(text, "the-key") || !strings.Contains(text, "outgoing: off") {
		t.Error(text)
	}
	// A program that starts later does not know a credential that was replaced by hand.
	folder := d.editor.Source.Folder
	testutil.OK(t, os.WriteFile(filepath.Join(folder, config.DefaultFile), []byte(strings.Replace(read(), "ad9r-secret", "ad9r-newer", 1)), 0o600))
	all, err = New(d.editor.Source, config.Load, d.current).Changes()
	testutil.OK(t, err)
	if text := fmt.Sprint(all); strings.Contains(text, "secret") || !strings.Contains(text, "outgoing: off") {
		t.Error(text)
	}
}

// What runs on the machine, and what reads its files, is not written from the network; nor is it taken back.
func TestTheMachineIsNotChangedFromTheNetwork(t *testing.T) {
	d, read := openDesk(t)
	for _, c := range []console.SettingChange{
		{Path: "tools.commands.up.run", Value: "[sh, -c, id]"},
		{Path: "model.base_url", Value: "https://elsewhere.example.org"},
		{Path: "listen", Value: "0.0.0.0:80"},
		{Path: "tools.commands.up.description", Reset: true},
		{Path: "agents.ada.persona", Value: "${file:/etc/passwd}"},
		{Path: "agents.ada.persona", Value: "{file: /etc/passwd}"},
		{Path: "agents.ada.persona.file", Value: "/etc/passwd"},
	} {
		for _, try := range []func(console.SettingChange) (console.SettingDiff, error){d.Propose, d.Apply} {
			if _, err := try(c); !strings.Contains(refusalOf(t, err), "on the machine alone") {
				t.Errorf("%v: %v", c, err)
			}
		}
	}
	p, err := d.editor.Remove("tools.commands.up.description")
	testutil.OK(t, err)
	testutil.OK(t, d.editor.Write(p, p.At))
	all, err := d.Changes()
	testutil.OK(t, err)
	if _, err := d.Undo(all[0].Seen); !all[0].Local || !strings.Contains(refusalOf(t, err), "on the machine alone") || read() == file {
		t.Errorf("a change of the machine is taken back from the network: %v", err)
	}
}
