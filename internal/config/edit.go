package config

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// SetValue returns the text of a configuration file with one value changed or added, and
// everything else as it was, comments too. The path has dots between its keys; a key with dots
// of its own is written in quotation marks. The value is YAML, or a text that is quoted where it has
// to be. The error says in words what cannot be changed so, and what to do.
func SetValue(text, path, value string) (string, error) {
	keys, err := splitPath(path)
	if err != nil {
		return "", err
	}
	// The parser miscounts lines that end with CR and LF.
	if unix := strings.ReplaceAll(text, "\r\n", "\n"); unix != text {
		if strings.ReplaceAll(unix, "\n", "\r\n") != text {
			return "", editError("the lines of the file end in different ways", "save it with one kind of line ends")
		}
		changed, err := SetValue(unix, path, value)
		return strings.ReplaceAll(changed, "\n", "\r\n"), err
	}
	cover := newRefEscaper(text + value)
	before, value := cover.escape(text), cover.escape(strings.TrimSpace(value))
	if _, faults := parseTree("", before, expander{}); len(faults) > 0 {
		return "", editError("the file is not sound", "see trestle config check")
	}
	quoted, _ := json.Marshal(value) // a string is always encoded
	for _, form := range []string{value, string(quoted)} {
		wanted, faults := parseTree("", "x: "+form+"\n", expander{})
		x := wanted.get("x")
		if len(faults) > 0 || form == "" || strings.Contains(form, "\n") || x == nil || len(wanted.entries) != 1 {
			continue
		}
		if x.kind == scalarNode && x.text != form && form[0] != '"' && form[0] != '\'' { // a part of it would be a comment
			continue
		}
		e := textEdit{lines: strings.SplitAfter(before, "\n")}
		if err = e.set(keys, form); err != nil {
			return "", err
		}
		after := strings.Join(e.lines, "")
		now, faults := parseTree("", after, expander{})
		if len(faults) > 0 {
			continue
		}
		root, _ := parseTree("", before, expander{}) // it is sound
		root.put(keys, x)
		if sameTree(root, now) {
			return cover.unescape(after), nil
		}
	}
	return "", editError("this place of the file cannot be changed by a command", "change "+path+" in the file")
}

// An EditError is why a value cannot be changed in a file, and what to do.
type EditError struct{ What, Remedy string }

// Error implements error.
func (e *EditError) Error() string { return e.What + ": " + e.Remedy }

func editError(what, remedy string) error { return &EditError{what, remedy} }

// splitPath returns the keys of a path.
func splitPath(path string) (keys []string, err error) {
	bad := func() ([]string, error) {
		return nil, editError(fmt.Sprintf("%q is no path of keys", path), "write keys with dots between, such as agents.ada.model.name")
	}
	for rest := path; ; {
		key, after, more := strings.Cut(rest, ".")
		if quoted, ok := strings.CutPrefix(rest, `"`); ok {
			end := strings.Index(quoted, `"`)
			if end < 0 || quoted[end+1:] != "" && quoted[end+1] != '.' {
				return bad()
			}
			key, more = quoted[:end], quoted[end+1:] != ""
			after = strings.TrimPrefix(quoted[end+1:], ".")
		}
		if key == "" || strings.ContainsAny(key, "\n\r") {
			return bad()
		}
		if keys = append(keys, key); !more {
			return keys, nil
		}
		rest = after
	}
}

// sameTree reports whether two trees have the same keys and values, in whatever order keys are.
func sameTree(a, b *node) bool {
	// A block of text at the end of a file has no line end of its own.
	if a.kind != b.kind || strings.TrimRight(a.text, "\n") != strings.TrimRight(b.text, "\n") || a.plain != b.plain || len(a.entries) != len(b.entries) || len(a.items) != len(b.items) {
		return false
	}
	for i := range a.items {
		if !sameTree(a.items[i], b.items[i]) {
			return false
		}
	}
	return !slices.ContainsFunc(a.entries, func(e mapEntry) bool {
		other := b.get(e.key)
		return other == nil || !sameTree(e.value, other)
	})
}

// A textEdit changes the lines of a YAML text, each with its line end.
type textEdit struct{ lines []string }

// A spot is a place in the lines: a line, from 0, and a byte in it.
type spot struct{ line, at int }

// set sets the value at a path.
func (e *textEdit) set(keys []string, value string) error {
	parsed, err := parser.ParseBytes([]byte(strings.Join(e.lines, "")), 0)
	if err != nil {
		return err
	}
	var at ast.Node
	for _, doc := range parsed.Docs {
		if doc.Body != nil {
			at = doc.Body
			break
		}
	}
	var above spot // behind the colon of the key whose value at is
	for depth, key := range keys {
		found, block := entryOf(at, key)
		if found == nil {
			return e.add(at, above, depth, keys[depth:], value)
		}
		where := e.spotOf(found.Key)
		if above, err = e.behindKey(where); err != nil {
			return err
		}
		if depth == len(keys)-1 {
			return e.replace(where, above, found.Value, block, value)
		}
		at = found.Value
	}
	return nil
}

