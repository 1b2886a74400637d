package discord

import (
	"encoding/json"

	"github.com/trestle-bridge/trestle/adapters"
)

// leniently returns what decodes JSON into an object of Discord's as [adapters.DecodeFields] does.
func leniently[T any](into *T) json.Unmarshaler { return &lenient[T]{into} }

type lenient[T any] struct{ into *T }

// UnmarshalJSON reads an object; anything else is an error.
func (l *lenient[T]) UnmarshalJSON(raw []byte) error { return adapters.DecodeFields(raw, l.into) }

// elements are a list of which those elements are read that can be. A null is no element.
type elements[T any] []T

// UnmarshalJSON reads a list; null leaves it as it is, as if it were missing, and anything
// else is an error.
func (l *elements[T]) UnmarshalJSON(raw []byte) error {
	var all []json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return err
	}
	if all == nil {
		return nil
	}
	*l = elements[T]{} // not nil: the list is there
	for _, one := range all {
		var element T
		if string(one) != "null" && adapters.DecodeFields(one, &element) == nil {
			*l = append(*l, element)
		}
	}
	return nil
}
