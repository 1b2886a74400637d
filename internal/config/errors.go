package config

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
)

// Error is one error in a configuration.
type Error struct {
	At     ValueOrigin
	What   string // a sentence without full stop and without credentials
	Remedy string // the fix; may be empty
	key    string // the unknown key, if it is one
	hidden bool   // the excerpt stops at the column: what follows may be a credential
}

// String returns the error in one line: position, what, fix.
func (f Error) String() string {
	s := f.At.String() + ": " + f.What
	if f.Remedy != "" {
		s += "; " + f.Remedy
	}
	return s
}

// Render returns the error with the line of the file, a mark under the column, and
// the fix. text is the whole file; it is empty for errors outside files.
func (f Error) Render(text string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s: %s\n", f.At, f.What)
	if line, ok := excerptLine(text, f.At); ok {
		if f.hidden {
			line = cutAfterKey(line, f.At.Col)
		}
		number := fmt.Sprintf("%4d", f.At.Line)
		pad := strings.Repeat(" ", max(0, f.At.Col-1))
		fmt.Fprintf(&out, "%s | %s\n%s | %s^\n", number, strings.TrimRight(maskValues(line), " "), strings.Repeat(" ", len(number)), pad)
	}
	if f.Remedy != "" {
		fmt.Fprintf(&out, "  %s\n", f.Remedy)
	}
	return out.String()
}

func excerptLine(text string, at ValueOrigin) (string, bool) {
	if at.Line == 0 || at.Env != "" || text == "" {
		return "", false
	}
	lines := strings.Split(text, "\n")
	if at.Line > len(lines) {
		return "", false
	}
	line := strings.TrimRight(lines[at.Line-1], "\r")
	return strings.ReplaceAll(line, "\t", " "), strings.TrimSpace(line) != ""
}

// cutAfterKey removes what follows the key at the column.
func cutAfterKey(line string, col int) string {
	runes := []rune(line)
	for i := max(0, col-1); i < len(runes); i++ {
		if runes[i] == ':' && (i+1 == len(runes) || runes[i+1] == ' ') {
			return string(runes[:i+1]) + " …"
		}
	}
	return string(runes[:min(len(runes), max(0, col-1))]) + "…"
}

// keyValue matches a key with the plain or quoted value beside it.
var keyValue = regexp.MustCompile(`([A-Za-z_][\w.-]*)(["']?\s*:\s+)("[^"]*"?|'[^']*'?|[^\s,{}\[\]#"'][^\s,}\]]*)`)

// publicKeys are the keys whose values an excerpt may show. Any other value may be a
// credential, for instance under a misspelt key.
var publicKeys = []string{
	"data", "listen", "webhook_listen", "webhook_url", "admit", "owners", "admins", "allow", "accounts", "outgoing", "sender_per_minute", "remember", "default_agents", "base_url", "api_url", "type", "name",
	"agents", "circle", "relay", "chats", "file", "version",
}

// maskValues replaces the values of other keys by *** and keeps the width of the
// line. References stay.
func maskValues(line string) string {
	return keyValue.ReplaceAllStringFunc(line, func(found string) string {
		m := keyValue.FindStringSubmatch(found)
		key, gap, value := m[1], m[2], m[3]
		if strings.HasPrefix(value, "${") || strings.Trim(value, `"'`) == "" || isPublicKey(key) {
			return found
		}
		return key + gap + "***" + strings.Repeat(" ", max(0, utf8.RuneCountInString(value)-3))
	})
}

// MaskLine returns a line of a configuration file without values that may be credentials.
func MaskLine(line string) string { return strings.TrimRight(maskValues(line), " ") }

func isPublicKey(key string) bool {
	return slices.Contains(publicKeys, key) || slices.ContainsFunc(settingKeys, func(k settingKey) bool {
		return k.name == key || strings.HasSuffix(k.name, "."+key)
	})
}

// syntaxFault converts a parser error.
func syntaxFault(file string, err error, s refEscaper) Error {
	f := Error{At: ValueOrigin{File: file, Line: 1, Col: 1}, What: "the file is not YAML", Remedy: "check the indentation and the quotes around this place", hidden: true}
	e, ok := errors.AsType[yaml.Error](err)
	if !ok {
		return f
	}
	if tk := e.GetToken(); tk != nil && tk.Position != nil {
		f.At.Line, f.At.Col = tk.Position.Line, tk.Position.Column
	}
	if strings.Contains(e.GetMessage(), "already defined") {
		f.What, f.Remedy = "this key stands here for the second time", "remove one of them"
		return f
	}
	if strings.Contains(e.GetMessage(), "'\t'") {
		f.What, f.Remedy = "the file is not YAML: a line is indented with a tab", "indent with spaces"
		return f
	}
	f.What = "the file is not YAML: " + parserReason(s.unescape(e.GetMessage()))
	return f
}

// parserReason returns the first line of the parser's message without what it quotes
// from the file.
func parserReason(message string) string {
	message, _, _ = strings.Cut(message, "\n")
	if i := strings.IndexAny(message, "\"`"); i >= 0 {
		message = strings.TrimRight(message[:i], " :")
	}
	return message
}