// entryOf returns the entry of a key in a mapping, and whether the mapping is in block form.
func entryOf(n ast.Node, key string) (entry *ast.MappingValueNode, block bool) {
	var values []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		values, block = n.Values, !n.IsFlowStyle
	case *ast.MappingValueNode:
		values, block = []*ast.MappingValueNode{n}, true
	}
	for _, v := range values {
		if !v.Key.IsMergeKey() && v.Key.GetToken().Value == key {
			return v, block
		}
	}
	return nil, block
}

// spotOf returns where a node begins. Columns of the parser count characters.
func (e *textEdit) spotOf(n ast.Node) spot {
	p := n.GetToken().Position
	line := min(p.Line, len(e.lines)) - 1
	runes := []rune(e.lines[line])
	return spot{line, len(string(runes[:min(p.Column-1, len(runes))]))}
}

// behindKey returns the place behind the colon of the key at a place.
func (e *textEdit) behindKey(key spot) (spot, error) {
	line := e.lines[key.line]
	end := scanScalar(line, key.at, ":")
	colon := strings.IndexByte(line[end:], ':')
	if colon < 0 {
		return spot{}, editError("a key of this path is written in a form that a command cannot change", "change it in the file")
	}
	return spot{key.line, end + colon + 1}, nil
}

// scanScalar returns where the quoted or plain text that begins at a place of a line ends; a plain
// one ends before the first of stops, or before a comment.
func scanScalar(line string, at int, stops string) int {
	if at < len(line) && (line[at] == '"' || line[at] == '\'') {
		quote := line[at]
		for i := at + 1; i < len(line); i++ {
			switch {
			case line[i] == '\\' && quote == '"':
				i++
			case line[i] == quote && quote == '\'' && i+1 < len(line) && line[i+1] == quote:
				i++
			case line[i] == quote:
				return i + 1
			}
		}
		return len(line)
	}
	for i := at; i < len(line); i++ {
		if strings.IndexByte(stops, line[i]) >= 0 || line[i] == '\n' || line[i] == '#' && i > at && (line[i-1] == ' ' || line[i-1] == '\t') {
			return at + len(strings.TrimRight(line[at:i], " \t"))
		}
	}
	return at + len(strings.TrimRight(line[at:], " \t"))
}

// replace puts a value in place of that of the key at a place, which begins behind colon.
func (e *textEdit) replace(key, colon spot, was ast.Node, block bool, value string) error {
	switch was.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return editError("this is a group of keys", "name one of the keys in it")
	case *ast.AliasNode, *ast.AnchorNode, *ast.TagNode:
		return editError("this value has an anchor, an alias or a tag", "change it in the file")
	}
	line := e.lines[colon.line]
	start := colon.at + len(line[colon.at:]) - len(strings.TrimLeft(line[colon.at:], " \t"))
	rest := strings.TrimRight(line[start:], "\n")
	switch {
	case rest == "" || rest[0] == '#' || rest[0] == '|' || rest[0] == '>': // the value, if any, is on the next lines
		end := colon.at
		if rest != "" && rest[0] != '#' {
			end = scanScalar(line, start, "")
		}
		e.lines[colon.line] = line[:colon.at] + " " + value + line[end:]
		if _, empty := was.(*ast.NullNode); !empty {
			e.removeBelow(key)
		}
	case rest[0] == '[' || rest[0] == '{':
		end, ok := e.closing(spot{colon.line, start})
		if !ok {
			return editError("this list does not end", "change it in the file")
		}
		tail := e.lines[end.line][end.at+1:]
		e.lines[colon.line] = line[:start] + value + tail
		e.lines = slices.Delete(e.lines, colon.line+1, end.line+1)
	default:
		stops := ""
		if !block {
			stops = ",}]"
		}
		e.lines[colon.line] = line[:start] + value + line[scanScalar(line, start, stops):]
	}
	return nil
}

// removeBelow removes the lines below the key at a place that belong to its value.
func (e *textEdit) removeBelow(key spot) {
	last := key.line
	for i := key.line + 1; i < len(e.lines); i++ {
		words := strings.TrimLeft(e.lines[i], " ")
		indent := len(e.lines[i]) - len(words)
		item := strings.HasPrefix(words, "- ") || strings.TrimSpace(words) == "-"
		if strings.TrimSpace(words) == "" {
			continue
		}
		if indent < key.at || indent == key.at && !item {
			break
		}
		last = i
	}
	e.lines = slices.Delete(e.lines, key.line+1, last+1)
}

