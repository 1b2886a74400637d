package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A FileEditor changes the values of a configuration file for an operator. A change that would leave
// something wrong is refused with an [*EditError].
type FileEditor struct {
	Source LoadOptions                        // where the configuration is read from
	Load   func(LoadOptions) (*Config, error) // reads it
}

// A ProposedChange is a change that was checked and has not been written.
type ProposedChange struct {
	FileChange
	Diff FileDiff
	// Variable is the environment variable of a credential, which [FileEditor.Write] writes into
	// the [EnvFile]; empty for other changes. The file itself may stay as it is.
	Variable string

	data     string // the data folder, where what the file was is kept
	envText  string // of the EnvFile after the change
	envWas   string
	envExist bool
}

// A FileDiff is where the text of a file changes, and how.
type FileDiff struct {
	File    string   // as the operator named it
	Line    int      // of the first change, from 1
	Removed []string // lines without their ends
	Added   []string
	Restart bool // a running program takes it over at its next start
}

// DiffTexts compares two texts of a file that differ in one place, the value at a path.
func DiffTexts(file, path, before, after string) FileDiff {
	was, now := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	same := 0
	for same < min(len(was), len(now)) && was[same] == now[same] {
		same++
	}
	was, now = was[same:], now[same:]
	for len(was) > 0 && len(now) > 0 && was[len(was)-1] == now[len(now)-1] {
		was, now = was[:len(was)-1], now[:len(now)-1]
	}
	lines := func(all []string) []string {
		out := []string{}
		for _, l := range all {
			if l != "" {
				out = append(out, strings.TrimRight(l, "\r\n"))
			}
		}
		return out
	}
	return FileDiff{File: file, Line: same + 1, Removed: lines(was), Added: lines(now), Restart: ReadAtStart(path)}
}

// Set proposes the value at a path, as [SetValue] takes both. A credential is refused: see
// [FileEditor.SetSecret].
func (e FileEditor) Set(path, value string) (ProposedChange, error) {
	if IsSecretKey(path) && !strings.HasPrefix(value, "${") {
		return ProposedChange{}, editError("a credential has no place in the file", "leave the value out: trestle config set "+path+" asks for it and writes it into "+EnvFile)
	}
	return e.propose(path, e.Source, func(text string) (string, error) { return SetValue(text, path, value) })
}

// Remove proposes that the file does not set the value at a path, so that its default counts.
func (e FileEditor) Remove(path string) (ProposedChange, error) {
	return e.propose(path, e.Source, func(text string) (string, error) { return RemoveValue(text, path) })
}

// SetSecret proposes a credential: the file refers to a variable, whose value goes into the
// [EnvFile] beside it.
func (e FileEditor) SetSecret(path, secret string) (ProposedChange, error) {
	if !IsSecretKey(path) {
		return ProposedChange{}, editError(path+" is no credential", "write its value behind it")
	}
	file, text, err := e.read()
	if err != nil {
		return ProposedChange{}, err
	}
	env := filepath.Join(filepath.Dir(file), EnvFile)
	envWas, err := os.ReadFile(env)
	exist := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return ProposedChange{}, editError("the variables cannot be read: "+reasonOf(err), "see that "+env+" can be read")
	}
	known, _ := parseEnv(withoutBOM(envWas))
	name, used := variableAt(text, path)
	if !used {
		name = variableFor(path, known)
	}
	if _, set := e.Source.Lookup(name); set {
		return ProposedChange{}, editError("the environment sets "+name+", which goes before "+EnvFile, "change it there")
	}
	envNow, ok := setEnvVariable(string(envWas), name, secret)
	if !ok || secret == "" {
		return ProposedChange{}, editError("a credential is one line of text", "give it without the line break")
	}
	from, lookup := e.Source, e.Source.Lookup
	from.Lookup = func(asked string) (string, bool) {
		if asked == name {
			return secret, true
		}
		return lookup(asked)
	}
	p, err := e.propose(path, from, func(text string) (string, error) {
		if used {
			return text, nil
		}
		return SetValue(text, path, "${"+name+"}")
	})
	p.Variable, p.envText, p.envWas, p.envExist = name, envNow, string(envWas), exist
	return p, err
}

