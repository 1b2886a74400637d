package modelhttp

import (
	"encoding/json"
	"maps"

	"github.com/trestle-bridge/trestle/internal/textformat"
)

// MostDescription is the length in bytes of the longest description in the plain form.
const MostDescription = 1000

// PlainSchema returns a schema of arguments in the subset of JSON schema that all
// endpoints accept: one type, no alternatives, no additionalProperties. It returns nil
// for arguments without properties.
func PlainSchema(schema json.RawMessage) json.RawMessage {
	var s map[string]any
	if json.Unmarshal(schema, &s) != nil {
		return schema
	}
	plain := plainValue(s)
	if plain["properties"] == nil {
		return nil
	}
	text, err := json.Marshal(plain)
	if err != nil {
		return schema
	}
	return text
}

// plainValue returns one schema in the plain form.
func plainValue(s map[string]any) map[string]any {
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		if one := firstAlternative(s[key]); one != nil {
			s = withDescription(one, s["description"])
		}
	}
	plain := map[string]any{"type": plainType(s)}
	if text, ok := s["description"].(string); ok {
		plain["description"] = textformat.ClipBytes(text, MostDescription)
	}
	switch plain["type"] {
	case "object":
		plainProperties(plain, s)
	case "array":
		items, ok := s["items"].(map[string]any)
		if !ok {
			items = map[string]any{"type": "string"}
		}
		plain["items"] = plainValue(items)
	case "string":
		if words := textsOf(s["enum"]); words != nil {
			plain["enum"] = words
		} else if word, ok := s["const"].(string); ok {
			plain["enum"] = []string{word}
		}
	}
	return plain
}

// plainProperties adds the properties of s, and those of them that are required.
func plainProperties(plain, s map[string]any) {
	properties, ok := s["properties"].(map[string]any)
	if !ok || len(properties) == 0 {
		return
	}
	all := make(map[string]any, len(properties))
	for name, v := range properties {
		one, ok := v.(map[string]any)
		if !ok {
			one = map[string]any{"type": "string"}
		}
		all[name] = plainValue(one)
	}
	plain["properties"] = all
	var required []string
	for _, name := range textsOf(s["required"]) {
		if all[name] != nil {
			required = append(required, name)
		}
	}
	if len(required) > 0 {
		plain["required"] = required
	}
}

// plainType returns the one type of a schema: of several the first that is not null.
func plainType(s map[string]any) string {
	if t, ok := s["type"].(string); ok {
		return t
	}
	for _, t := range textsOf(s["type"]) {
		if t != "null" {
			return t
		}
	}
	if s["properties"] != nil {
		return "object"
	}
	return "string"
}

// firstAlternative returns the first of several schemas that is not null; nil without
// one.
func firstAlternative(list any) map[string]any {
	all, ok := list.([]any)
	if !ok {
		return nil
	}
	for _, v := range all {
		if one, ok := v.(map[string]any); ok && one["type"] != "null" {
			return one
		}
	}
	return nil
}

func withDescription(s map[string]any, text any) map[string]any {
	if s["description"] != nil || text == nil {
		return s
	}
	out := map[string]any{"description": text}
	maps.Copy(out, s)
	return out
}

// textsOf returns a list whose elements are all texts; nil for any other value.
func textsOf(list any) []string {
	all, ok := list.([]any)
	if !ok {
		return nil
	}
	var texts []string
	for _, v := range all {
		text, ok := v.(string)
		if !ok {
			return nil
		}
		texts = append(texts, text)
	}
	return texts
}
