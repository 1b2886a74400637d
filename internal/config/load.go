package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Source says where a configuration is looked for.
type Source struct {
	Path    string                      // --config; empty looks for trestle.yaml in Folder, then uses the environment
	Data    string                      // --data; wins over everything
	Folder  string                      // the working folder
	Lookup  func(string) (string, bool) // one variable of the environment
	Environ []string                    // all of them, as NAME=value
}

// InvalidError holds the faults that make a configuration unusable.
type InvalidError struct {
	Path   string
	Text   string // of the file, for excerpts
	Faults []Fault
}

// Error lists the faults, one in a line.
func (e *InvalidError) Error() string {
	var lines []string
	for _, f := range e.Faults {
		lines = append(lines, f.String())
	}
	return strings.Join(lines, "\n")
}

// File is the name of the file that is looked for in the working folder.
const File = "trestle.yaml"

// Load reads and checks the configuration. Its error, if any, is an
// [*InvalidError]; beside it the Config, unless nil, holds what could be read.
func Load(l Source) (*Config, error) {
	c := &Config{}
	root := &node{kind: mapNode}
	d := &decoder{config: c, folder: l.Folder, expand: expander{l.Lookup, l.Folder}, here: l.Folder}
	path, text, err := l.read()
	if err != nil {
		return nil, err
	}
	if path != "" {
		c.Path = path
		d.folder = filepath.Dir(l.full(path))
		d.expand.folder = d.folder
		root, d.fatal = parseTree(path, text, d.expand)
		if root == nil {
			return nil, &InvalidError{path, text, d.fatal}
		}
	} else {
		root.put([]string{"adapters"}, &node{kind: mapNode})
		l.addPlatforms(root)
	}
	if root.get("model") == nil {
		l.addModel(root)
	}
	d.fatal = append(d.fatal, l.override(root)...)
	c.doc = &document{root, text}
	d.decode(root)
	if l.Data != "" {
		c.Data = l.Data
	}
	if len(d.fatal) > 0 {
		return c, &InvalidError{path, text, d.fatal}
	}
	return c, nil
}

// read finds and reads the file; an empty path means that there is none.
func (l Source) read() (path, text string, err error) {
	path = l.Path
	if path == "" {
		path, _ = l.Lookup("TRESTLE_CONFIG")
	}
	named := path != ""
	if !named {
		path = File
	}
	raw, err := os.ReadFile(l.full(path))
	switch {
	case err == nil:
		return path, string(raw), nil
	case !named && errors.Is(err, os.ErrNotExist):
		return "", "", nil
	}
	f := Fault{At: Origin{File: path}, What: "the configuration cannot be read: " + reasonOf(err), Todo: "name a file with --config, or run without one to use the environment"}
	return "", "", &InvalidError{Path: path, Faults: []Fault{f}}
}

func (l Source) full(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(l.Folder, path)
}

// fromEnv returns a node that holds an environment variable, or nil.
func (l Source) fromEnv(name string) *node {
	value, ok := l.Lookup(name)
	if !ok || value == "" {
		return nil
	}
	return &node{kind: scalarNode, text: value, origin: Origin{Env: name}}
}

func (l Source) addModel(root *node) {
	for key, name := range map[string]string{"base_url": "OPENAI_BASE_URL", "api_key": "OPENAI_API_KEY", "name": "TRESTLE_MODEL"} {
		if n := l.fromEnv(name); n != nil {
			root.put([]string{"model", key}, n)
		}
	}
}

// addPlatforms switches on what the environment holds tokens for.
func (l Source) addPlatforms(root *node) {
	for _, p := range []struct{ name, kind, key, variable string }{
		{"telegram", "telegram", "token", "TELEGRAM_BOT_TOKEN"},
		{"slack", "slack", "bot_token", "SLACK_BOT_TOKEN"},
		{"slack", "slack", "app_token", "SLACK_APP_TOKEN"},
		{"discord", "discord", "token", "DISCORD_BOT_TOKEN"},
	} {
		n := l.fromEnv(p.variable)
		if n == nil {
			continue
		}
		root.put([]string{"adapters", p.name, "type"}, &node{kind: scalarNode, text: p.kind, origin: n.origin})
		root.put([]string{"adapters", p.name, p.key}, n)
	}
	if n := l.fromEnv("TELEGRAM_API_URL"); n != nil && root.get("adapters").get("telegram") != nil {
		root.put([]string{"adapters", "telegram", "api_url"}, n)
	}
}

// override applies TRESTLE_A__B=value as the path a.b, and TRESTLE_A__B_FILE as
// the text of a file. Without a double underscore only known keys at the top
// of the file count, so that other variables of ours stay what they are.
func (l Source) override(root *node) []Fault {
	var faults []Fault
	variables := slices.Clone(l.Environ)
	slices.Sort(variables)
	for _, v := range variables {
		variable, value, _ := strings.Cut(v, "=")
		name, ours := strings.CutPrefix(variable, "TRESTLE_")
		if !ours || value == "" {
			continue
		}
		at := Origin{Env: variable}
		if short, isFile := strings.CutSuffix(name, "_FILE"); isFile {
			text, missing := expander{folder: l.Folder}.read(value)
			if missing != "" {
				faults = append(faults, Fault{At: at, What: missing, Todo: "name a file that can be read"})
				continue
			}
			name, value = short, text
		}
		path := strings.Split(strings.ToLower(name), "__")
		if len(path) == 1 && !slices.Contains(plainOverrides, path[0]) {
			if _, isSetting := findSetting(path[0]); !isSetting {
				continue
			}
		}
		root.put(path, &node{kind: scalarNode, text: value, origin: at})
	}
	return faults
}

// plainOverrides are the keys at the top of the file, besides settings, that
// TRESTLE_NAME overrides. TRESTLE_MODEL is the model's name and TRESTLE_CONFIG
// the file, each read elsewhere.
var plainOverrides = []string{"data", "database", "redis", "listen", "webhook_listen", "token", "admit", "default_agents"}
