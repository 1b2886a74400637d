package config

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// reference is ${…} within one line; what stands inside is read by [expander].
var reference = regexp.MustCompile(`\$\{[^}\n]*\}`)

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// expander replaces references in the values of a configuration:
// ${NAME}, ${NAME:-default}, ${file:PATH}; $$ is a dollar.
type expander struct {
	lookup func(string) (string, bool)
	folder string // relative paths of ${file:…} start here
}

// expand returns text with its references replaced. When one cannot be, missing
// is a sentence that says why and the text is empty.
func (x expander) expand(text string) (expanded, missing string) {
	var out strings.Builder
	for rest := text; rest != ""; {
		i := strings.IndexByte(rest, '$')
		if i < 0 {
			out.WriteString(rest)
			break
		}
		out.WriteString(rest[:i])
		rest = rest[i:]
		switch {
		case strings.HasPrefix(rest, "$$"):
			out.WriteByte('$')
			rest = rest[2:]
		case reference.MatchString(rest) && reference.FindStringIndex(rest)[0] == 0:
			ref := reference.FindString(rest)
			value, why := x.resolve(ref[2 : len(ref)-1])
			if why != "" {
				return "", why
			}
			out.WriteString(value)
			rest = rest[len(ref):]
		default: // a dollar that begins no reference is itself
			out.WriteByte('$')
			rest = rest[1:]
		}
	}
	return out.String(), ""
}

func (x expander) resolve(inside string) (value, missing string) {
	if path, ok := strings.CutPrefix(inside, "file:"); ok {
		return x.read(path)
	}
	name, fallback, hasFallback := strings.Cut(inside, ":-")
	if !variableName.MatchString(name) {
		return "", fmt.Sprintf("${%s} names no variable; write ${NAME}, ${NAME:-default} or ${file:PATH}, and $$ for a dollar", name)
	}
	value, set := x.lookup(name)
	switch {
	case set && value != "":
		return value, ""
	case hasFallback:
		return fallback, ""
	case set:
		return "", fmt.Sprintf("the environment variable %s is empty", name)
	}
	return "", fmt.Sprintf("the environment variable %s is not set", name)
}

// read returns the text of a file without its last line break.
func (x expander) read(path string) (value, missing string) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(x.folder, path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Sprintf("the file %s cannot be read: %s", path, reasonOf(err))
	}
	return strings.TrimRight(string(text), "\r\n"), ""
}
