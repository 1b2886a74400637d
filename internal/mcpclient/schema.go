package mcpclient

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
)

// Bounds of the schema of a tool's arguments.
const (
	maxRawSchema  = 256 << 10 // bytes as the server sends it
	maxSchema     = 32 << 10  // bytes after cleaning
	maxDepth      = 12        // of schemas within each other
	maxNodes      = 2000      // schemas, with those that references repeat
	maxAbout      = 1000      // bytes of one description
	maxPattern    = 500       // bytes of one pattern
	maxValue      = 1000      // bytes of one default, constant or example
	maxEnumValues = 200
)

// propertyName are the names that model endpoints allow for a property.
var propertyName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// errSchemaLarge is returned for a schema over a bound.
var errSchemaLarge = errors.New("the schema of its arguments is too large")

// CleanSchema returns the JSON schema of a tool's arguments, as decoded JSON, in a form
// that model endpoints take: an object without references, which are replaced by what
// they refer to, without keywords that tell a model nothing, with texts free of hidden
// characters, within bounds of size and depth, and as canonical bytes. A part that
// refers to itself accepts anything there. It fails for a schema that is no object or is
// over a bound; the error says so in words.
func CleanSchema(schema any) (json.RawMessage, error) {
	text, err := json.Marshal(schema)
	if err != nil {
		return nil, errors.New("the schema of its arguments is no JSON")
	}
	if len(text) > maxRawSchema {
		return nil, errSchemaLarge
	}
	var root any
	if err := json.Unmarshal(text, &root); err != nil {
		return nil, errors.New("the schema of its arguments is no JSON")
	}
	object, ok := root.(map[string]any)
	if !ok && root != nil {
		return nil, errors.New("the schema of its arguments is no object")
	}
	c := schemaCleaner{root: object}
	clean, err := c.schema(object, 0)
	if err != nil {
		return nil, err
	}
	if kind, given := clean["type"]; given && kind != "object" {
		return nil, errors.New("its arguments are no object")
	}
	clean["type"] = "object"
	if clean["properties"] == nil {
		clean["properties"] = map[string]any{}
	}
	if text, err = json.Marshal(clean); err != nil {
		return nil, fmt.Errorf("mcpclient: %w", err)
	}
	if len(text) > maxSchema {
		return nil, errSchemaLarge
	}
	return text, nil
}

// A schemaCleaner cleans one schema.
type schemaCleaner struct {
	root  map[string]any
	open  []string // references being replaced
	nodes int
}

// Keywords by what their value is. Others are left out: titles, comments, identifiers,
// vendor keywords, and those that endpoints do not know.
var (
	subschemas     = []string{"items", "additionalProperties", "not", "contains", "propertyNames"}
	schemaLists    = []string{"anyOf", "oneOf", "allOf", "prefixItems"}
	schemaMaps     = []string{"properties", "patternProperties"}
	countKeywords  = []string{"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"}
	numberKeywords = []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
	valueKeywords  = []string{"default", "const"}
	schemaTypeName = []string{"string", "number", "integer", "boolean", "object", "array", "null"}
)

// schema returns one schema cleaned.
func (c *schemaCleaner) schema(s map[string]any, depth int) (map[string]any, error) {
	if c.nodes++; depth > maxDepth || c.nodes > maxNodes {
		return nil, errSchemaLarge
	}
	if target, ok := s["$ref"].(string); ok {
		return c.reference(target, s, depth)
	}
	out := map[string]any{}
	c.keepPlain(out, s)
	for _, key := range subschemas {
		clean, keep, err := c.any(s[key], depth)
		if err != nil {
			return nil, err
		}
		if keep {
			out[key] = clean
		}
	}
	for _, key := range schemaLists {
		if err := c.list(out, key, s[key], depth); err != nil {
			return nil, err
		}
	}
	for _, key := range schemaMaps {
		if err := c.members(out, key, s[key], depth); err != nil {
			return nil, err
		}
	}
	return out, c.keepRequired(out, s)
}

// any returns a value that is a schema, or true or false in place of one.
func (c *schemaCleaner) any(v any, depth int) (clean any, keep bool, err error) {
	switch v := v.(type) {
	case bool:
		return v, true, nil
	case map[string]any:
		clean, err = c.schema(v, depth+1)
		return clean, err == nil, err
	default:
		return nil, false, nil
	}
}

func (c *schemaCleaner) list(out map[string]any, key string, v any, depth int) error {
	all, ok := v.([]any)
	if !ok {
		return nil
	}
	var list []any
	for _, one := range all {
		clean, keep, err := c.any(one, depth)
		if err != nil {
			return err
		}
		if keep {
			list = append(list, clean)
		}
	}
	if len(list) > 0 {
		out[key] = list
	}
	return nil
}

