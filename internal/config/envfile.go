package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// EnvFile is the name of the file of variables that is read beside the
// configuration. It is for credentials: a shell and a systemd unit read it, too.
const EnvFile = "trestle.env"

// withEnvFile returns l with the variables of the file in folder, where there is
// one. The environment itself wins.
func (l LoadOptions) withEnvFile(folder string, c *Config) LoadOptions {
	path := filepath.Join(folder, EnvFile)
	text, err := readBounded(path)
	if os.IsNotExist(err) {
		return l
	}
	c.noteFile(path)
	warn := func(f Error, grave bool) {
		c.Warnings = append(c.Warnings, EntryWarning{Entry: EnvFile, Err: f, Serious: grave})
	}
	if err != nil {
		warn(Error{At: Origin{File: EnvFile}, What: "the variables cannot be read: " + reasonOf(err), Remedy: "see that " + path + " can be read"}, true)
		return l
	}
	if info, err := os.Stat(path); err == nil && readableByOthers(info.Mode()) {
		warn(Error{At: Origin{File: EnvFile}, What: fmt.Sprintf("others can read this file of credentials: its mode is %#o", info.Mode().Perm()), Remedy: "chmod 600 " + path}, true)
	}
	variables, bad := parseEnv(withoutBOM(text))
	for _, line := range bad {
		warn(Error{At: Origin{File: EnvFile, Line: line, Col: 1}, What: "this line is no variable", Remedy: "write NAME=value, with the value in single quotes where it holds spaces or signs"}, false)
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

// parseEnv reads lines of NAME=value and returns the numbers of those that are
// none.
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

// unquote takes the quotes of a shell off a value: nothing is special in single
// ones, a backslash saves the next letter in double ones.
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

// FormatEnvLine returns the line of an [EnvFile] that gives a variable its value.
// Whatever the value holds, a shell, systemd and this program read the same;
// false when no form of it does.
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
