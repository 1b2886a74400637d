package config

import (
	"fmt"
	"slices"
	"strings"
)

// Migration says how a file that uses known-old keys becomes one that does not.
type Migration struct {
	// Patch is a unified diff against the file; empty when nothing can be changed
	// line by line.
	Patch string `json:"patch"`
	// ByHand lists what a person has to move, a sentence each.
	ByHand []string `json:"by_hand,omitempty"`
}

// Migration returns what would bring the file up to date. Nothing is written.
func (c *Config) Migration() Migration {
	var m Migration
	before := strings.Split(c.doc.text, "\n")
	after := slices.Clone(before)
	gone := map[int]bool{}
	for _, r := range c.renamings {
		i := r.at.Line - 1
		if r.at.File == "" || i < 0 || i >= len(before) {
			m.ByHand = append(m.ByHand, r.warning().Fault.String())
			continue
		}
		oldKey, newKey := lastKey(r.old), lastKey(r.new)
		switch {
		case !r.both && r.new != "" && sectionOf(r.old) == sectionOf(r.new) && holds(after[i], r.at.Col, oldKey):
			after[i] = rename(after[i], oldKey, newKey)
		case (r.both || r.new == "") && alone(before[i], oldKey):
			gone[i] = true
		default:
			m.ByHand = append(m.ByHand, r.warning().Fault.String())
		}
	}
	m.Patch = diff(c.Path, before, after, gone)
	return m
}

func lastKey(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

func sectionOf(path string) string { return path[:strings.LastIndexByte(path, '.')+1] }

// holds reports whether the key stands in the line at the column.
func holds(line string, col int, key string) bool {
	runes := []rune(line)
	return col >= 1 && col <= len(runes) && strings.Contains(string(runes[col-1:]), key)
}

// rename changes the first place where the line has the key.
func rename(line, old, renamed string) string {
	return strings.Replace(line, old+":", renamed+":", 1)
}

// alone reports whether the line holds the key with a plain value and nothing
// else, so that it can go.
func alone(line, key string) bool {
	value, ok := strings.CutPrefix(strings.TrimSpace(line), key+":")
	value = strings.TrimSpace(value)
	return ok && value != "" && !strings.ContainsAny(value, "{}[]|>&*")
}

// context is how many unchanged lines a patch shows around a change.
const context = 3

// diff renders lines that were changed or are gone as a unified diff.
func diff(path string, before, after []string, gone map[int]bool) string {
	var changed []int
	for i := range before {
		if before[i] != after[i] || gone[i] {
			changed = append(changed, i)
		}
	}
	if len(changed) == 0 {
		return ""
	}
	last := len(before)
	if before[last-1] == "" { // after the last line break
		last--
	}
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", path, path)
	shift := 0
	for len(changed) > 0 {
		end := 1
		for end < len(changed) && changed[end]-changed[end-1] <= 2*context {
			end++
		}
		from, to := max(0, changed[0]-context), min(last, changed[end-1]+context+1)
		dropped := 0
		for _, i := range changed[:end] {
			if gone[i] {
				dropped++
			}
		}
		fmt.Fprintf(&out, "@@ -%d,%d +%d,%d @@\n", from+1, to-from, from+1-shift, to-from-dropped)
		for i := from; i < to; i++ {
			out.WriteString(diffLine(before[i], after[i], gone[i]))
		}
		shift += dropped
		changed = changed[end:]
	}
	return out.String()
}

func diffLine(before, after string, gone bool) string {
	switch {
	case gone:
		return "-" + before + "\n"
	case before != after:
		return "-" + before + "\n+" + after + "\n"
	}
	return " " + before + "\n"
}
