package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

// An editedInstall is a folder with a configuration that is changed.
type editedInstall struct {
	FileEditor
	t      *testing.T
	folder string
}

func newEditedInstall(t *testing.T, text, env string) editedInstall {
	t.Helper()
	dir := t.TempDir()
	testutil.OK(t, os.WriteFile(filepath.Join(dir, DefaultFile), []byte(text), 0o600))
	lookup, environ := environment(env)
	return editedInstall{FileEditor{LoadOptions{Folder: dir, Lookup: lookup, Environ: environ}, Load}, t, dir}
}

func (e editedInstall) text(name string) string {
	e.t.Helper()
	text, err := os.ReadFile(filepath.Join(e.folder, name))
	testutil.OK(e.t, err)
	return string(text)
}

const smallFile = "agents: {ada: {}} # ours\nadapters:\n  bot:\n    type: telegram\n    token: ${BOT}\n"

// A credential goes into the file of variables with its comments and modes as they are, the
// configuration refers to it, and a second one takes its place.
func TestACredentialIsWrittenBesideTheFile(t *testing.T) {
	e := newEditedInstall(t, smallFile, "")
	env, link := filepath.Join(e.folder, "kept.env"), filepath.Join(e.folder, EnvFile)
	testutil.OK(t, os.Symlink(env, link))
	testutil.OK(t, os.WriteFile(env, []byte("# tokens\nexport BOT='7:old'\nMODEL_API_KEY=of-another\n"), 0o600))
	p, err := e.SetSecret("model.api_key", "it's-new")
	testutil.OK(t, err)
	testutil.Same(t, "variable", "MODEL_API_KEY_2", p.Variable)
	testutil.OK(t, e.Write(p, time.Time{}))
	p, err = e.SetSecret("adapters.bot.token", "8:new")
	testutil.OK(t, err)
	testutil.Same(t, "variable", "BOT", p.Variable)
	testutil.OK(t, e.Write(p, time.Time{}))
	testutil.Same(t, EnvFile, "# tokens\nBOT=8:new\nMODEL_API_KEY=of-another\nMODEL_API_KEY_2=\"it's-new\"\n", e.text(EnvFile))
	testutil.Same(t, DefaultFile, smallFile+"model:\n  api_key: ${MODEL_API_KEY_2}\n", e.text(DefaultFile))
	c, err := Load(e.Source)
	testutil.OK(t, err)
	testutil.Same(t, "in force", [2]string{"it's-new", "8:new"}, [2]string{string(c.Model.APIKey), string(c.Adapters[0].Token)})
	if at, err := os.Readlink(link); err != nil || at != env {
		t.Errorf("the link leads to %q, %v", at, err)
	}
	info, err := os.Lstat(env)
	testutil.OK(t, err)
	testutil.Same(t, "mode", os.FileMode(0o600), info.Mode().Perm())
	if kept := e.text(filepath.Join("data", changesFile)); strings.Contains(kept, "it's-new") || strings.Contains(kept, "7:old") {
		t.Errorf("a credential is kept: %s", kept)
	}
}

// The file of variables is made where there is none; a credential that would not count is refused.
func TestACredentialThatCannotCountIsRefused(t *testing.T) {
	e := newEditedInstall(t, smallFile, "BOT=of the environment")
	for _, c := range []struct{ path, secret, want string }{
		{"adapters.bot.token", "8:new", "the environment sets BOT"},
		{"model.api_key", "two\nlines", "one line"},
		{"model.api_key", "", "one line"},
		{"admit", "open", "no credential"},
	} {
		if _, err := e.SetSecret(c.path, c.secret); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.path, err, c.want)
		}
	}
	p, err := e.SetSecret("model.api_key", "k")
	testutil.OK(t, err)
	testutil.OK(t, os.WriteFile(filepath.Join(e.folder, EnvFile), []byte("OTHER=1\n"), 0o600))
	if err := e.Write(p, time.Time{}); !errors.Is(err, errChanged) || e.text(EnvFile) != "OTHER=1\n" || e.text(DefaultFile) != smallFile {
		t.Errorf("a file of variables that was written meanwhile is replaced: %v", err)
	}
	p, err = e.SetSecret("model.api_key", "k")
	testutil.OK(t, err)
	testutil.OK(t, os.Remove(filepath.Join(e.folder, EnvFile)))
	if err := e.Write(p, time.Time{}); !errors.Is(err, errChanged) {
		t.Errorf("a file of variables that is gone meanwhile is written: %v", err)
	}
}

