package discord

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// decode reads an object of Discord's. A field of a form that we do not know
// leaves the others readable; only one of the essential ones spoils the whole.
func decode[T any](raw json.RawMessage, into *T, essential ...string) error {
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

// leniently returns what decodes JSON into an object of Discord's as decode does.
func leniently[T any](into *T) json.Unmarshaler { return &lenient[T]{into} }

type lenient[T any] struct{ into *T }

// UnmarshalJSON reads an object; anything else is an error.
func (l *lenient[T]) UnmarshalJSON(raw []byte) error { return decode(raw, l.into) }

// elements are a list of which those elements are read that can be.
type elements[T any] []T

// UnmarshalJSON reads a list; anything else is an error.
func (l *elements[T]) UnmarshalJSON(raw []byte) error {
	var all []json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return err
	}
	*l = elements[T]{} // not nil: the list is there
	for _, one := range all {
		var element T
		if decode(one, &element) == nil {
			*l = append(*l, element)
		}
	}
	return nil
}
