package config

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// SetValue returns the text of a configuration file with one value changed or added, and
// everything else as it was, comments too. The path has dots between its keys; a key with dots
// of its own is written in quotation marks. The value is YAML, or a text that is quoted where it has
// to be. The error says in words what cannot be changed so, and what to do.
func SetValue(text, path, value string) (string, error) {
	return editUnix(text, func(text string) (string, error) { return setValue(text, path, value) })
}

// RemoveValue returns the text of a configuration file without the value at a path, and everything else
// as it was; a comment on its line goes with it. Its path and its errors are as those of [SetValue].
func RemoveValue(text, path string) (string, error) {
	return editUnix(text, func(text string) (string, error) { return removeValue(text, path) })
}

// editUnix edits a text whose lines may end with CR and LF, which the parser miscounts.
func editUnix(text string, edit func(string) (string, error)) (string, error) {
	unix := strings.ReplaceAll(text, "\r\n", "\n")
	if unix == text {
		return edit(text)
	}
	if strings.ReplaceAll(unix, "\n", "\r\n") != text {
		return "", editError("the lines of the file end in different ways", "save it with one kind of line ends")
	}
	changed, err := edit(unix)
	return strings.ReplaceAll(changed, "\n", "\r\n"), err
}

func setValue(text, path, value string) (string, error) {
	keys, err := splitPath(path)
	if err != nil {
		return "", err
	}
	cover := newRefEscaper(text + value)
	before, value := cover.escape(text), cover.escape(strings.TrimSpace(value))
	if _, faults := parseTree("", before, expander{}); len(faults) > 0 {
		return "", errUnsound()
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
	return "", errPlace(path)
}

func removeValue(text, path string) (string, error) {
	keys, err := splitPath(path)
	if err != nil {
		return "", err
	}
	cover := newRefEscaper(text)
	before := cover.escape(text)
	root, faults := parseTree("", before, expander{})
	if len(faults) > 0 {
		return "", errUnsound()
	}
	if !root.remove(keys) {
		return "", editError("the file does not set "+path, "trestle config show --origin says where a value comes from")
	}
	e := textEdit{lines: strings.SplitAfter(before, "\n")}
	if err := e.remove(keys); err != nil {
		return "", err
	}
	after := strings.Join(e.lines, "")
	if now, faults := parseTree("", after, expander{}); len(faults) > 0 || !sameTree(root, now) {
		return "", errPlace(path)
	}
	return cover.unescape(after), nil
}

func errUnsound() error { return editError("the file is not sound", "see trestle config check") }

func errPlace(path string) error {
	return editError("this place of the file cannot be changed by a command", "change "+path+" in the file")
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
	if a.isEmpty() && b.isEmpty() { // a group that has no keys any more has no value
		return true
	}
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
