package config

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// SchemaFile is the name under which editors find the schema beside a
// configuration.
const SchemaFile = "trestle.schema.json"

// JSONSchema returns the JSON schema of the file, generated from the tables that the
// file is read with. What occurs in several places is a definition.
func JSONSchema() []byte {
	root, settings := sectionSchema(keyForm{of: topKeys, settings: true}), settingsSchema()
	root.Schema = "http://json-schema.org/draft-07/schema#"
	root.ID = "https://github.com/trestle-bridge/trestle/blob/main/docs/" + SchemaFile
	root.Title = "Trestle configuration (" + DefaultFile + ")"
	root.Definitions = map[string]*schema{
		"reference": {
			Type: "string", Pattern: `\$\{[^}\n]+\}`,
			Description: "a value from elsewhere: ${NAME}, ${NAME:-default}, ${file:PATH} or ${cred:NAME}",
		},
		// YAML reads some texts, such as the id of a chat, as numbers.
		"text": {AnyOf: []*schema{{Type: "string"}, {Type: "number"}, {Type: "boolean"}, {Type: "null"}}},
		"list": {AnyOf: []*schema{{Type: "array", Items: refTo("text")}, {Type: "string"}, {Type: "null"}}},
		"flag": {AnyOf: []*schema{{Type: "boolean"}, {Type: "string", Enum: []string{"yes", "no", "on", "off"}}, refTo("reference")}},
		"tokens": {AnyOf: []*schema{
			{Type: "integer"}, {Type: "string", Pattern: `^([0-9][0-9_]*[kM]?( tokens)?|off)$`}, refTo("reference"),
		}},
		"spending": {AnyOf: []*schema{
			{Type: "string", Pattern: `^([0-9][0-9_]*(\.[0-9]{0,6})?|\.[0-9]{1,6}) *[A-Za-z]{3}$|^[A-Za-z]{3} *([0-9][0-9_]*(\.[0-9]{0,6})?|\.[0-9]{1,6})$`}, refTo("tokens"),
		}},
		"duration": {AnyOf: []*schema{
			{Type: "string", Pattern: `^(0|[0-9]+d|([0-9]+(\.[0-9]+)?(h|m|s|ms|us|ns))+)$`}, {Type: "integer", Minimum: new(0), Maximum: new(0)}, refTo("reference"),
		}},
		"model":    {AnyOf: []*schema{{Type: "string"}, sectionSchema(keyForm{of: modelKeys}), {Type: "null"}}},
		"settings": settings, "setting_names": {Enum: slices.Sorted(maps.Keys(settings.Properties))},
	}
	text, err := json.MarshalIndent(root, "", " ")
	if err != nil {
		panic("config: the schema is no JSON: " + err.Error())
	}
	return append(text, '\n')
}

// A schema is the part of JSON Schema (draft 7) that the file needs.
type schema struct {
	Schema        string             `json:"$schema,omitempty"`
	ID            string             `json:"$id,omitempty"`
	Title         string             `json:"title,omitempty"`
	Description   string             `json:"description,omitempty"`
	Ref           string             `json:"$ref,omitempty"`
	Type          string             `json:"type,omitempty"`
	Enum          []string           `json:"enum,omitempty"`
	Pattern       string             `json:"pattern,omitempty"`
	Minimum       *int               `json:"minimum,omitempty"`
	Above         *int               `json:"exclusiveMinimum,omitempty"`
	Maximum       *int               `json:"maximum,omitempty"`
	Default       string             `json:"default,omitempty"`
	AllOf         []*schema          `json:"allOf,omitempty"`
	AnyOf         []*schema          `json:"anyOf,omitempty"`
	Items         *schema            `json:"items,omitempty"`
	Properties    map[string]*schema `json:"properties,omitempty"`
	PropertyNames *schema            `json:"propertyNames,omitempty"`
	// Additional describes the values of all other keys: a *schema, or false where there are none.
	Additional  any                `json:"additionalProperties,omitempty"`
	Hidden      bool               `json:"doNotSuggest,omitempty"` // editors do not offer the key
	Definitions map[string]*schema `json:"definitions,omitempty"`
}

// refTo returns a reference to a definition. Draft 7 ignores everything beside a
// $ref: what has a description as well holds it in AllOf.
func refTo(definition string) *schema { return &schema{Ref: "#/definitions/" + definition} }

