package config

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/textformat"
)

// A section reads one mapping with the keys of a form. It collects errors and goes
// on, so that one run reports all of them; finish adds one for every unknown key.
type section struct {
	node     *node
	form     keyForm
	layer    settingsLayer // settings found here
	errs     []Error
	literals []ValueOrigin // of credentials that the file contains literally
	files    []string      // that credentials were read from
}

// openSection starts reading n. A node that is not a mapping is an error and reads
// as an empty one.
func openSection(n *node, f keyForm) *section {
	s := &section{node: &node{}, form: f, layer: settingsLayer{}}
	switch {
	case n == nil || n.kind == nullNode:
	case n.kind == mapNode:
		s.node = n
	default:
		s.addError(n.origin, "here should be keys and values", "write `key: value` on lines of their own, or {key: value}")
	}
	return s
}

func (s *section) addError(at ValueOrigin, what, remedy string) {
	s.errs = append(s.errs, Error{At: at, What: what, Remedy: remedy})
}

// findKey returns the row of a key, which must exist.
func findKey(keys []keyRow, name string) keyRow {
	i := slices.IndexFunc(keys, func(k keyRow) bool { return k.name == name })
	if i < 0 {
		panic("config: no table has the key " + name)
	}
	return keys[i]
}

func (s *section) key(name string) keyRow { return findKey(s.form.of, name) }

// get returns the value of a key of the form, or nil.
func (s *section) get(name string) *node {
	return s.node.get(s.key(name).name)
}

// has reports whether the key is present.
func (s *section) has(name string) bool { return s.get(name) != nil }

// subsection starts reading the section under a key. The caller passes it to
// mergeErrors.
func (s *section) subsection(name string) *section {
	return openSection(s.get(name), s.key(name).form)
}

// mergeErrors finishes a subsection and takes over its errors and credentials.
func (s *section) mergeErrors(inner *section) {
	s.errs = append(s.errs, inner.finish()...)
	s.literals = append(s.literals, inner.literals...)
	s.files = append(s.files, inner.files...)
}

// stringAt returns the text of a scalar, or "".
func (s *section) stringAt(name string) string { return s.scalarText(s.get(name), name) }

func (s *section) scalarText(n *node, name string) string {
	switch {
	case n == nil || n.kind == nullNode:
		return ""
	case n.kind != scalarNode:
		s.addError(n.origin, fmt.Sprintf("%s should be one value", name), "write it beside the key, without brackets or braces")
		return ""
	case n.missing != "":
		s.addError(n.origin, fmt.Sprintf("%s is missing: %s", name, n.missing), "set it, or write the value here")
		return ""
	}
	return n.text
}

// secret returns a credential and records where it is stored.
func (s *section) secret(name string) adapters.SecretString {
	value := adapters.SecretString(s.stringAt(name))
	if n := s.get(name); n != nil && value != "" {
		s.files = append(s.files, n.files...)
		if !n.refers && n.origin.File != "" && isCredential(string(value)) {
			s.literals = append(s.literals, n.origin)
		}
	}
	return value
}

// isCredential reports whether a value grants access. The address of a database
// server without a password does not.
func isCredential(value string) bool {
	u, err := url.Parse(value)
	if err != nil {
		return true
	}
	switch u.Scheme {
	case "redis", "rediss", "postgres", "postgresql":
		_, has := u.User.Password()
		return has || u.Query().Has("password")
	}
	return true
}

// requiredSecret returns a credential; an empty one is an error.
func (s *section) requiredSecret(name string) adapters.SecretString {
	before := len(s.errs)
	value := s.secret(name)
	if value == "" && len(s.errs) == before {
		s.addError(s.positionOf(name), name+" is empty", "write it as "+name+": ${NAME} and set NAME in the environment")
	}
	return value
}

// positionOf returns the position of a key's value, or of the section when the key
// is absent.
func (s *section) positionOf(name string) ValueOrigin {
	if n := s.get(name); n != nil {
		return n.origin
	}
	return s.node.origin
}

// oneOf returns the value of a key that allows only certain words, or fallback when
// it is absent or wrong.
func (s *section) oneOf(name, fallback string) string {
	value := s.stringAt(name)
	if value == "" {
		return fallback
	}
	if words := s.key(name).form.words; !slices.Contains(words, value) {
		s.addError(s.positionOf(name), name+": "+errNotOneOf(value, words).Error(), "")
		return fallback
	}
	return value
}

// boolean returns the value of a flag; false when the key is absent.
func (s *section) boolean(name string) bool {
	value := s.stringAt(name)
	if value == "" {
		return false
	}
	on, err := parseBool(value)
	if err != nil {
		s.addError(s.positionOf(name), name+": "+err.Error(), "write true or false")
	}
	return on
}

