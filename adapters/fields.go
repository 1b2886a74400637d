package adapters

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// DecodeFields reads a JSON object into a struct. A field of another form than the struct
// has leaves the others readable; only one of the essential ones, named as in the JSON,
// is an error.
func DecodeFields[T any](raw json.RawMessage, into *T, essential ...string) error {
	whole := json.Unmarshal(raw, into)
	if whole == nil {
		return nil
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return whole
	}
	var read T
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		one, err := json.Marshal(map[string]json.RawMessage{name: fields[name]})
		if err != nil {
			return fmt.Errorf("field %s: %w", name, err)
		}
		before := read
		if err := json.Unmarshal(one, &read); err != nil {
			read = before
			if slices.Contains(essential, name) {
				return fmt.Errorf("field %s: %w", name, err)
			}
		}
	}
	*into = read
	return nil
}

// FirstName returns the first of some names that is not blank, without the blanks around
// it; empty if all are.
func FirstName(names ...string) string {
	for _, name := range names {
		if name = strings.TrimSpace(name); name != "" {
			return name
		}
	}
	return ""
}
