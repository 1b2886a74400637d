package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
)

// section reads one mapping key by key. Every key that is asked for is known;
// whatever is left at the end is a fault. Faults do not stop the reading, so
// that one run shows them all.
type section struct {
	node   *node
	known  []string
	taken  map[string]bool
	layer  layer // settings found here
	faults []Fault
}

// openSection begins reading n. What is no mapping is a fault and reads as an
// empty one.
func openSection(n *node) *section {
	s := &section{node: &node{}, taken: map[string]bool{}, layer: layer{}}
	switch {
	case n == nil || n.kind == nullNode:
	case n.kind == mapNode:
		s.node = n
	default:
		s.fail(n.origin, "here should be keys and values", "write `key: value` on lines of their own, or {key: value}")
	}
	return s
}

func (s *section) fail(at Origin, what, todo string) {
	s.faults = append(s.faults, Fault{At: at, What: what, Todo: todo})
}

func (s *section) has(key string) bool {
	n := s.node.get(key)
	return n != nil && n.kind != nullNode
}

func (s *section) take(key string) *node {
	s.known = append(s.known, key)
	s.taken[key] = true
	return s.node.get(key)
}

// str returns the text of a scalar, or empty.
func (s *section) str(key string) string {
	return s.text(s.take(key), key)
}

func (s *section) text(n *node, key string) string {
	switch {
	case n == nil || n.kind == nullNode:
		return ""
	case n.kind != scalarNode:
		s.fail(n.origin, fmt.Sprintf("%s should be one value", key), "")
		return ""
	case n.missing != "":
		s.fail(n.origin, fmt.Sprintf("%s is missing: %s", key, n.missing), "set it, or write the value here")
		return ""
	}
	return n.text
}

func (s *section) secret(key string) adapters.Secret { return adapters.Secret(s.str(key)) }

// need is a secret that may not be empty.
func (s *section) need(key string) adapters.Secret {
	before := len(s.faults)
	value := s.secret(key)
	if value == "" && len(s.faults) == before {
		s.fail(s.where(key), key+" is empty", "write it as "+key+": ${NAME} and set NAME in the environment")
	}
	return value
}

// where is the place of a key's value, or of the section.
func (s *section) where(key string) Origin {
	if n := s.node.get(key); n != nil {
		return n.origin
	}
	return s.node.origin
}

// oneOf returns a word of options, or fallback when the key is absent.
func (s *section) oneOf(key, fallback string, options ...string) string {
	value := s.str(key)
	if value == "" {
		return fallback
	}
	if !slices.Contains(options, value) {
		s.fail(s.where(key), key+": "+notOneOf(value, options).Error(), "")
		return fallback
	}
	return value
}

func (s *section) yes(key string) bool {
	value := s.str(key)
	if value == "" {
		return false
	}
	on, err := parseBool(value)
	if err != nil {
		s.fail(s.where(key), key+": "+err.Error(), "")
	}
	return on
}

// list returns the texts of a list; a single value is a list of one.
func (s *section) list(key string) []string {
	n := s.take(key)
	if n == nil || n.kind == nullNode {
		return nil
	}
	items := n.items
	if n.kind != listNode {
		items = []*node{n}
	}
	var all []string
	for _, item := range items {
		text := s.text(item, key)
		if item.origin.Env != "" { // the environment has no lists
			all = append(all, strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })...)
		} else if text != "" {
			all = append(all, text)
		}
	}
	return all
}

// settings reads every setting that stands in the section, as a group of keys
// or with a dotted name.
func (s *section) settings() {
	groups := settingGroups()
	for _, e := range s.node.entries {
		switch _, single := findSetting(e.key); {
		case single:
			s.taken[e.key] = true
			s.setting(e.key, e.value)
		case groups[e.key]:
			s.taken[e.key] = true
			s.group(e.key, e.value)
		}
	}
	for _, k := range settingKeys {
		name, _, _ := strings.Cut(k.name, ".")
		if !slices.Contains(s.known, name) {
			s.known = append(s.known, name)
		}
	}
}

func (s *section) group(name string, n *node) {
	inner := openSection(n)
	for _, k := range settingKeys {
		if below, ok := strings.CutPrefix(k.name, name+"."); ok {
			if v := inner.take(below); v != nil {
				inner.setting(k.name, v)
			}
		}
	}
	maps.Copy(s.layer, inner.layer)
	s.faults = append(s.faults, inner.done()...)
}

func (s *section) setting(name string, n *node) {
	text := s.text(n, name)
	if text == "" {
		return
	}
	k, _ := findSetting(name)
	if err := k.set(&Settings{}, text); err != nil {
		s.fail(n.origin, name+": "+err.Error(), "")
		return
	}
	s.layer[name] = setting{text, n.origin}
}

// done returns the faults, with one for every key nobody asked for.
func (s *section) done() []Fault {
	for _, e := range s.node.entries {
		if s.taken[e.key] {
			continue
		}
		todo := suggestion(e.key, s.known)
		if todo == "" {
			todo = "keys here: " + strings.Join(s.known, ", ")
		}
		s.faults = append(s.faults, Fault{At: e.origin, What: fmt.Sprintf("unknown key %q", e.key), Todo: todo, hidden: true})
	}
	return s.faults
}
