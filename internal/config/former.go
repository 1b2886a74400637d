package config

import (
	"fmt"
	"strings"
)

// A renamedKey is a key that an earlier version read (ECOSYSTEM 1, rule 1): it is
// still understood, with a warning, for two minor versions.
type renamedKey struct {
	old string // the path it stood at; * is the name of any entry
	new string // the path it stands at now, with the same *; empty: nobody reads it any more
	// since is the version that warned first, until the last one that understands it.
	since, until string
	fix          string // what to do, where a new path does not say it all
}

// formers are all known-old keys. `config migrate` and the warnings are made
// from this table; a row is taken out after its last version.
var formers = everywhere("max_space_actions", "max_space_acts", "0.2", "0.4")

// everywhere returns the rows of a renamed setting, which may stand at the top
// and in every kind of entry.
func everywhere(old, renamed, since, until string) []renamedKey {
	var rows []renamedKey
	for _, at := range []string{"", "agents.*.", "servers.*.", "spaces.*."} {
		rows = append(rows, renamedKey{old: at + old, new: at + renamed, since: since, until: until})
	}
	return rows
}

// A keyRename is one known-old key that was found in a file.
type keyRename struct {
	row      renamedKey
	old, new string // paths
	at       Origin // of the old key
	both     bool   // the new key is there as well and counts
}

// modernise moves what stands under known-old keys to where it stands now and
// returns what was found, in the order of the table. An old key never wins over
// a new one.
func modernise(root *node, rows []renamedKey) []keyRename {
	var found []keyRename
	for _, row := range rows {
		for _, names := range matches(root, strings.Split(row.old, ".")) {
			r := keyRename{row: row, old: fill(row.old, names), new: fill(row.new, names)}
			var value *node
			if value, r.at = root.remove(slots(row.old, names)); value == nil {
				continue // an alias led to the same mapping before
			}
			if row.new != "" {
				target := slots(row.new, names)
				if r.both = root.at(target) != nil; !r.both {
					root.put(target, value)
				}
			}
			found = append(found, r)
		}
	}
	return found
}

func (r keyRename) warning() Warning {
	f := Error{At: r.at, What: fmt.Sprintf("%s is now %s", r.old, r.new), Remedy: fmt.Sprintf("write it so; the old key is understood up to version %s; see `trestle config migrate`", r.row.until)}
	switch {
	case r.new == "":
		f.What, f.Remedy = r.old+" is not read any more", "remove it; it is let pass up to version "+r.row.until
	case r.both:
		f.What, f.Remedy = fmt.Sprintf("%s is now %s, which is there as well and counts", r.old, r.new), "remove it"
	}
	if r.row.fix != "" {
		f.Remedy = r.row.fix
	}
	return Warning{Entry: r.old, Fault: f}
}

// matches returns, for each place in the tree that a path with stars leads to,
// the names that the stars stand for.
func matches(n *node, path []string) [][]string {
	if n == nil {
		return nil
	}
	if len(path) == 0 {
		return [][]string{nil}
	}
	if path[0] != "*" {
		return matches(n.get(path[0]), path[1:])
	}
	var all [][]string
	for _, e := range n.entries {
		for _, rest := range matches(e.value, path[1:]) {
			all = append(all, append([]string{e.key}, rest...))
		}
	}
	return all
}

// slots splits a path and puts names in the place of its stars.
func slots(path string, names []string) []string {
	parts := strings.Split(path, ".")
	for i, part := range parts {
		if part == "*" {
			parts[i], names = names[0], names[1:]
		}
	}
	return parts
}

func fill(path string, names []string) string {
	if path == "" {
		return ""
	}
	return strings.Join(slots(path, names), ".")
}
