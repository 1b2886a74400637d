package config

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// LoadOptions says where a configuration is looked for.
type LoadOptions struct {
	Path    string                      // --config; empty looks for trestle.yaml in Folder, then uses the environment
	Data    string                      // --data; wins over everything
	Roles   string                      // --roles; wins over everything
	Folder  string                      // the working folder
	Lookup  func(string) (string, bool) // one variable of the environment
	Environ []string                    // all of them, as NAME=value
}

// InvalidError holds the faults that make a configuration unusable.
type InvalidError struct {
	Text   string // of the file, for excerpts
	Errors []Error
}

// Error lists the faults, one in a line.
func (e *InvalidError) Error() string {
	var lines []string
	for _, f := range e.Errors {
		lines = append(lines, f.String())
	}
	return strings.Join(lines, "\n")
}

// DefaultFile is the name of the file that is looked for in the working folder.
const DefaultFile = "trestle.yaml"

// Load reads and checks the configuration. Its error, if any, is an
// [*InvalidError]; beside it the Config, unless nil, holds what could be read.
func Load(l LoadOptions) (*Config, error) {
	c := &Config{}
	d := &decoder{config: c, folder: l.Folder, workFolder: l.Folder, expand: expander{lookup: l.Lookup, folder: l.Folder, opened: c.noteFile}}
	path, text, mode, err := l.read()
	if err != nil {
		return nil, err
	}
	if path != "" {
		c.Path = path
		c.noteFile(l.full(path))
		d.folder = filepath.Dir(l.full(path))
	}
	l = l.withEnvFile(d.folder, c)
	d.expand.folder, d.expand.lookup = d.folder, l.Lookup
	root := &node{kind: mapNode}
	if path != "" {
		root, d.fatal = parseTree(path, text, d.expand)
		if root == nil {
			c.Data = l.fallbackData(d)
			return c, &InvalidError{text, d.fatal}
		}
	} else {
		root.put([]string{"adapters"}, &node{kind: mapNode})
		l.addPlatforms(root)
	}
	if m := root.get("model"); m == nil || m.kind == scalarNode { // a bare name says nothing of the endpoint
		l.addModel(root)
	}
	c.Problems = append(c.Problems, l.override(root, c.noteFile)...)
	for _, flag := range []struct{ key, text string }{{"data", l.Data}, {"roles", l.Roles}} {
		if flag.text != "" {
			root.put([]string{flag.key}, &node{kind: scalarNode, text: flag.text, origin: Origin{Flag: "--" + flag.key}})
		}
	}
	c.doc = &document{root, text}
	d.decode(root)
	d.warnSecrets(mode)
	if len(d.fatal) > 0 {
		return c, &InvalidError{text, d.fatal}
	}
	return c, nil
}

// fallbackData is the data folder where the file is no YAML: what the flag or the
// environment says, or else the usual one.
func (l LoadOptions) fallbackData(d *decoder) string {
	set, _ := l.Lookup("TRESTLE_DATA")
	if named := cmp.Or(l.Data, set); named != "" {
		return d.resolvePath(named, Origin{Flag: "--data"})
	}
	return filepath.Join(d.folder, "data")
}

func (c *Config) noteFile(file string) {
	if !slices.Contains(c.files, file) {
		c.files = append(c.files, file)
	}
}

// read finds and reads the file; an empty path means that there is none.
func (l LoadOptions) read() (path, text string, mode fs.FileMode, err error) {
	path = l.Path
	if path == "" {
		path, _ = l.Lookup("TRESTLE_CONFIG")
	}
	named := path != ""
	if !named {
		path = DefaultFile
	}
	raw, err := readBounded(l.full(path))
	switch {
	case !named && errors.Is(err, os.ErrNotExist):
		return "", "", 0, nil
	case err == nil && !utf8.Valid(raw):
		err = errNotUTF8
	}
	if err != nil {
		f := Error{At: Origin{File: path}, What: "the configuration cannot be read: " + reasonOf(err), Remedy: "name a file with --config, or run without one to use the environment"}
		if errors.Is(err, fs.ErrPermission) {
			f.Remedy = "run it as the user who owns the file, or from another folder"
		}
		if errors.Is(err, errNotUTF8) {
			f.Remedy = "save it as UTF-8"
		}
		return "", "", 0, &InvalidError{Errors: []Error{f}}
	}
	info, err := os.Stat(l.full(path))
	if err == nil {
		mode = info.Mode()
	}
	return path, withoutBOM(raw), mode, nil
}

// withoutBOM returns a text without the mark that some editors put before the first line.
func withoutBOM(raw []byte) string { return strings.TrimPrefix(string(raw), "\ufeff") }

