package console

import (
	"maps"
	"slices"

	"github.com/trestle-bridge/trestle/spaces"
)

// ToolsDiff is how one version of the acts differs from another.
type ToolsDiff struct {
	From      string       `json:"from"`    // the name of the one
	To        string       `json:"to"`      // and of the other
	Added     []string     `json:"added"`   // acts
	Removed   []string     `json:"removed"` // acts
	Changed   []ToolChange `json:"changed"`
	Reordered bool         `json:"reordered"` // whether models see the acts that are in both in another order
}

// A ToolChange is an act that is not the same in two versions.
type ToolChange struct {
	Name      string          `json:"name"`
	What      []string        `json:"what"` // of tier, risk, about and schema
	Arguments ArgumentChanges `json:"arguments"`
}

// ArgumentChanges are the arguments in which two schemas of an act differ.
type ArgumentChanges struct {
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
	Changed []string `json:"changed"` // in what they take, or in whether they must be there
}

// diffTools compares two versions of the acts.
func diffTools(from, to spaces.ToolManifest) ToolsDiff {
	was, is := byName(from.Acts), byName(to.Acts)
	d := ToolsDiff{From: from.Hash, To: to.Hash, Changed: []ToolChange{}}
	d.Added, d.Removed = apart(was, is)
	for _, o := range to.Acts {
		if old, both := was[o.Name]; both {
			if c := changeOf(old, o); len(c.What) > 0 {
				d.Changed = append(d.Changed, c)
			}
		}
	}
	d.Reordered = !slices.Equal(shared(from.Acts, is), shared(to.Acts, was))
	return d
}

func byName(acts []spaces.ToolDefinition) map[string]spaces.ToolDefinition {
	all := map[string]spaces.ToolDefinition{}
	for _, o := range acts {
		all[o.Name] = o
	}
	return all
}

// shared returns the names of those acts that are also among others, in their order.
func shared(acts []spaces.ToolDefinition, others map[string]spaces.ToolDefinition) (names []string) {
	for _, o := range acts {
		if _, both := others[o.Name]; both {
			names = append(names, o.Name)
		}
	}
	return names
}

// apart returns the keys that are in one of two maps alone, sorted.
func apart[T any](was, is map[string]T) (added, removed []string) {
	missing := func(from, in map[string]T) []string {
		keys := slices.Sorted(maps.Keys(from))
		return some(slices.DeleteFunc(keys, func(k string) bool { _, there := in[k]; return there }))
	}
	return missing(is, was), missing(was, is)
}

// changeOf tells in what an act differs from what it was.
func changeOf(was, is spaces.ToolDefinition) ToolChange {
	c := ToolChange{Name: is.Name, Arguments: ArgumentChanges{Added: []string{}, Removed: []string{}, Changed: []string{}}}
	for _, part := range []struct {
		name string
		same bool
	}{
		{"tier", was.Tier == is.Tier},
		{"risk", was.Risk == is.Risk},
		{"about", was.About == is.About},
		{"schema", string(was.Schema) == string(is.Schema)},
	} {
		if !part.same {
			c.What = append(c.What, part.name)
		}
	}
	old, now := argumentsOf(was), argumentsOf(is)
	c.Arguments.Added, c.Arguments.Removed = apart(old, now)
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if before, both := old[name]; both && before != now[name] {
			c.Arguments.Changed = append(c.Arguments.Changed, name)
		}
	}
	return c
}

func argumentsOf(o spaces.ToolDefinition) map[string]spaces.ToolArgument {
	all := map[string]spaces.ToolArgument{}
	for _, a := range o.Arguments() {
		all[a.Name] = a
	}
	return all
}
