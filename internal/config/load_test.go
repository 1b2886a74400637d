package config

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

// Folders, pipes, files that are too large and files that are not UTF-8 are refused
// without waiting.
func TestUnsuitableFilesAreRefused(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{"utf16": "\xff\xfed\x00a\x00", "large": strings.Repeat("# x\n", maxFile/4+1)}
	for name, text := range files {
		testutil.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	wants := map[string]string{"utf16": "save it as UTF-8", "large": "it is larger than 1 MiB", ".": "it is a folder", "none": "it does not exist"}
	if runtime.GOOS != "windows" {
		testutil.OK(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
		wants["pipe"] = "it is no regular file"
	}
	for name, want := range wants {
		_, err := Load(LoadOptions{Path: name, Folder: dir, Lookup: func(string) (string, bool) { return "", false }})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

// A byte order mark is not part of the first key or the first variable.
func TestByteOrderMarkIsIgnored(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{DefaultFile: "\ufeffdata: ./there\r\nadmit: ${WHO}\r\n", EnvFile: "\ufeffWHO=deny\r\n"} {
		testutil.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	c, err := Load(LoadOptions{Folder: dir, Lookup: func(string) (string, bool) { return "", false }})
	testutil.OK(t, err)
	if want := filepath.Join(dir, "there"); c.Data != want || c.Admit != "deny" || len(c.Warnings) != 0 {
		t.Errorf("data is %q, want %q; admit is %q; warned of %+v", c.Data, want, c.Admit, c.Warnings)
	}
}

// The fingerprint changes with the text, the mode, and another file of the same size
// and time.
func TestFingerprintSeesEveryChange(t *testing.T) {
	file := filepath.Join(t.TempDir(), DefaultFile)
	seen := map[string]string{}
	look := func(what string) {
		t.Helper()
		now := FileFingerprint([]string{file})
		if was, known := seen[now]; known {
			t.Errorf("%s looks like %s", what, was)
		}
		seen[now] = what
	}
	look("no file")
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"a file", func() error { return os.WriteFile(file, []byte("a: 1\n"), 0o600) }},
		{"a longer one", func() error { return os.WriteFile(file, []byte("a: 12\n"), 0o600) }},
		{"another mode", func() error { return os.Chmod(file, 0o644) }},
		{"another file of the same size and time", func() error {
			info, err := os.Stat(file)
			if err != nil {
				return err
			}
			if err := os.WriteFile(file+".new", []byte("a: 34\n"), 0o644); err != nil {
				return err
			}
			if err := os.Chtimes(file+".new", info.ModTime(), info.ModTime()); err != nil {
				return err
			}
			return os.Rename(file+".new", file)
		}},
	} {
		testutil.OK(t, step.do())
		look(step.what)
	}
}

// The files that values come from are listed like the configuration, those of the
// environment and of a persona included.
func TestFilesListsEveryFileThatWasRead(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		DefaultFile: "adapters: {bot: {type: telegram, token: \"${file:token}\"}}\nagents: {ada: {persona: {file: ada.md}}}\n", "token": "7:x", "ada.md": "Ada", "model": "m",
	} {
		testutil.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	lookup, environ := environment("TRESTLE_MODEL__NAME_FILE=" + filepath.Join(dir, "model"))
	c, err := Load(LoadOptions{Folder: dir, Lookup: lookup, Environ: environ})
	testutil.OK(t, err)
	for i, name := range []string{DefaultFile, EnvFile, "token", "model", "ada.md"} { // the variables may be written later
		if got := c.Files(); len(got) != 5 || got[i] != filepath.Join(dir, name) {
			t.Errorf("files are %q", got)
		}
	}
}

// A database address is a credential only if it has a password.
func TestAddressWithoutAPasswordIsNoCredential(t *testing.T) {
	for text, want := range map[string]bool{
		"redis://127.0.0.1:6379/0": false, "redis://trestle:word@127.0.0.1:6379/0": true, "rediss://:word@cache:6379": true,
	} {
		file := filepath.Join(t.TempDir(), DefaultFile)
		testutil.OK(t, os.WriteFile(file, []byte("redis: "+text+"\n"), 0o600))
		c, err := Load(LoadOptions{Path: file, Lookup: func(string) (string, bool) { return "", false }})
		testutil.OK(t, err)
		warned := false
		for _, w := range c.Warnings {
			warned = warned || strings.Contains(w.Err.What, "a credential stands in the file")
		}
		if warned != want {
			t.Errorf("%s: warned of a credential: %t, want %t", text, warned, want)
		}
	}
}

// The variables of trestle.env apply, and those of the environment override them.
func TestEnvFileBesideTheConfigurationIsRead(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		DefaultFile: "adapters: {bot: {type: telegram, token: \"${T}\"}, other: {type: telegram, token: \"${U}\"}}\n",
		EnvFile:     "# kept by me\nexport T='7:a#b'\nU=8:file\nTRESTLE_MAX_STEPS=3\nno variable\n",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	lookup, environ := environment("U=9:environment")
	c, err := Load(LoadOptions{Folder: dir, Lookup: lookup, Environ: environ})
	if err != nil || len(c.Problems) > 0 {
		t.Fatal(err, c.Problems)
	}
	if string(c.Adapters[0].Token) != "7:a#b" || string(c.Adapters[1].Token) != "9:environment" || c.SettingsFor("", "").MaxSteps != 3 {
		t.Errorf("tokens %q and %q, max_steps %d", string(c.Adapters[0].Token), string(c.Adapters[1].Token), c.SettingsFor("", "").MaxSteps)
	}
	if len(c.Warnings) != 2 || !c.Warnings[0].Serious || !strings.Contains(c.Warnings[0].Err.What, "0644") || c.Warnings[1].Err.At.Line != 5 {
		t.Errorf("warnings %+v", c.Warnings)
	}
	if !slices.Contains(c.Files(), filepath.Join(dir, EnvFile)) {
		t.Errorf("files %q", c.Files())
	}
}

// Every value is parsed from its formatted line unchanged.
func TestFormattedEnvLineParsesToItsValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.String().Draw(t, "value")
		line, ok := FormatEnvLine("NAME", value)
		if !ok {
			return
		}
		got, bad := parseEnv("# before\n" + line + "\n")
		if len(bad) > 0 || got["NAME"] != value {
			t.Fatalf("%q is written as %s and read as %q", value, line, got["NAME"])
		}
	})
}
