package toolproc

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

// installBwrap puts a program in PATH in the place of bubblewrap.
func installBwrap(t *testing.T, script string) {
	t.Helper()
	folder := t.TempDir()
	testutil.OK(t, os.WriteFile(filepath.Join(folder, "bwrap"), []byte("#!/bin/sh\n"+script), 0o700)) //nolint:gosec // it is to be executable
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
}

// passOn is a bubblewrap that only runs what it is given.
const passOn = "while [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"\n"

func TestSandboxShowsWhatIsNamed(t *testing.T) {
	installBwrap(t, passOn)
	base, work, data := t.TempDir(), t.TempDir(), t.TempDir()
	script := filepath.Join(base, "tool.py")
	testutil.OK(t, os.WriteFile(script, nil, 0o600))
	shown := func(s SandboxPlan) []string {
		words, err := s.wrap(work, []string{"/usr/bin/env", script, "--data=" + data, "/usr/share", "/no/such", "/"})
		testutil.OK(t, err)
		return words
	}
	bound := func(words []string, how, path string) bool {
		i := slices.Index(words, path)
		return i > 0 && words[i-1] == how && words[i+1] == path
	}
	words := shown(SandboxPlan{Write: []string{base}})
	for _, path := range []string{script, data, "/usr"} {
		if !bound(words, "--ro-bind", path) {
			t.Errorf("%s is not shown read only: %q", path, words)
		}
	}
	for _, path := range []string{work, base} {
		if !bound(words, "--bind", path) {
			t.Errorf("%s is not shown: %q", path, words)
		}
	}
	for _, path := range []string{"/", "/etc", "/home", "/root", "/var", "/run", "/tmp", "/etc/resolv.conf", "/etc/shadow"} {
		if bound(words, "--ro-bind", path) || bound(words, "--bind", path) {
			t.Errorf("%s is shown: %q", path, words)
		}
	}
	for _, flag := range []string{"--unshare-all", "--die-with-parent"} {
		if !slices.Contains(words, flag) {
			t.Errorf("no %s: %q", flag, words)
		}
	}
	if slices.Contains(words, "--share-net") || !slices.Contains(shown(SandboxPlan{Network: true}), "--share-net") {
		t.Error("the network is not as asked")
	}
	for _, path := range []string{"relative", "/no/such/folder"} {
		if _, err := (&SandboxPlan{Read: []string{path}}).wrap(work, []string{"/usr/bin/env"}); err == nil {
			t.Errorf("%s can be shown", path)
		}
	}
}

func TestSandboxedToolLivesInItsFolder(t *testing.T) {
	installBwrap(t, passOn)
	p := toolOf(t, "report")
	p.Sandbox = &SandboxPlan{}
	t.Setenv("TMPDIR", "/var/tmp")
	r := reportOf(t, p)
	if want := "HOME=" + filepath.Join(p.Folder, "tool"); !slices.Contains(r.Env, want) || slices.Contains(r.Env, "TMPDIR=/var/tmp") {
		t.Errorf("got %q, want %s among them and no TMPDIR", r.Env, want)
	}
}

func TestSandboxThatFailsIsExplained(t *testing.T) {
	for script, want := range map[string]string{
		passOn: "",
		"echo 'bwrap: No permissions to create new namespace' >&2\nexit 1\n":                     "RestrictNamespaces=",
		"echo 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n":                      "apparmor_restrict_unprivileged_userns",
		"echo \"bwrap: Can't mount proc on /newroot/proc: Operation not permitted\" >&2\nexit 1": "systempaths=unconfined",
		"kill -SYS $$\n": "SystemCallFilter=",
		"echo 'bwrap: something else' >&2\nexit 1": "something else",
	} {
		installBwrap(t, script)
		err := CheckSandbox(t.Context())
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", script, err, want)
		}
	}
	t.Setenv("PATH", t.TempDir())
	p := ToolProgram{Name: "tool", Command: []string{"/bin/sh"}, Folder: t.TempDir(), Sandbox: &SandboxPlan{}}
	if _, err := Start(p); !errors.Is(err, ErrSandbox) {
		t.Errorf("got %v, want ErrSandbox", err)
	}
}

// Where bubblewrap is installed and works, a tool sees its own folder and not another
// file of this user, and reaches no address. Elsewhere the check says why not.
func TestSandboxHidesFilesAndNetwork(t *testing.T) {
	if err := CheckSandbox(t.Context()); err != nil {
		if _, lookErr := exec.LookPath("bwrap"); (lookErr != nil) != errors.Is(err, ErrSandbox) {
			t.Errorf("got %v, and bubblewrap in PATH: %v", err, lookErr)
		}
		return
	}
	secret := filepath.Join(t.TempDir(), "secret")
	testutil.OK(t, os.WriteFile(secret, []byte("secret"), 0o600))
	process := startTool(t, ToolProgram{
		Name: "tool", Folder: t.TempDir(), Sandbox: &SandboxPlan{}, Limits: DefaultLimits(),
		Command: []string{"sh", "-c", "cat " + secret + " 2>/dev/null; touch here && ls; wc -l </proc/net/route; echo $PPID"},
	})
	var lines []string
	for scanner := bufio.NewScanner(process.Output()); scanner.Scan(); {
		lines = append(lines, strings.TrimSpace(scanner.Text()))
	}
	if len(lines) != 3 || lines[0] != "here" || lines[1] != "1" {
		t.Errorf("the tool saw %q: %s", lines, process.LastLines(5))
	}
}
