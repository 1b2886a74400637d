package config

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// A textEdit changes the lines of a YAML text, each with its line end.
type textEdit struct{ lines []string }

// A spot is a place in the lines: a line, from 0, and a byte in it.
type spot struct{ line, at int }

// set sets the value at a path.
func (e *textEdit) set(keys []string, value string) error {
	at, err := e.top()
	if err != nil {
		return err
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

// remove removes the entry at a path, with a comment on its line.
func (e *textEdit) remove(keys []string) error {
	at, err := e.top()
	if err != nil {
		return err
	}
	for depth, key := range keys {
		found, block := entryOf(at, key)
		if found == nil {
			return editError("a key of this path is written in a form that a command cannot change", "change it in the file")
		}
		if depth < len(keys)-1 {
			at = found.Value
			continue
		}
		where := e.spotOf(found.Key)
		colon, err := e.behindKey(where)
		if err == nil { // a value of one character is on the line of its key
			err = e.replace(where, colon, found.Value, block, "x")
		}
		if err != nil {
			return err
		}
		e.removeEntry(where, colon, block)
	}
	return nil
}

// removeEntry removes the entry whose key is at a place, with a value of one character on the same line.
func (e *textEdit) removeEntry(key, colon spot, block bool) {
	if block {
		e.lines = slices.Delete(e.lines, key.line, key.line+1)
		return
	}
	line := e.lines[key.line]
	head, value := line[:key.at], strings.TrimLeft(line[colon.at:], " \t")
	tail := strings.TrimLeft(value[1:], " \t")
	if after, comma := strings.CutPrefix(tail, ","); comma {
		tail = strings.TrimLeft(after, " \t")
	} else {
		head = strings.TrimSuffix(strings.TrimRight(head, " \t"), ",")
	}
	e.lines[key.line] = head + tail
}

// top returns the value of the first document; nil where there is none.
func (e *textEdit) top() (ast.Node, error) {
	parsed, err := parser.ParseBytes([]byte(strings.Join(e.lines, "")), 0)
	if err != nil {
		return nil, err
	}
	for _, doc := range parsed.Docs {
		if doc.Body != nil {
			return doc.Body, nil
		}
	}
	return nil, nil
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
