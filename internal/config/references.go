package config

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// reference matches ${…} within one line.
var reference = regexp.MustCompile(`\$\{[^}\n]*\}`)

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// An expander replaces references in values: ${NAME}, ${NAME:-default}, ${file:PATH}
// and ${cred:NAME}; $$ is a dollar.
type expander struct {
	lookup func(string) (string, bool)
	folder string // of relative paths in ${file:…}
	// opened, unless nil, is called with the path of every file that is read.
	opened func(path string)
}

// An expansion is a text with its references replaced.
type expansion struct {
	text    string   // empty when something is missing
	missing string   // why a reference cannot be replaced, as a sentence; empty when all can
	refers  bool     // there was a reference
	files   []string // that were read
}

func (x expander) expand(text string) expansion {
	var e expansion
	var out strings.Builder
	for rest := text; rest != ""; {
		i := strings.IndexByte(rest, '$')
		if i < 0 {
			out.WriteString(rest)
			break
		}
		out.WriteString(rest[:i])
		rest = rest[i:]
		switch at := reference.FindStringIndex(rest); {
		case strings.HasPrefix(rest, "$$"):
			out.WriteByte('$')
			rest = rest[2:]
		case at != nil && at[0] == 0:
			e.refers = true
			value := x.resolve(rest[2:at[1]-1], &e)
			if e.missing != "" {
				return e
			}
			out.WriteString(value)
			rest = rest[at[1]:]
		default: // a dollar without a reference is literal
			out.WriteByte('$')
			rest = rest[1:]
		}
	}
	e.text = out.String()
	return e
}

func (x expander) resolve(inside string, e *expansion) (value string) {
	if path, ok := strings.CutPrefix(inside, "file:"); ok {
		return x.fromFile(path, e)
	}
	if name, ok := strings.CutPrefix(inside, "cred:"); ok {
		return x.credential(name, e)
	}
	name, fallback, hasFallback := strings.Cut(inside, ":-")
	if !variableName.MatchString(name) {
		e.missing = fmt.Sprintf("${%s} names no variable; write ${NAME}, ${NAME:-default}, ${file:PATH} or ${cred:NAME}, and $$ for a dollar", name)
		return ""
	}
	value, set := x.lookup(name)
	switch {
	case set && value != "":
		return value
	case hasFallback:
		return fallback
	case set:
		e.missing = fmt.Sprintf("the environment variable %s is empty", name)
	default:
		e.missing = fmt.Sprintf("the environment variable %s is not set", name)
	}
	return ""
}

func (x expander) fromFile(path string, e *expansion) string {
	path = x.full(path)
	value, missing := x.read(path)
	e.missing = missing
	e.files = append(e.files, path)
	return value
}

// credential reads a credential that systemd passes to the service.
func (x expander) credential(name string, e *expansion) string {
	folder, _ := x.lookup("CREDENTIALS_DIRECTORY")
	switch {
	case name == "" || name == "." || name == ".." || strings.ContainsAny(name, `/\`):
		e.missing = fmt.Sprintf("${cred:%s} names no credential; write the name that the unit gives it, such as ${cred:telegram}", name)
		return ""
	case folder == "":
		e.missing = fmt.Sprintf("${cred:%s} is known to a service only; the unit needs LoadCredential=%s:PATH", name, name)
		return ""
	}
	return x.fromFile(filepath.Join(folder, name), e)
}

func (x expander) full(path string) string { return absoluteFrom(x.folder, path) }

// absoluteFrom returns path, joined to folder if it is relative.
func absoluteFrom(folder, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(folder, path)
}

// read returns the text of a file without its last line break.
func (x expander) read(path string) (value, missing string) {
	path = x.full(path)
	if x.opened != nil {
		x.opened(path)
	}
	text, err := readBounded(path)
	if err != nil {
		return "", fmt.Sprintf("the file %s cannot be read: %s", path, reasonOf(err))
	}
	return strings.TrimRight(string(text), "\r\n"), ""
}

// A refEscaper escapes the references of a file for the YAML parser: in a flow
// mapping the braces of ${NAME} would end the mapping, and a default may contain any
// character. Each ASCII character of a reference is mapped to a block of private-use
// characters that begins at the value of the refEscaper.
type refEscaper rune

// newRefEscaper returns an escaper whose block does not occur in the text.
func newRefEscaper(text string) refEscaper {
	used := map[rune]bool{}
	for _, r := range text {
		if r >= 0xF0000 {
			used[r&^0x7F] = true
		}
	}
	block := rune(0xF0000)
	for used[block] {
		block += 0x80
	}
	return refEscaper(block)
}

func (s refEscaper) escape(text string) string {
	return reference.ReplaceAllStringFunc(text, func(ref string) string {
		return strings.Map(func(r rune) rune {
			if r < 0x80 {
				return r + rune(s)
			}
			return r
		}, ref)
	})
}

func (s refEscaper) unescape(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= rune(s) && r < rune(s)+0x80 {
			return r - rune(s)
		}
		return r
	}, text)
}