// list returns the items of a list with their positions; a single value is a list of
// one.
func (s *section) list(name string) []listItem {
	n := s.get(name)
	if n == nil || n.kind == nullNode {
		return nil
	}
	items := n.items
	if n.kind != listNode {
		items = []*node{n}
	}
	var all []listItem
	for _, item := range items {
		if n.kind == listNode && item.kind != scalarNode && item.kind != nullNode {
			s.addItemError(item, name)
			continue
		}
		text := s.scalarText(item, name)
		if item.origin.Env != "" || item.origin.Flag != "" { // these have no list syntax
			for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
				all = append(all, listItem{word, item.origin})
			}
		} else if text != "" {
			all = append(all, listItem{text, item.origin})
		}
	}
	return all
}

// addItemError reports an item of a list that is not a scalar.
func (s *section) addItemError(item *node, name string) {
	if item.kind == mapNode && len(item.entries) > 0 {
		s.addError(item.origin, fmt.Sprintf("this entry of %s is the key %q with a value", name, item.entries[0].key), "write it as one word, without a blank behind the colon")
		return
	}
	s.addError(item.origin, fmt.Sprintf("this entry of %s is no single value", name), "write each entry on a line of its own")
}

// listItem is one scalar of a list.
type listItem struct {
	text string
	at   ValueOrigin
}

// readSettings reads every setting in the section, in a group of keys or with a
// dotted name.
func (s *section) readSettings() {
	groups := settingGroups()
	for _, e := range s.node.entries {
		if _, single := findSetting(e.key); single {
			s.readSetting(e.key, e.value)
		} else if groups[e.key] {
			s.readGroup(e.key, e.value)
		}
	}
}

func (s *section) readGroup(name string, n *node) {
	if n.kind == listNode && slices.ContainsFunc(s.form.of, func(k keyRow) bool { return k.name == name+"s" }) {
		s.addError(n.origin, fmt.Sprintf("%s is a group of settings", name), fmt.Sprintf("did you mean %q?", name+"s"))
		return
	}
	g := openSection(n, keyForm{})
	for _, e := range g.node.entries {
		if _, ok := findSetting(name + "." + e.key); ok {
			g.readSetting(name+"."+e.key, e.value)
			continue
		}
		var known []string
		for _, k := range settingKeys {
			if below, ok := strings.CutPrefix(k.name, name+"."); ok {
				known = append(known, below)
			}
		}
		g.errs = append(g.errs, unknownKey(e, known))
	}
	maps.Copy(s.layer, g.layer)
	s.errs = append(s.errs, g.errs...)
}

func (s *section) readSetting(name string, n *node) {
	k, _ := findSetting(name)
	var words []string
	for _, item := range listed(n, k.value.kind == someHosts) {
		words = append(words, s.scalarText(item, name))
	}
	text := strings.Join(words, ", ")
	if text == "" {
		return
	}
	if err := k.value.set(&ResolvedSettings{}, text); err != nil {
		s.addError(n.origin, name+": "+err.Error(), "")
		return
	}
	s.layer[name] = writtenSetting{text, n.origin}
}

// listed returns the items of a list where there may be one, else n alone.
func listed(n *node, may bool) []*node {
	if may && n.kind == listNode {
		return n.items
	}
	return []*node{n}
}

// allowedKeys lists the keys of a section, and the settings and their groups if it
// allows those.
func (f keyForm) allowedKeys() []string {
	var names []string
	for _, k := range f.of {
		names = append(names, k.name)
	}
	if !f.settings {
		return names
	}
	for _, k := range settingKeys {
		name, _, _ := strings.Cut(k.name, ".")
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// finish returns the errors, with one for every unknown key.
func (s *section) finish() []Error {
	known := s.form.allowedKeys()
	for _, e := range s.node.entries {
		_, dotted := findSetting(e.key)
		if !slices.Contains(known, e.key) && (!s.form.settings || !dotted) {
			s.errs = append(s.errs, unknownKey(e, known))
		}
	}
	return s.errs
}

// maxListedKeys is the largest number of keys that an error message lists.
const maxListedKeys = 16

func unknownKey(e mapEntry, known []string) Error {
	candidates := known
	if strings.Contains(e.key, ".") {
		for _, k := range settingKeys {
			candidates = append(candidates, k.name)
		}
	}
	remedy := textformat.DidYouMean(e.key, candidates)
	switch {
	case remedy != "":
	case len(known) > maxListedKeys:
		remedy = "`trestle config show --all` lists the keys, docs/configuration.md says what they mean"
	default:
		remedy = "keys here: " + strings.Join(known, ", ")
	}
	return Error{At: e.origin, What: fmt.Sprintf("unknown key %q", e.key), Remedy: remedy, key: e.key, hidden: true}
}

// number reads a non-negative integer.
func (s *section) number(key string, fallback int) int {
	text := s.stringAt(key)
	if text == "" {
		return fallback
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		s.addError(s.positionOf(key), fmt.Sprintf("%s: %q is no whole number", key, text), "write a number, or 0 for no bound")
		return fallback
	}
	return n
}

// secretURL reads an http or https URL as a secret, since it may contain one.
func (s *section) secretURL(name string) adapters.SecretString {
	value := s.secret(name)
	if value == "" {
		return ""
	}
	u, err := url.Parse(string(value))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		s.addError(s.positionOf(name), name+" is no address", "write https://…")
		return ""
	}
	return value
}