// propose checks an edit of the file, read from a source that has the variables it will have.
func (e FileEditor) propose(path string, after LoadOptions, edit func(string) (string, error)) (ProposedChange, error) {
	was, wasErr := e.Load(e.Source)
	file, before, err := e.read()
	if err != nil {
		return ProposedChange{}, err
	}
	text, err := edit(before)
	if err != nil {
		return ProposedChange{}, err
	}
	after.Text = &text
	now, nowErr := e.Load(after)
	if worse := newFindings(ListFindings(was, wasErr), ListFindings(now, nowErr)); len(worse) > 0 {
		return ProposedChange{}, editError("with that value something is wrong: "+worse[0].What, worse[0].Do)
	}
	return ProposedChange{
		FileChange: FileChange{File: file, Path: path, Before: before, After: text},
		Diff:       DiffTexts(was.Path, path, before, text), data: was.Data,
	}, nil
}

// read returns the whole path of the file and its text.
func (e FileEditor) read() (file, text string, err error) {
	c, err := e.Load(e.Source)
	switch {
	case c == nil:
		return "", "", err
	case c.Path == "":
		return "", "", editError("there is no configuration file", "trestle init writes one")
	}
	raw, err := os.ReadFile(c.FullPath())
	if err != nil {
		return "", "", editError("the file cannot be read: "+reasonOf(err), "run it as the user who owns the file")
	}
	return c.FullPath(), string(raw), nil
}

// Write writes a proposed change and keeps what the file was, unless the file was changed meanwhile. What
// a credential was is not kept.
func (e FileEditor) Write(p ProposedChange, at time.Time) error {
	if p.Variable != "" {
		if err := p.writeVariables(); err != nil {
			return fmt.Errorf("write %s: %w", EnvFile, err)
		}
	}
	if p.Before == p.After {
		return nil
	}
	p.At = at
	return WriteChange(p.data, p.FileChange)
}

// writeVariables writes the [EnvFile] with a credential, behind a link too, or makes it for its owner alone.
func (p ProposedChange) writeVariables() error {
	env := filepath.Join(filepath.Dir(p.File), EnvFile)
	if p.envExist {
		err := replaceText(env, p.envWas, p.envText)
		if errors.Is(err, fs.ErrNotExist) {
			return errChanged
		}
		return err
	}
	if _, err := os.Lstat(env); err == nil {
		return errChanged
	}
	return replaceFile(env, []byte(p.envText), 0o600)
}

// Undo takes back the last change of the file, which the file must still have.
func (e FileEditor) Undo() (FileChange, FileDiff, error) {
	c, err := e.Load(e.Source)
	if c == nil || c.Path == "" {
		return FileChange{}, FileDiff{}, errors.Join(err, editError("there is no configuration file", "trestle init writes one"))
	}
	last, err := UndoChange(c.Data, c.FullPath())
	return last, DiffTexts(c.Path, last.Path, last.After, last.Before), err
}

// Changes lists the changes of the file that are kept, the newest first.
func (e FileEditor) Changes() ([]FileChange, error) {
	c, err := e.Load(e.Source)
	if c == nil {
		return nil, err
	}
	all, err := readChanges(c.Data)
	all = slices.DeleteFunc(all, func(f FileChange) bool { return f.File != c.FullPath() })
	slices.Reverse(all)
	return all, err
}

// CanWrite reports whether the file can be replaced. A file that a container has mounted may look so and
// refuse it all the same.
func (e FileEditor) CanWrite() bool {
	c, _ := e.Load(e.Source)
	if c == nil || c.Path == "" {
		return false
	}
	file, err := filepath.EvalSymlinks(c.FullPath())
	if err != nil {
		return false
	}
	temp, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*")
	if err != nil {
		return false
	}
	return errors.Join(temp.Close(), os.Remove(temp.Name())) == nil
}

// newFindings returns the findings of a changed file that were not there before. Warnings are
// none: they are shown by config check.
func newFindings(before, after []CheckFinding) (worse []CheckFinding) {
	for _, f := range after {
		same := func(g CheckFinding) bool { return g.What == f.What && g.Entry == f.Entry && g.Level == f.Level }
		if f.Level != LevelWarn && !slices.ContainsFunc(before, same) {
			worse = append(worse, f)
		}
	}
	return worse
}

// wholeReference is a value that is one variable.
var wholeReference = regexp.MustCompile(`^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$`)

// variableAt returns the variable that is the whole value at a path of a file.
func variableAt(text, path string) (name string, ok bool) {
	cover := newRefEscaper(text)
	n, _ := parseTree("", cover.escape(text), expander{})
	keys, err := splitPath(path)
	if err != nil {
		return "", false
	}
	for _, key := range keys {
		n = n.get(key)
	}
	if n == nil {
		return "", false
	}
	found := wholeReference.FindStringSubmatch(cover.unescape(n.text))
	if found == nil {
		return "", false
	}
	return found[1], true
}

