package config

import (
	"encoding/json"
	"fmt"
	"strings"
)

// SchemaFile is the name under which editors find the schema beside a
// configuration.
const SchemaFile = "trestle.schema.json"

// Schema returns the JSON schema of the file, made from the same tables that the
// file is read with.
func Schema() []byte {
	root := sectionSchema(form{of: topKeys, settings: true})
	root.Schema = "http://json-schema.org/draft-07/schema#"
	root.ID = "https://github.com/trestle-bridge/trestle/blob/main/docs/" + SchemaFile
	root.Title = "Trestle configuration (" + File + ")"
	root.Definitions = map[string]*schema{"reference": {
		Type: "string", Pattern: `\$\{[^}\n]+\}`,
		Description: "a value from elsewhere: ${NAME}, ${NAME:-default}, ${file:PATH} or ${cred:NAME}",
	}}
	text, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic("config: the schema is no JSON: " + err.Error())
	}
	return append(text, '\n')
}

// A schema is the part of JSON Schema (draft 7) that the file needs.
type schema struct {
	Schema      string             `json:"$schema,omitempty"`
	ID          string             `json:"$id,omitempty"`
	Title       string             `json:"title,omitempty"`
	Description string             `json:"description,omitempty"`
	Ref         string             `json:"$ref,omitempty"`
	Type        string             `json:"type,omitempty"`
	Enum        []string           `json:"enum,omitempty"`
	Pattern     string             `json:"pattern,omitempty"`
	Minimum     *int               `json:"minimum,omitempty"`
	Maximum     *int               `json:"maximum,omitempty"`
	Default     string             `json:"default,omitempty"`
	AnyOf       []*schema          `json:"anyOf,omitempty"`
	Items       *schema            `json:"items,omitempty"`
	Properties  map[string]*schema `json:"properties,omitempty"`
	// Additional is what other keys hold: a schema, or false for none.
	Additional  json.RawMessage    `json:"additionalProperties,omitempty"`
	Deprecated  string             `json:"deprecationMessage,omitempty"`
	Hidden      bool               `json:"doNotSuggest,omitempty"` // editors do not offer the key
	Definitions map[string]*schema `json:"definitions,omitempty"`
}

var closed = json.RawMessage("false")

// sectionSchema describes a mapping with the keys of a form.
func sectionSchema(f form) *schema {
	s := &schema{Type: "object", Properties: map[string]*schema{}, Additional: closed}
	for _, k := range f.of {
		s.Properties[k.name] = k.schema()
	}
	if f.settings {
		s.addSettings()
	}
	return s
}

// addSettings adds every setting, in its group and with its dotted name.
func (s *schema) addSettings() {
	for _, k := range settingKeys {
		described := k.schema()
		group, below, grouped := strings.Cut(k.name, ".")
		if !grouped {
			s.Properties[k.name] = described
			continue
		}
		if s.Properties[group] == nil {
			s.Properties[group] = &schema{Type: "object", Properties: map[string]*schema{}, Additional: closed}
		}
		s.Properties[group].Properties[below] = described
		dotted := *described
		dotted.Hidden = true
		s.Properties[k.name] = &dotted
	}
	for _, row := range formers {
		if strings.ContainsAny(row.old, "*.") || row.new == "" {
			continue
		}
		s.Properties[row.old] = &schema{Hidden: true, Deprecated: fmt.Sprintf("now %s; understood up to version %s", row.new, row.until)}
	}
}

// reference07 is what may stand in place of any value.
var reference07 = &schema{Ref: "#/definitions/reference"}

func (k key) schema() *schema {
	s := &schema{}
	switch k.form.kind {
	case aText, aSecret:
		s = scalar()
	case aNumber:
		s.AnyOf = []*schema{{Type: "integer"}, reference07, {Type: "string"}}
	case aWord:
		s.AnyOf = []*schema{{Type: "string", Enum: k.form.words}, reference07, {Type: "null"}}
	case aFlag:
		s = boolean()
	case aList:
		s.AnyOf = []*schema{{Type: "array", Items: scalar()}, {Type: "string"}, {Type: "null"}}
	case aSection:
		s = sectionSchema(k.form)
		if k.form.shorter {
			s = &schema{AnyOf: []*schema{{Type: "string"}, s, {Type: "null"}}}
		}
	case entries:
		each, err := json.Marshal(&schema{AnyOf: []*schema{sectionSchema(k.form), {Type: "null"}}})
		if err != nil {
			panic("config: a schema is no JSON: " + err.Error())
		}
		s = &schema{Type: "object", Additional: each}
	}
	s.Description = plain(k.meaning)
	s.Default = plain(k.fallback)
	return s
}

func (k settingKey) schema() *schema {
	s := &schema{}
	switch k.value.kind {
	case oneWord:
		s.AnyOf = []*schema{{Type: "string", Enum: k.value.words}, reference07}
	case aName:
		s = scalar()
	case wholeNumber:
		s.AnyOf = []*schema{{Type: "integer", Minimum: &k.value.least}, reference07}
	case someTokens:
		s.AnyOf = []*schema{{Type: "integer", Minimum: &k.value.least}, {Type: "string", Pattern: `^([0-9][0-9_]*[kM]?( tokens)?|off)$`}, reference07}
	case aShare:
		s.AnyOf = []*schema{{Type: "number", Minimum: new(0), Maximum: new(1)}, reference07}
	case anAmount:
		s.AnyOf = []*schema{{Type: "number", Minimum: new(0)}, reference07}
	case yesOrNo:
		s = boolean()
	case someTime:
		s.AnyOf = []*schema{{Type: "string", Pattern: `^(0|[0-9]+d|([0-9]+(\.[0-9]+)?(h|m|s|ms|us|ns))+)$`}, {Type: "integer", Minimum: new(0), Maximum: new(0)}, reference07}
	}
	s.Description = plain(k.says())
	s.Default = k.fallback
	return s
}

// scalar is a text. YAML reads some texts, such as the id of a chat, as numbers.
func scalar() *schema {
	return &schema{AnyOf: []*schema{{Type: "string"}, {Type: "number"}, {Type: "boolean"}, {Type: "null"}}}
}

func boolean() *schema {
	return &schema{AnyOf: []*schema{{Type: "boolean"}, {Type: "string", Enum: []string{"yes", "no", "on", "off"}}, reference07}}
}

// plain takes the marks of Markdown out of a text.
func plain(text string) string { return strings.ReplaceAll(text, "`", "") }

// SchemaLine is the first line of a file that editors complete.
const SchemaLine = "# yaml-language-server: $schema=./" + SchemaFile
