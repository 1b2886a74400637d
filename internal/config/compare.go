package config

import (
	"slices"
	"strings"
)

// A Change is one key that two configurations do not have in common.
type Change struct {
	Path string // "spaces.family.agents"
	Was  string // credentials as ***; empty: it was not there
	Now  string
	// AtStart is true for what counts from the next start on.
	AtStart bool
}

// Compare lists what changes from one configuration to the next, in the order of
// the next.
func Compare(before, after *Config) []Change {
	var changes []Change
	everything := ShowOptions{All: true}
	old := map[string]Row{}
	for _, r := range before.Rows(everything) {
		old[r.Path] = r
	}
	for _, r := range after.Rows(everything) {
		was, there := old[r.Path]
		delete(old, r.Path)
		if there && was.whole != r.whole || !there && r.Value != "" {
			changes = append(changes, Change{r.Path, was.Value, r.Value, atNextStart(r.Path)})
		}
	}
	for _, r := range before.Rows(everything) {
		if _, gone := old[r.Path]; gone && r.Value != "" {
			changes = append(changes, Change{r.Path, r.Value, "", atNextStart(r.Path)})
		}
	}
	return changes
}

// atNextStart reports whether only a start reads what stands at a path.
func atNextStart(path string) bool {
	if k, ok := findSetting(path); ok {
		return k.value.start
	}
	top, rest, inside := strings.Cut(path, ".")
	i := slices.IndexFunc(topKeys, func(k key) bool { return k.name == top })
	switch {
	case i < 0:
		return false
	case top == "adapters":
		return false
	case !inside || topKeys[i].form.kind != aSection:
		return topKeys[i].form.start
	}
	j := slices.IndexFunc(topKeys[i].form.of, func(k key) bool { return k.name == rest })
	return j >= 0 && topKeys[i].form.of[j].form.start
}