// variableFor names a variable for the credential at a path: its keys, and a number where another has that
// name.
func variableFor(path string, known map[string]string) string {
	name := strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, path), "_")
	for n, free := 2, name; ; n++ {
		if _, taken := known[free]; !taken {
			return free
		}
		free = fmt.Sprintf("%s_%d", name, n)
	}
}

// setEnvVariable returns the text of an [EnvFile] with a variable set; false where its value cannot be
// written. A line that sets it already is replaced, and the last of them counts.
func setEnvVariable(text, name, value string) (string, bool) {
	line, ok := FormatEnvLine(name, value)
	if !ok {
		return "", false
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if text == "" {
		lines = nil
	}
	at := len(lines)
	for i, l := range lines {
		if set, _, found := strings.Cut(strings.TrimPrefix(strings.TrimSpace(l), "export "), "="); found && set == name {
			at = i
		}
	}
	if at == len(lines) {
		return strings.Join(append(lines, line), "\n") + "\n", true
	}
	lines[at] = line
	return strings.Join(lines, "\n") + "\n", true
}

// Keys that are changed on the machine alone: what the process runs, stores and serves, whom it
// trusts on the network, and where it sends credentials and alerts.
var (
	localSections = []string{"version", "data", "database", "redis", "roles", "listen", "webhook_listen", "token", "hosts", "trusted_proxies", "tools", "telemetry", "alarms"}
	localKeys     = []string{"base_url", "api_url", "webhook_url", "reply_url", "file"}
)

// IsLocalKey reports whether the value at a path is changed on the machine alone, and not by
// an operator who is known by a credential over the network.
func IsLocalKey(path string) bool {
	keys, err := splitPath(path)
	return err != nil || slices.Contains(localSections, keys[0]) || slices.Contains(localKeys, keys[len(keys)-1])
}

// IsPlainValue reports whether a value is a text, a number or a list of them, which refers to no
// variable and no file.
func IsPlainValue(value string) bool {
	return !strings.Contains(value, "${") && !strings.HasPrefix(strings.TrimSpace(value), "{")
}

// A KeyDescription is what a key of the configuration is for.
type KeyDescription struct {
	Meaning string   // a sentence or several, in Markdown
	Default string   // as it is written
	Words   []string // the values it takes, where it takes a few words
	Secret  bool     // it is a credential
	Group   bool     // it has keys of its own, and no value
	Restart bool     // a change counts from the next start on
}

// DescribeKey returns what the key at a path is for; false for an unknown one.
func DescribeKey(path string) (d KeyDescription, known bool) {
	if row, ok := keyAt(path); ok {
		d = KeyDescription{Meaning: row.meaning, Default: withoutBackticks(row.fallback), Words: row.form.words, Secret: row.form.kind == aSecret, Restart: row.form.start}
		d.Group = row.form.kind == entries || row.form.kind == aMap || row.form.kind == aTree || row.form.kind == aSection && !row.form.shorter
		if row.form.kind == aFlag {
			d.Words = []string{"true", "false"}
		}
		return d, true
	}
	keys, err := splitPath(path)
	if err != nil {
		return d, false
	}
	inEntry := len(keys) > 2 && slices.Contains([]string{"agents", "servers", "spaces"}, keys[0])
	if inEntry {
		keys = keys[2:]
	}
	k, ok := findSetting(strings.Join(keys, "."))
	if !ok {
		return d, false
	}
	d = KeyDescription{Meaning: k.meaning, Default: k.fallback, Words: k.value.words, Restart: k.value.start}
	if k.value.kind == yesOrNo {
		d.Words = []string{"true", "false"}
	}
	if inEntry {
		d.Default = "as at the top"
	}
	return d, !inEntry || !k.value.top
}

// IsSecretKey reports whether the key at a path holds a credential.
func IsSecretKey(path string) bool {
	row, ok := keyAt(path)
	return ok && row.form.kind == aSecret
}

// ReadAtStart reports whether a running program takes a change of the key at a path over only
// when it starts again.
func ReadAtStart(path string) bool {
	d, _ := DescribeKey(path)
	return d.Restart
}

// keyAt returns the key at a path, read at the start if a key above is; false for settings and
// unknown keys.
func keyAt(path string) (row keyRow, ok bool) {
	keys, err := splitPath(path)
	rows, start := topKeys, false
	for err == nil && len(keys) > 0 {
		i := slices.IndexFunc(rows, func(r keyRow) bool { return r.name == keys[0] })
		if i < 0 {
			return keyRow{}, false
		}
		row, ok = rows[i], true
		start = start || row.form.start
		if keys = keys[1:]; row.form.kind == entries && len(keys) > 0 {
			keys = keys[1:]
		}
		rows = row.form.of
	}
	row.form.start = start
	return row, ok && err == nil
}