func (c *schemaCleaner) members(out map[string]any, key string, v any, depth int) error {
	all, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	members := map[string]any{}
	for name, one := range all {
		if key == "properties" && !propertyName.MatchString(name) {
			continue
		}
		if key == "patternProperties" && !validPattern(name) {
			delete(out, "additionalProperties") // those of the pattern are allowed
			continue
		}
		clean, keep, err := c.any(one, depth)
		if err != nil {
			return err
		}
		if keep {
			members[name] = clean
		}
	}
	out[key] = members
	return nil
}

// reference returns what a reference within the schema refers to, with the keywords
// beside it; a schema that accepts anything for a reference to elsewhere, to nothing or
// to a part that it is in.
func (c *schemaCleaner) reference(target string, s map[string]any, depth int) (map[string]any, error) {
	rest := maps.Clone(s)
	delete(rest, "$ref")
	found := c.find(target)
	if found == nil || slices.Contains(c.open, target) {
		return c.schema(rest, depth)
	}
	c.open = append(c.open, target)
	defer func() { c.open = c.open[:len(c.open)-1] }()
	joined := maps.Clone(found)
	for _, key := range []string{"description", "default"} {
		if rest[key] != nil {
			joined[key] = rest[key]
		}
	}
	return c.schema(joined, depth)
}

// find returns the schema at a JSON pointer in the fragment of target (RFC 6901).
func (c *schemaCleaner) find(target string) map[string]any {
	pointer, ok := strings.CutPrefix(target, "#/")
	if !ok {
		return nil
	}
	at := c.root
	for word := range strings.SplitSeq(pointer, "/") {
		word = strings.NewReplacer("~1", "/", "~0", "~").Replace(word)
		at, ok = at[word].(map[string]any)
		if !ok {
			return nil
		}
	}
	return at
}

// keepPlain copies the keywords that hold no schema.
func (c *schemaCleaner) keepPlain(out, s map[string]any) {
	if kind, ok := cleanType(s["type"]); ok {
		out["type"] = kind
	}
	if text, ok := s["description"].(string); ok {
		if text = cleanText(strings.TrimSpace(text), maxAbout); text != "" {
			out["description"] = text
		}
	}
	if text, ok := s["format"].(string); ok {
		out["format"] = cleanLine(text, 40)
	}
	if text, ok := s["pattern"].(string); ok && validPattern(text) {
		out["pattern"] = text
	}
	for _, key := range countKeywords {
		if n, ok := s[key].(float64); ok && n >= 0 && n <= math.MaxInt32 && n == math.Trunc(n) {
			out[key] = n
		}
	}
	for _, key := range numberKeywords {
		if n, ok := s[key].(float64); ok && (key != "multipleOf" || n > 0) {
			out[key] = n
		}
	}
	if unique, ok := s["uniqueItems"].(bool); ok {
		out["uniqueItems"] = unique
	}
	for _, key := range valueKeywords {
		if v, given := s[key]; given && smallValue(v) {
			out[key] = v
		}
	}
	if values, ok := s["enum"].([]any); ok && len(values) > 0 && len(values) <= maxEnumValues && !slices.ContainsFunc(values, func(v any) bool { return !smallValue(v) }) {
		out["enum"] = values
	}
}

// validPattern reports whether a pattern can be checked here: those of JavaScript that
// look around cannot.
func validPattern(text string) bool {
	if len(text) > maxPattern {
		return false
	}
	_, err := regexp.Compile(text)
	return err == nil
}

// cleanType returns the type of a schema: one name or a list of names.
func cleanType(v any) (any, bool) {
	if list, ok := v.([]any); ok {
		for _, one := range list {
			if _, ok := cleanType(one); !ok {
				return nil, false
			}
		}
		return list, len(list) > 0
	}
	name, ok := v.(string)
	return name, ok && slices.Contains(schemaTypeName, name)
}

// smallValue reports whether a value is short and holds no hidden character.
func smallValue(v any) bool {
	text, err := json.Marshal(v)
	if err != nil || len(text) > maxValue {
		return false
	}
	word, isText := v.(string)
	clean := cleanText(word, maxValue)
	return !isText || clean == word
}

// keepRequired copies the names that are required. One that cannot be named to a model
// makes the tool useless.
func (c *schemaCleaner) keepRequired(out, s map[string]any) error {
	names, ok := s["required"].([]any)
	if !ok {
		return nil
	}
	known, _ := out["properties"].(map[string]any)
	var required []any
	for _, name := range names {
		text, ok := name.(string)
		switch {
		case !ok:
		case !propertyName.MatchString(text):
			return fmt.Errorf("it needs an argument named %q, which model endpoints do not allow", cleanLine(text, maxProductName))
		case known[text] != nil:
			required = append(required, text)
		}
	}
	if len(required) > 0 {
		out["required"] = required
	}
	return nil
}
