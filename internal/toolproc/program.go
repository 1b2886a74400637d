// Package toolproc runs programs of the operator that serve as tools.
//
// A program runs in a session and process group of its own, in a working folder of its
// own, with the environment that is listed, without descriptors of this process, and
// under resource limits. [Process.Stop] ends the whole group. With a [SandboxPlan] it
// also runs under bubblewrap, which hides the files and the network of the machine.
// Without a sandbox a program can read what this process can read, and one that starts
// a session of its own outlives the group.
//
// Limits are set between fork and exec: the process starts its own executable under the
// name of the launcher, which sets them and then executes the program. Every program
// that imports this package can be started so; see [launchHere].
package toolproc

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A ToolProgram says what to start and with which rights. It is not changed by [Start].
type ToolProgram struct {
	// Name is the name of the tool; the working folder is called the same. It has
	// letters, digits, "-" and "_" only.
	Name string
	// Command is the program and its arguments. A program without a slash is searched
	// in PATH.
	Command []string
	// Base is the folder that relative paths in Command belong to: the folder of the
	// configuration. See [ToolProgram.arguments].
	Base string
	// Folder holds the working folders of all tools; it is made if it is absent.
	Folder string
	// Env is added to PATH, HOME, LANG and TMPDIR, and replaces them.
	Env map[string]string
	// Limits bound what the program uses.
	Limits ProcessLimits
	// Sandbox, unless nil, runs the program under bubblewrap.
	Sandbox *SandboxPlan
}

// ErrNotFound is returned by [Start] when the program does not exist or may not be
// executed.
var ErrNotFound = errors.New("the program is not there")

// inherited are the variables that a program gets from this process.
var inherited = []string{"PATH", "HOME", "LANG", "TMPDIR"}

var folderName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$`)

// WorkFolder returns the folder that the program runs in, and makes it. It fails when
// the name is no plain name or the folder is a link to another place.
func (p ToolProgram) WorkFolder() (string, error) {
	if !folderName.MatchString(p.Name) {
		return "", fmt.Errorf("toolproc: %q cannot name a working folder", p.Name)
	}
	folder, err := filepath.Abs(filepath.Join(p.Folder, p.Name))
	if err != nil {
		return "", fmt.Errorf("toolproc: %w", err)
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", fmt.Errorf("toolproc: make the working folder: %w", err)
	}
	info, err := os.Lstat(folder)
	if err != nil {
		return "", fmt.Errorf("toolproc: %w", err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("toolproc: the working folder %s is no folder", folder)
	}
	return folder, nil
}

// environment returns the variables of the program, sorted: the inherited ones and Env.
// HOME is the working folder in a sandbox, and where ours is no folder, as in a service
// without a home: programs such as npx write there.
func (p ToolProgram) environment(work string) []string {
	all := make(map[string]string, len(inherited)+len(p.Env))
	for _, name := range inherited {
		if value, set := os.LookupEnv(name); set {
			all[name] = value
		}
	}
	if p.Sandbox != nil {
		delete(all, "TMPDIR") // the sandbox has an empty /tmp
	}
	if home, err := os.Stat(all["HOME"]); p.Sandbox != nil || err != nil || !home.IsDir() {
		all["HOME"] = work
	}
	maps.Copy(all, p.Env)
	list := make([]string, 0, len(all))
	for name, value := range all {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}

// checkWords refuses an environment or arguments that the system cannot pass on.
func (p ToolProgram) checkWords() error {
	if len(p.Command) == 0 || p.Command[0] == "" {
		return errors.New("toolproc: the command is empty")
	}
	for _, word := range p.Command {
		if strings.ContainsRune(word, 0) {
			return errors.New("toolproc: an argument holds a zero byte")
		}
	}
	for name, value := range p.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			return fmt.Errorf("toolproc: %q cannot be a variable of the environment", name)
		}
	}
	return nil
}

// arguments returns Command with an absolute program, and with each relative path that
// names a file or folder below Base made absolute: the program runs in another folder
// than the one in which the operator wrote the path. A path is recognised by its slash,
// alone or after "=", as in "--config=./tool.json"; other arguments are not changed.
func (p ToolProgram) arguments() ([]string, error) {
	program, err := p.findProgram()
	if err != nil {
		return nil, err
	}
	words := []string{program}
	for _, word := range p.Command[1:] {
		before, after, split := strings.Cut(word, "=")
		switch path, found := p.belowBase(word); {
		case found:
			word = path
		case split:
			if path, found := p.belowBase(after); found {
				word = before + "=" + path
			}
		}
		words = append(words, word)
	}
	return words, nil
}

// belowBase returns the absolute form of a relative path with a slash that exists.
func (p ToolProgram) belowBase(word string) (string, bool) {
	if p.Base == "" || !strings.Contains(word, "/") || filepath.IsAbs(word) || strings.Contains(word, "://") {
		return "", false
	}
	path, err := filepath.Abs(filepath.Join(p.Base, word))
	if err != nil {
		return "", false
	}
	_, err = os.Stat(path)
	return path, err == nil
}

// Path returns the absolute path of the program; it fails with [ErrNotFound] where there is
// none that may be executed.
func (p ToolProgram) Path() (string, error) {
	if err := p.checkWords(); err != nil {
		return "", err
	}
	return p.findProgram()
}

// findProgram returns the absolute path of the program.
func (p ToolProgram) findProgram() (string, error) {
	name := p.Command[0]
	if strings.Contains(name, "/") {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(p.Base, path)
		}
		path, err := filepath.Abs(path)
		if err != nil {
			return "", fmt.Errorf("toolproc: %w", err)
		}
		if err := checkExecutable(path); err != nil {
			return "", fmt.Errorf("%w: %s: %w", ErrNotFound, path, err)
		}
		return path, nil
	}
	list, set := p.Env["PATH"]
	if !set {
		list = os.Getenv("PATH")
	}
	for _, folder := range filepath.SplitList(list) {
		path := filepath.Join(folder, name)
		if filepath.IsAbs(path) && checkExecutable(path) == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%w: no %s in PATH (%s)", ErrNotFound, name, list)
}

func checkExecutable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("it is a folder")
	case info.Mode()&0o111 == 0:
		return fs.ErrPermission
	}
	return nil
}
