package shell

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// misfit says in a plain sentence what is wrong with arguments that do not fit
// the schema of an act (PRD-5.6-3).
func misfit(s *jsonschema.Schema, args map[string]any) string {
	names := slices.Sorted(maps.Keys(s.Properties))
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if s.Properties[name] == nil {
			return fmt.Sprintf("There is no argument %q; there are %s.", name, strings.Join(names, ", "))
		}
	}
	for _, name := range s.Required {
		if _, given := args[name]; !given {
			return fmt.Sprintf("The argument %q is missing.", name)
		}
	}
	for _, name := range names {
		value, given := args[name]
		if !given {
			continue
		}
		if want := s.Properties[name].Type; want != "" && want != jsonKind(value, want) {
			return fmt.Sprintf("The argument %q must be %s, and it is %s.", name, kinds[want], kinds[jsonKind(value, want)])
		}
	}
	return "The arguments are not what this act takes."
}

// kinds are the types of JSON in words.
var kinds = map[string]string{
	"string": "a text", "integer": "a whole number", "number": "a number", "boolean": "true or false",
	"array": "a list", "object": "an object", "null": "nothing",
}

// jsonKind returns the JSON type of a decoded value; a number is what was wanted if
// it can be that.
func jsonKind(value any, want string) string {
	switch v := value.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case json.Number:
		f, err := v.Float64()
		if err != nil {
			return "number"
		}
		return jsonKind(f, want)
	case float64:
		if want == "integer" && v == float64(int64(v)) {
			return want
		}
		return "number"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "null"
}