// A value that leaves something wrong is refused, one that was wrong before is not in the way.
func TestAChangeIsCheckedBeforeItIsWritten(t *testing.T) {
	e := newEditedInstall(t, smallFile, "") // the variable BOT is not set
	if _, err := e.Set("spaces.home.chats", "nobody:1"); err == nil || !strings.Contains(err.Error(), "something is wrong") {
		t.Errorf("a chat of no account: %v", err)
	}
	if _, err := e.Set("adapters.bot.token", "7:x"); err == nil || !strings.Contains(err.Error(), "no place in the file") {
		t.Errorf("a credential: %v", err)
	}
	p, err := e.Set("agents.ada.timezone", "Europe/Zurich")
	testutil.OK(t, err)
	testutil.Same(t, "lines", FileDiff{File: DefaultFile, Line: 1, Removed: []string{"agents: {ada: {}} # ours"}, Added: []string{"agents: {ada: {timezone: Europe/Zurich}} # ours"}}, p.Diff)
	testutil.OK(t, e.Write(p, time.Unix(9, 0).UTC()))
	p, err = e.Remove("agents.ada.timezone")
	testutil.OK(t, err)
	testutil.OK(t, e.Write(p, time.Unix(10, 0).UTC()))
	testutil.Same(t, "removed", smallFile, e.text(DefaultFile))
	all, err := e.Changes()
	testutil.OK(t, err)
	testutil.Same(t, "changes", [2]time.Time{time.Unix(10, 0).UTC(), time.Unix(9, 0).UTC()}, [2]time.Time{all[0].At, all[1].At})
	_, diff, err := e.Undo()
	testutil.OK(t, err)
	testutil.Same(t, "undone", "agents: {ada: {timezone: Europe/Zurich}} # ours", diff.Added[0])
}

func TestKeysAreDescribed(t *testing.T) {
	for path, want := range map[string]KeyDescription{
		"admit":                 {Default: "pairing", Words: admitWords},
		"listen":                {Default: "127.0.0.1:7420", Restart: true},
		"model.api_key":         {Secret: true},
		"adapters.bot":          {Group: true},
		"spaces.home.relay":     {Default: "false", Words: []string{"true", "false"}},
		"agents.ada.acts.react": {Default: "as at the top", Words: []string{"true", "false"}},
		"acts.react":            {Default: "true", Words: []string{"true", "false"}},
		"agents.ada.persona":    {},
		`spaces."a.b".wake`:     {Default: "as at the top", Words: []string{"auto", "mention", "all", "none"}},
		"attachments.max_mb":    {Default: "20", Restart: true},
	} {
		got, ok := DescribeKey(path)
		if !ok || got.Meaning == "" && !got.Group {
			t.Errorf("%s is not known", path)
		}
		got.Meaning = ""
		testutil.Same(t, path, want, got)
	}
	for _, path := range []string{"agents.ada.price.currency", "nothing", "agents.ada.nothing", "agents..x", ""} {
		if _, ok := DescribeKey(path); ok {
			t.Errorf("%s is known", path)
		}
	}
}

// What a process runs, whom it trusts on the network and where credentials go is changed on the machine.
func TestKeysOfTheMachineAreKnown(t *testing.T) {
	for path, local := range map[string]bool{
		"tools.commands.x.run": true, "model.base_url": true, "adapters.bot.api_url": true, "token": true, "agents.ada.persona.file": true, "database": true, "models.b.base_url": true,
		"agents.ada.tools": false, "spaces.home.tools.deny": false, "agents.ada.model.name": false, "adapters.bot.token": false, "budget.per_day": false, "owners": false,
		"agents.ada.model.base_url": true, "a..b": true,
	} {
		testutil.Same(t, path, local, IsLocalKey(path))
	}
	for value, plain := range map[string]bool{"Europe/Zurich": true, "[a, b]": true, "$5": true, "${file:/etc/passwd}": false, " {file: /etc/passwd}": false, "[${HOME}]": false} {
		testutil.Same(t, value, plain, IsPlainValue(value))
	}
}
