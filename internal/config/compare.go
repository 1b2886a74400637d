package config

import (
	"slices"
	"strings"
)

// A KeyChange is one key that two configurations do not have in common.
type KeyChange struct {
	Path string // "spaces.family.agents"
	Old  string // credentials as ***; empty: it was not there
	New  string
	// AtStart is true for what counts from the next start on.
	AtStart bool
}

// CompareConfigs lists what changes from one configuration to the next, in the order of
// the next.
func CompareConfigs(before, after *Config) []KeyChange {
	var changes []KeyChange
	everything := ShowOptions{All: true}
	old := map[string]ShownValue{}
	for _, r := range before.Rows(everything) {
		old[r.Path] = r
	}
	for _, r := range after.Rows(everything) {
		was, there := old[r.Path]
		delete(old, r.Path)
		if there && was.whole != r.whole || !there && r.Value != "" {
			changes = append(changes, KeyChange{r.Path, was.Value, r.Value, countsAtStart(r.Path)})
		}
	}
	for _, r := range before.Rows(everything) {
		if _, gone := old[r.Path]; gone && r.Value != "" {
			changes = append(changes, KeyChange{r.Path, r.Value, "", countsAtStart(r.Path)})
		}
	}
	return changes
}

// countsAtStart reports whether only a start reads what stands at a path.
func countsAtStart(path string) bool {
	if k, ok := findSetting(path); ok {
		return k.value.start
	}
	top, rest, inside := strings.Cut(path, ".")
	i := slices.IndexFunc(topKeys, func(k keyRow) bool { return k.name == top })
	switch {
	case i < 0:
		return false
	case top == "adapters":
		return false
	case !inside || topKeys[i].form.kind != aSection:
		return topKeys[i].form.start
	}
	j := slices.IndexFunc(topKeys[i].form.of, func(k keyRow) bool { return k.name == rest })
	return j >= 0 && topKeys[i].form.of[j].form.start
}
