package main

import (
	"regexp"
	"strings"
)

// A requirement is one row of a table.
type requirement struct {
	id   string
	text string // its second column
}

// group is what the id begins with: SEQ of SEQ-07.
func (r requirement) group() string {
	name, _, _ := strings.Cut(r.id, "-")
	return name
}

// idForm is an id: a group and, after dashes or dots, parts of which one is a
// number.
var idForm = regexp.MustCompile(`^[A-Z][A-Z0-9]*(?:[-.][A-Z0-9]+)+$`)

// requirements returns the rows of all tables whose first cell is an id, each id
// once. Marks beside the id, such as † or **, are no part of it.
func requirements(text string) []requirement {
	var all []requirement
	seen := map[string]bool{}
	for row := range strings.Lines(text) {
		row = strings.TrimSpace(row)
		if !strings.HasPrefix(row, "|") {
			continue
		}
		cells := strings.Split(strings.Trim(row, "|"), "|")
		words := strings.Fields(strings.Trim(strings.TrimSpace(cells[0]), "*`"))
		if len(cells) < 2 || len(words) == 0 {
			continue
		}
		id := strings.Trim(words[0], "*`†")
		if !idForm.MatchString(id) || !strings.ContainsAny(id, "0123456789") || seen[id] {
			continue
		}
		seen[id] = true
		all = append(all, requirement{id, strings.TrimSpace(cells[1])})
	}
	return all
}