func (l LoadOptions) full(path string) string { return absoluteFrom(l.Folder, path) }

// fromEnv returns a node that holds an environment variable, or nil.
func (l LoadOptions) fromEnv(name string) *node {
	value, ok := l.Lookup(name)
	if !ok || value == "" {
		return nil
	}
	return &node{kind: scalarNode, text: value, origin: Origin{Env: name}}
}

// addModel takes the endpoint from the environment, and its model unless the
// file names one.
func (l LoadOptions) addModel(root *node) {
	if name := root.get("model"); name != nil {
		root.put([]string{"model"}, &node{kind: mapNode, origin: name.origin, entries: []mapEntry{{"name", name.origin, name}}})
	}
	for key, name := range map[string]string{"base_url": "OPENAI_BASE_URL", "api_key": "OPENAI_API_KEY", "name": "TRESTLE_MODEL"} {
		if n := l.fromEnv(name); n != nil && root.get("model").get(key) == nil {
			root.put([]string{"model", key}, n)
		}
	}
}

// addPlatforms switches on what the environment holds tokens for.
func (l LoadOptions) addPlatforms(root *node) {
	for _, p := range []struct{ platform, key, variable string }{
		{"telegram", "token", "TELEGRAM_BOT_TOKEN"},
		{"slack", "bot_token", "SLACK_BOT_TOKEN"},
		{"slack", "app_token", "SLACK_APP_TOKEN"},
		{"discord", "token", "DISCORD_BOT_TOKEN"},
	} {
		if n := l.fromEnv(p.variable); n != nil {
			root.put([]string{"adapters", p.platform, "type"}, &node{kind: scalarNode, text: p.platform, origin: n.origin})
			root.put([]string{"adapters", p.platform, p.key}, n)
		}
	}
	for name, variable := range map[string]string{"telegram": "TELEGRAM_API_URL", "slack": "SLACK_API_URL", "discord": "DISCORD_API_URL"} {
		if n := l.fromEnv(variable); n != nil && root.get("adapters").get(name) != nil {
			root.put([]string{"adapters", name, "api_url"}, n)
		}
	}
}

// override applies TRESTLE_A__B=value as the path a.b, and TRESTLE_A__B_FILE as
// the text of a file. Without a double underscore only known keys at the top
// of the file count, so that other variables of ours stay what they are.
func (l LoadOptions) override(root *node, opened func(path string)) []EntryProblem {
	var twice []EntryProblem
	variables := slices.Clone(l.Environ)
	slices.Sort(variables)
	given := map[string]string{} // path to variable
	for _, v := range variables {
		variable, value, _ := strings.Cut(v, "=")
		name, ours := strings.CutPrefix(variable, "TRESTLE_")
		if !ours || value == "" {
			continue
		}
		n := &node{kind: scalarNode, text: value, origin: Origin{Env: variable}}
		short, isFile := strings.CutSuffix(name, "_FILE")
		if isFile {
			name = short
		}
		path := strings.Split(strings.ToLower(name), "__")
		if len(path) == 1 && !overridable(path[0]) {
			continue
		}
		if isFile {
			x := expander{folder: l.Folder, opened: opened}
			n.text, n.missing = x.read(value)
			n.files = []string{x.full(value)}
		}
		if other := given[name]; other != "" {
			twice = append(twice, EntryProblem{variable, Error{At: n.origin, What: other + " is set as well, and counts", Remedy: "unset one of the two"}})
			continue
		}
		given[name] = variable
		root.put(matchKeys(root, path), n)
	}
	return twice
}

// overridable reports whether TRESTLE_NAME overrides a key at the top.
// TRESTLE_MODEL is the model's name and TRESTLE_CONFIG the file, each read
// elsewhere.
func overridable(name string) bool {
	_, isSetting := findSetting(name)
	return isSetting || slices.ContainsFunc(topKeys, func(k keyRow) bool {
		return k.name == name && k.form.kind != aSection && k.form.kind != entries
	})
}

// matchKeys returns the path as the file spells it: a variable cannot hold the colon
// of guild:112233, nor capitals, dots and dashes.
func matchKeys(n *node, path []string) []string {
	out := slices.Clone(path)
	for i, name := range path {
		if n == nil {
			break
		}
		for _, e := range n.entries {
			if e.key != name && inVariable.Replace(strings.ToLower(e.key)) == name {
				out[i] = e.key
			}
		}
		n = n.get(out[i])
	}
	return out
}

var inVariable = strings.NewReplacer(":", "_", "-", "_", ".", "_", " ", "_")
