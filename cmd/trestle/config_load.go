package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// loading says where a configuration is looked for.
type loading struct {
	path    string // --config; empty looks for trestle.yaml in folder, then uses the environment
	data    string // --data; wins over everything
	folder  string // the working folder
	lookup  func(string) (string, bool)
	environ []string
}

// invalidConfigError holds the faults that make a configuration unusable.
type invalidConfigError struct {
	path   string
	text   string // of the file, for excerpts
	faults []fault
}

// Error lists the faults, one in a line.
func (e *invalidConfigError) Error() string {
	var lines []string
	for _, f := range e.faults {
		lines = append(lines, f.Error())
	}
	return strings.Join(lines, "\n")
}

const configFile = "trestle.yaml"

// loadConfig reads the configuration. Its error, if any, is an [*invalidConfigError];
// text is the file's own text, for excerpts.
func loadConfig(l loading) (c *Config, text string, err error) {
	c = &Config{}
	root := &node{kind: mapNode}
	d := &decoder{config: c, folder: l.folder, expand: expander{l.lookup, l.folder}, here: l.folder}
	path, text, err := l.read()
	if err != nil {
		return nil, "", err
	}
	if path != "" {
		c.Path = path
		d.folder = filepath.Dir(l.full(path))
		d.expand.folder = d.folder
		root, d.fatal = parseTree(path, text, d.expand)
		if root == nil {
			return nil, text, &invalidConfigError{path, text, d.fatal}
		}
	} else {
		root.put([]string{"adapters"}, &node{kind: mapNode})
		l.addPlatforms(root)
	}
	if root.get("model") == nil {
		l.addModel(root)
	}
	d.fatal = append(d.fatal, l.override(root)...)
	c.tree = root
	d.decode(root)
	if l.data != "" {
		c.Data = l.data
	}
	if len(d.fatal) > 0 {
		return c, text, &invalidConfigError{path, text, d.fatal}
	}
	return c, text, nil
}

// read finds and reads the file; an empty path means that there is none.
func (l loading) read() (path, text string, err error) {
	path = l.path
	if path == "" {
		path, _ = l.lookup("TRESTLE_CONFIG")
	}
	named := path != ""
	if !named {
		path = configFile
	}
	raw, err := os.ReadFile(l.full(path))
	switch {
	case err == nil:
		return path, string(raw), nil
	case !named && errors.Is(err, os.ErrNotExist):
		return "", "", nil
	}
	f := fault{at: origin{file: path}, what: "the configuration cannot be read: " + reasonOf(err), todo: "name a file with --config, or run without one to use the environment"}
	return "", "", &invalidConfigError{path: path, faults: []fault{f}}
}

func (l loading) full(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(l.folder, path)
}

// fromEnv returns a node that holds an environment variable, or nil.
func (l loading) fromEnv(name string) *node {
	value, ok := l.lookup(name)
	if !ok || value == "" {
		return nil
	}
	return &node{kind: scalarNode, text: value, origin: origin{env: name}}
}

func (l loading) addModel(root *node) {
	for key, name := range map[string]string{"base_url": "OPENAI_BASE_URL", "api_key": "OPENAI_API_KEY", "name": "TRESTLE_MODEL"} {
		if n := l.fromEnv(name); n != nil {
			root.put([]string{"model", key}, n)
		}
	}
}

// addPlatforms switches on what the environment holds tokens for.
func (l loading) addPlatforms(root *node) {
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
func (l loading) override(root *node) []fault {
	var faults []fault
	variables := slices.Clone(l.environ)
	slices.Sort(variables)
	for _, v := range variables {
		variable, value, _ := strings.Cut(v, "=")
		name, ours := strings.CutPrefix(variable, "TRESTLE_")
		if !ours || value == "" {
			continue
		}
		at := origin{env: variable}
		if short, isFile := strings.CutSuffix(name, "_FILE"); isFile {
			text, missing := expander{folder: l.folder}.read(value)
			if missing != "" {
				faults = append(faults, fault{at: at, what: missing, todo: "name a file that can be read"})
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