// sectionSchema describes a mapping with the keys of a form.
func sectionSchema(f keyForm) *schema {
	s := &schema{Type: "object", Properties: map[string]*schema{}}
	for _, k := range f.of {
		s.Properties[k.name] = k.schema()
	}
	if f.settings {
		s.AllOf = []*schema{refTo("settings")}
		s.PropertyNames = &schema{AnyOf: []*schema{refTo("setting_names"), {Enum: slices.Sorted(maps.Keys(s.Properties))}}}
	} else {
		s.Additional = false
	}
	return s
}

// settingsSchema describes every setting, in its group and with its dotted name.
func settingsSchema() *schema {
	s := &schema{Properties: map[string]*schema{}}
	for _, k := range settingKeys {
		group, below, grouped := strings.Cut(k.name, ".")
		if !grouped {
			s.Properties[k.name] = k.schema()
			continue
		}
		members := s.Properties[group]
		if members == nil {
			members = &schema{Type: "object", Properties: map[string]*schema{}, Additional: false}
			s.Properties[group] = members
		}
		members.Properties[below] = k.schema()
		s.Properties[k.name] = &schema{AllOf: []*schema{refTo("settings/properties/" + group + "/properties/" + below)}, Hidden: true}
	}
	return s
}

func (k keyRow) schema() *schema {
	s := &schema{}
	switch k.form.kind {
	case aText, aSecret:
		s.AllOf = []*schema{refTo("text")}
	case aNumber:
		s.AnyOf = []*schema{{Type: "integer"}, {Type: "string"}}
	case aWord:
		s.AnyOf = []*schema{{Type: "string", Enum: k.form.words}, refTo("reference"), {Type: "null"}}
	case aFlag:
		s.AllOf = []*schema{refTo("flag")}
	case aList:
		s.AllOf = []*schema{refTo("list")}
	case aSection:
		switch {
		case k.name == "model":
			s.AllOf = []*schema{refTo("model")}
		case k.form.shorter:
			s.AnyOf = []*schema{{Type: "string"}, sectionSchema(k.form), {Type: "null"}}
		default:
			s = sectionSchema(k.form)
		}
	case aMap:
		value := refTo("text")
		if len(k.form.words) > 0 {
			value = &schema{Type: "string", Enum: k.form.words}
		}
		s = &schema{Type: "object", Additional: value}
	case aTree:
		s = &schema{Type: "object", Additional: &schema{Type: "object"}}
	case entries:
		s = &schema{Type: "object", Additional: &schema{AnyOf: []*schema{sectionSchema(k.form), {Type: "null"}}}}
	}
	s.Description = withoutBackticks(k.meaning)
	s.Default = withoutBackticks(k.fallback)
	return s
}

func (k settingKey) schema() *schema {
	s := &schema{}
	switch k.value.kind {
	case oneWord:
		s.AnyOf = []*schema{{Type: "string", Enum: k.value.words}, refTo("reference")}
	case aName:
		s.AllOf = []*schema{refTo("text")}
	case someHosts:
		s.AllOf = []*schema{refTo("list")}
	case wholeNumber:
		s.AnyOf = []*schema{{Type: "integer", Minimum: &k.value.least}, refTo("reference")}
	case someTokens:
		s.AllOf, s.Minimum = []*schema{refTo("tokens")}, &k.value.least
	case spending:
		s.AllOf = []*schema{refTo("spending")}
	case aShare:
		s.AnyOf = []*schema{{Type: "number", Minimum: new(0), Maximum: new(1)}, refTo("reference")}
	case someShare:
		s.AnyOf = []*schema{{Type: "number", Above: new(0), Maximum: new(1)}, refTo("reference")}
	case anAmount:
		s.AnyOf = []*schema{{Type: "number", Minimum: new(0)}, refTo("reference")}
	case yesOrNo:
		s.AllOf = []*schema{refTo("flag")}
	case someTime:
		s.AllOf = []*schema{refTo("duration")}
	}
	s.Description = withoutBackticks(k.description())
	s.Default = k.fallback
	return s
}

// withoutBackticks takes the marks of Markdown out of a text.
func withoutBackticks(text string) string { return strings.ReplaceAll(text, "`", "") }

// SchemaLine is the first line of a file that editors complete.
const SchemaLine = "# yaml-language-server: $schema=./" + SchemaFile