// closing returns the place of the bracket that closes the one at a place.
func (e *textEdit) closing(open spot) (spot, bool) {
	depth := 0
	for i, at := open.line, open.at; i < len(e.lines); i, at = i+1, 0 {
		line := e.lines[i]
		for ; at < len(line); at++ {
			switch c := line[at]; {
			case c == '[' || c == '{':
				depth++
			case c == ']' || c == '}':
				if depth--; depth == 0 {
					return spot{i, at}, true
				}
			case c == '#' && (at == 0 || line[at-1] == ' ' || line[at-1] == '\t'):
				at = len(line)
			case c == '"' || c == '\'' && (at == 0 || strings.IndexByte(" \t[{,:", line[at-1]) >= 0):
				at = scanScalar(line, at, "") - 1
			}
		}
	}
	return spot{}, false
}

// add adds keys and a value to the mapping at, which is the value behind colon; depth is how
// many keys are above. At the top it may be nil.
func (e *textEdit) add(at ast.Node, colon spot, depth int, keys []string, value string) error {
	m, whole := at.(*ast.MappingNode)
	flow := whole && m.IsFlowStyle
	switch at.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
	case *ast.NullNode, nil:
		indent := 0
		if depth > 0 {
			line := e.lines[colon.line]
			indent = len(line) - len(strings.TrimLeft(line, " ")) + 2
		}
		last := len(e.lines) - 1
		if depth > 0 {
			last = colon.line
		}
		e.insert(last, indent, keys, value)
		return nil
	default:
		return editError("the key above "+keys[0]+" has a value that is no group of keys", "write it as a group in the file")
	}
	if flow {
		open := e.spotOf(m)
		end, ok := e.closing(open)
		if !ok {
			return editError("this group does not end", "change it in the file")
		}
		for i := len(keys) - 1; i > 0; i-- {
			value = "{" + yamlKey(keys[i]) + ": " + value + "}"
		}
		line := e.lines[end.line]
		before := strings.TrimRight(line[:end.at], " \t")
		comma := ", "
		if len(m.Values) == 0 {
			comma = ""
		} else if strings.HasSuffix(before, ",") {
			comma = " "
		}
		e.lines[end.line] = before + comma + yamlKey(keys[0]) + ": " + value + line[len(before):]
		return nil
	}
	first := at
	if m != nil {
		first = m.Values[0].Key
	} else if v, ok := at.(*ast.MappingValueNode); ok {
		first = v.Key
	}
	top := e.spotOf(first)
	last := top.line
	for i := top.line; i < len(e.lines); i++ {
		words := strings.TrimSpace(e.lines[i])
		indent := len(e.lines[i]) - len(strings.TrimLeft(e.lines[i], " "))
		if words == "" || words[0] == '#' && indent <= top.at {
			continue
		}
		if indent < top.at {
			break
		}
		last = i
	}
	e.insert(last, top.at, keys, value)
	return nil
}

// insert writes keys, each on a line below the one before, and the value, behind a line.
func (e *textEdit) insert(behind, indent int, keys []string, value string) {
	var added []string
	for i, key := range keys {
		line := strings.Repeat(" ", indent+2*i) + yamlKey(key) + ":"
		if i == len(keys)-1 {
			line += " " + value
		}
		added = append(added, line+"\n")
	}
	if behind >= 0 && e.lines[behind] != "" && !strings.HasSuffix(e.lines[behind], "\n") {
		e.lines[behind] += "\n"
	}
	e.lines = slices.Insert(e.lines, behind+1, added...)
}

// plainKey is a key that needs no quotation marks.
var plainKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// yamlKey returns a key as it is written.
func yamlKey(key string) string {
	if plainKey.MatchString(key) {
		return key
	}
	quoted, _ := json.Marshal(key) // a string is always encoded
	return string(quoted)
}

// IsSecretKey reports whether the key at a path holds a credential.
func IsSecretKey(path string) bool {
	form, ok := formAt(path)
	return ok && form.kind == aSecret
}

// ReadAtStart reports whether a running program takes a change of the key at a path over only
// when it starts again.
func ReadAtStart(path string) bool {
	form, ok := formAt(path)
	return ok && form.start
}

// formAt returns the form of the key at a path, read at the start if a key above is; false for
// settings and unknown keys.
func formAt(path string) (form keyForm, ok bool) {
	keys, err := splitPath(path)
	rows, start := topKeys, false
	for err == nil && len(keys) > 0 {
		i := slices.IndexFunc(rows, func(r keyRow) bool { return r.name == keys[0] })
		if i < 0 {
			return keyForm{}, false
		}
		form, ok = rows[i].form, true
		start = start || form.start
		if keys = keys[1:]; form.kind == entries && len(keys) > 0 {
			keys = keys[1:]
		}
		rows = form.of
	}
	form.start = start
	return form, ok && err == nil
}
