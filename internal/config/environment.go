package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// EnvFile is the name of the file of environment variables that is read beside the
// configuration. It holds credentials and can also be read by a shell and by a
// systemd unit.
const EnvFile = "trestle.env"

// withEnvFile returns l with the variables of the file in folder, if it exists.
// Variables of the environment override them.
func (l LoadOptions) withEnvFile(folder string, c *Config) LoadOptions {
	path := filepath.Join(folder, EnvFile)
	text, err := readBounded(path)
	c.noteFile(path) // which may be written later
	if os.IsNotExist(err) {
		return l
	}
	warn := func(f Error, grave bool) {
		c.Warnings = append(c.Warnings, EntryWarning{Entry: EnvFile, Err: f, Serious: grave})
	}
	if err != nil {
		warn(Error{At: ValueOrigin{File: EnvFile}, What: "the variables cannot be read: " + reasonOf(err), Remedy: "see that " + path + " can be read"}, true)
		return l
	}
	if info, err := os.Stat(path); err == nil && readableByOthers(info.Mode()) {
		warn(Error{At: ValueOrigin{File: EnvFile}, What: fmt.Sprintf("others can read this file of credentials: its mode is %#o", info.Mode().Perm()), Remedy: "chmod 600 " + path}, true)
	}
	variables, bad := parseEnv(withoutBOM(text))
	for _, line := range bad {
		warn(Error{At: ValueOrigin{File: EnvFile, Line: line, Col: 1}, What: "this line is no variable", Remedy: "write NAME=value, with the value in single quotes where it holds spaces or signs"}, false)
	}
	own := l.Lookup
	l.Lookup = func(name string) (string, bool) {
		if value, ok := own(name); ok {
			return value, true
		}
		value, ok := variables[name]
		return value, ok
	}
	l.Environ = slices.Clone(l.Environ)
	for name, value := range variables {
		if _, set := own(name); !set {
			l.Environ = append(l.Environ, name+"="+value)
		}
	}
	return l
}

// parseEnv parses lines of NAME=value. bad holds the numbers of invalid lines.
func parseEnv(text string) (variables map[string]string, bad []int) {
	variables = map[string]string{}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, ok := strings.Cut(strings.TrimPrefix(line, "export "), "=")
		if ok {
			value, ok = unquote(strings.TrimSpace(value))
		}
		if !ok || !variableName.MatchString(name) {
			bad = append(bad, i+1)
			continue
		}
		variables[name] = value
	}
	return variables, bad
}

// unquote removes shell quotes from a value: single quotes take everything
// literally, in double quotes a backslash escapes the next character.
func unquote(value string) (string, bool) {
	if value == "" || (value[0] != '\'' && value[0] != '"') {
		return value, true
	}
	quote, inner := value[0], value[1:]
	var out strings.Builder
	for i := 0; i < len(inner); i++ {
		switch {
		case inner[i] == quote:
			return out.String(), strings.TrimSpace(inner[i+1:]) == ""
		case inner[i] == '\\' && quote == '"' && i+1 < len(inner):
			i++
		}
		out.WriteByte(inner[i])
	}
	return "", false
}

// FormatEnvLine returns a line for an [EnvFile] that a shell, systemd and this
// program parse to the same value; false when no such line exists.
func FormatEnvLine(name, value string) (line string, ok bool) {
	if strings.ContainsAny(value, "\n\r\x00") {
		return "", false
	}
	if strings.Trim(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:/@%+,-") == "" {
		return name + "=" + value, true
	}
	if !strings.Contains(value, "'") {
		return name + "='" + value + "'", true
	}
	return name + `="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(value) + `"`, true
}

// fromEnv returns a node with the value of an environment variable, or nil.
func (l LoadOptions) fromEnv(name string) *node {
	value, ok := l.Lookup(name)
	if !ok || value == "" {
		return nil
	}
	return &node{kind: scalarNode, text: value, origin: ValueOrigin{Env: name}}
}

// addPlatforms adds an adapter for each platform whose token is in the environment.
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

// override applies TRESTLE_A__B=value to the path a.b, and TRESTLE_A__B_FILE with
// the text of a file. A name without a double underscore must be a known key at the
// top of the file; other TRESTLE_ variables are ignored.
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
		n := &node{kind: scalarNode, text: value, origin: ValueOrigin{Env: variable}}
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

// overridable reports whether TRESTLE_NAME overrides a key at the top. TRESTLE_MODEL
// and TRESTLE_CONFIG are read elsewhere.
func overridable(name string) bool {
	_, isSetting := findSetting(name)
	return isSetting || slices.ContainsFunc(topKeys, func(k keyRow) bool {
		return k.name == name && k.form.kind != aSection && k.form.kind != entries
	})
}

// matchKeys returns the path with the keys of the file: a variable name cannot
// contain the colon of guild:112233, capitals, dots or dashes.
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
