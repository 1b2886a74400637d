package toolproc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// ErrSandbox is returned when a program is to run in a sandbox and bubblewrap is not
// installed.
var ErrSandbox = errors.New("bubblewrap (bwrap) is not installed; install the package bubblewrap, or remove sandbox: bwrap")

// A SandboxPlan says what a program sees under bubblewrap, see bwrap(1): /usr and the
// like of the machine, read only, its own working folder, which is its home, an empty
// /tmp, and no other process. Files and folders that its command names are read only.
type SandboxPlan struct {
	// Network leaves the network of the machine open. Otherwise there is none, not even
	// loopback to the machine.
	Network bool
	// Read and Write are absolute paths of more files and folders that the program sees.
	Read, Write []string
}

// systemPaths are bound read only where they exist. Links, as /lib is on most systems,
// are made again.
var systemPaths = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc/alternatives", "/etc/ld.so.cache",
	"/etc/localtime", "/etc/passwd", "/etc/group", "/nix/store",
}

// networkPaths are needed to resolve names and to check certificates.
var networkPaths = []string{
	"/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/ssl", "/etc/ca-certificates", "/etc/pki",
}

// wrap returns the words that run others under bubblewrap.
func (s *SandboxPlan) wrap(work string, words []string) ([]string, error) {
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		return nil, ErrSandbox
	}
	if bwrap, err = filepath.Abs(bwrap); err != nil {
		return nil, fmt.Errorf("toolproc: %w", err)
	}
	for _, path := range slices.Concat(s.Read, s.Write) {
		if !filepath.IsAbs(path) {
			return nil, fmt.Errorf("toolproc: the sandbox needs absolute paths, not %q", path)
		}
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("toolproc: the sandbox cannot show %s: %w", path, err)
		}
	}
	args := []string{bwrap, "--die-with-parent", "--unshare-all"}
	paths := systemPaths
	if s.Network {
		args = append(args, "--share-net")
		paths = slices.Concat(systemPaths, networkPaths)
	}
	args = append(args, "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp")
	for _, path := range paths {
		args = append(args, showPath(path)...)
	}
	for _, path := range slices.Concat(namedPaths(words), s.Read) {
		args = append(args, "--ro-bind", path, path)
	}
	for _, path := range slices.Concat([]string{work}, s.Write) {
		args = append(args, "--bind", path, path)
	}
	return slices.Concat(args, []string{"--chdir", work, "--"}, words), nil
}

// showPath returns the arguments that show a path of the system as it is; none if it is
// absent.
func showPath(path string) []string {
	info, err := os.Lstat(path)
	if err != nil {
		return nil
	}
	if target, err := os.Readlink(path); err == nil && info.Mode()&os.ModeSymlink != 0 && filepath.Dir(path) == "/" {
		return []string{"--symlink", target, path}
	}
	return []string{"--ro-bind", path, path}
}

// namedPaths returns the files and folders outside the system's paths that a command
// names, alone or after "=".
func namedPaths(words []string) []string {
	var paths []string
	for _, word := range words {
		if _, after, split := strings.Cut(word, "="); split && !filepath.IsAbs(word) {
			word = after
		}
		if !filepath.IsAbs(word) || filepath.Clean(word) == "/" || slices.Contains(paths, word) ||
			slices.ContainsFunc(systemPaths, func(p string) bool { return strings.HasPrefix(word, p+"/") }) {
			continue
		}
		if _, err := os.Stat(word); err == nil {
			paths = append(paths, word)
		}
	}
	return paths
}

// CheckSandbox reports whether programs can run under bubblewrap here: it runs one. The
// error is [ErrSandbox], or says what is in the way and what lifts it.
func CheckSandbox(ctx context.Context) error {
	program, err := exec.LookPath("true")
	if err != nil {
		return fmt.Errorf("toolproc: %w", err)
	}
	work, err := os.MkdirTemp("", "trestle-sandbox-")
	if err != nil {
		return fmt.Errorf("toolproc: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }()
	words, err := (&SandboxPlan{}).wrap(work, []string{program})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...) //nolint:gosec // bubblewrap with arguments of ours
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		return sandboxProblem(strings.TrimSpace(said.String()), err)
	}
	return nil
}

// sandboxProblem explains a failure of bubblewrap.
func sandboxProblem(said string, err error) error {
	lower := strings.ToLower(said)
	switch {
	case strings.Contains(lower, "namespace") || strings.Contains(lower, "uid map") || strings.Contains(lower, "clone"):
		return fmt.Errorf("bubblewrap may not make namespaces (%s): in the packaged service RestrictNamespaces= is in the way,"+
			" which the drop-in tools.conf lifts; elsewhere sysctl kernel.unprivileged_userns_clone=1,"+
			" or kernel.apparmor_restrict_unprivileged_userns=0", said)
	case strings.Contains(lower, "mount") || strings.Contains(lower, "proc"):
		return fmt.Errorf("bubblewrap may not mount (%s): in a container it needs --security-opt seccomp=unconfined"+
			" and systempaths=unconfined, or run tools without sandbox: bwrap there", said)
	case said == "":
		return fmt.Errorf("bubblewrap does not run (%w): in the packaged service SystemCallFilter= is in the way,"+
			" which the drop-in tools.conf lifts", err)
	default:
		return fmt.Errorf("bubblewrap does not run: %s", said)
	}
}
