package adaptertest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
)

// A FieldChange is three copies of a JSON value that differ in one place: there they hold
// null, nothing, and a value of another type.
type FieldChange struct {
	Path                 string // such as .event.files[0].name
	Null, Missing, Other string
}

// FieldChanges returns a change for each field and element of a JSON value, at all depths.
func FieldChanges(t *testing.T, raw string) []FieldChange {
	t.Helper()
	var all []FieldChange
	var walk func(v any, path string, put func(any) any)
	var root any
	if err := json.Unmarshal([]byte(raw), &root); err != nil {
		t.Fatal(err)
	}
	text := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	walk = func(v any, path string, put func(any) any) {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				in := func(x any) any {
					c := maps.Clone(v)
					c[name] = x
					return put(c)
				}
				without := maps.Clone(v)
				delete(without, name)
				all = append(all, FieldChange{path + "." + name, text(in(nil)), text(put(without)), text(in(otherType(v[name])))})
				walk(v[name], path+"."+name, in)
			}
		case []any:
			for i := range v {
				in := func(x any) any {
					c := slices.Clone(v)
					c[i] = x
					return put(c)
				}
				at := fmt.Sprintf("%s[%d]", path, i)
				all = append(all, FieldChange{at, text(in(nil)), text(put(slices.Delete(slices.Clone(v), i, i+1))), text(in(otherType(v[i])))})
				walk(v[i], at, in)
			}
		}
	}
	walk(root, "", func(x any) any { return x })
	return all
}

// otherType returns a value of another JSON type than v.
func otherType(v any) any {
	switch v.(type) {
	case string, nil:
		return map[string]any{"value": 1}
	case map[string]any, []any:
		return "other"
	}
	return []any{"other"}
}
