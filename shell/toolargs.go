package shell

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// argumentNames are other names that models give to arguments, for tools that do not
// have an argument of the other name. Names are compared by [plainName].
var argumentNames = map[string][]string{
	"text":     {"content", "message", "body", "msg", "answer", "response", "reply", "markdown", "words", "fact", "note", "value", "input"},
	"fact":     {"text", "memory", "content", "note", "information"},
	"note":     {"text", "content", "message", "reminder", "what", "task"},
	"content":  {"text", "body", "data"},
	"query":    {"q", "text", "search", "keywords", "words", "term", "terms", "searchquery"},
	"space":    {"spaceid", "spacename", "room", "roomid", "roomname", "channel", "channelid", "channelname", "chat", "chatid"},
	"reply_to": {"replytoid", "replytomessage", "replytomessageid", "inreplyto", "replyid", "messageid"},
	"message":  {"messageid", "msgid", "msg", "id", "replyto"},
	"emoji":    {"reaction", "emote", "icon"},
	"id":       {"memory", "memoryid", "timerid", "planid"},
	"seconds":  {"duration", "secs", "delay", "delayseconds", "durationseconds"},
	"kind":     {"type", "category"},
	"object":   {"what", "name", "objectname"},
	"what":     {"view", "object", "kind"},
	"before":   {"beforeid", "beforemessage", "beforemessageid"},
	"limit":    {"count", "n", "max", "maxresults", "number"},
	"status":   {"state"},
	"label":    {"name", "title", "text"},
	"name":     {"filename"},
	"file":     {"filename"},
	"reason":   {"why", "text"},
	"why":      {"reason"},
	"question": {"text", "message", "prompt", "content"},
	"options":  {"choices", "answers", "buttons"},
	"who":      {"person", "user", "to", "name"},
}

// asides are arguments in which models explain a call to themselves.
var asides = []string{"thought", "thoughts", "thinking", "reasoning", "reason", "explanation", "rationale", "comment", "description", "intent"}

// wrappers are names under which models put all arguments once more.
var wrappers = []string{"arguments", "parameters", "args", "params", "kwargs", "input", "properties"}

// plainName returns a name without case and separators, so that replyTo, reply-to and
// reply_to are the same.
func plainName(name string) string {
	return strings.Map(func(c rune) rune {
		if c == '_' || c == '-' || c == ' ' || c == '.' {
			return -1
		}
		return c
	}, strings.ToLower(name))
}

// An argumentFit matches arguments with a schema, and notes whether it changed them.
type argumentFit struct{ changed bool }

// understand returns the arguments of a call as the tool takes them, as JSON. repaired
// reports that the model wrote them differently; wrong says in a sentence for the model
// why they cannot be understood in one way.
func (s *toolSpec) understand(text string) (args string, repaired bool, wrong string) {
	object, exact, err := readArguments(text)
	if primary, ok := s.primary(text); err != nil && ok {
		object, err = primary, nil
	}
	switch {
	case errors.Is(err, errTwoObjects):
		return "", false, "The arguments are two different objects: make one call for each."
	case err != nil:
		return "", false, "The arguments could not be read: they are no JSON object."
	}
	schema := s.check.Schema()
	var fit argumentFit
	for range 3 {
		inner, found := s.unwrap(schema, object)
		if !found {
			break
		}
		object, fit.changed = inner, true
	}
	fitted, wrong := fit.object(schema, object)
	if wrong != "" {
		return "", false, wrong
	}
	for name, all := range s.values {
		given, _ := fitted[name].(string)
		i := slices.IndexFunc(all, func(v string) bool { return plainName(v) == plainName(given) })
		if i >= 0 && all[i] != given {
			fitted[name], fit.changed = all[i], true
		}
	}
	data, err := marshalPlain(fitted)
	if err != nil {
		return "", false, "The arguments could not be read: they are no JSON object."
	}
	if exact && !fit.changed {
		data = strings.TrimSpace(text)
	}
	return data, !exact || fit.changed, ""
}

// primary returns the arguments of a call whose arguments are a JSON text in place of
// an object: the one that a tag of the tool would have as its content.
func (s *toolSpec) primary(text string) (map[string]any, bool) {
	var words string
	if json.Unmarshal([]byte(strings.TrimSpace(text)), &words) != nil || strings.Contains(words, "{") {
		return nil, false
	}
	for _, t := range tagActs {
		if t.act == s.name && t.content != wholeBody {
			return map[string]any{t.content: words}, true
		}
	}
	return nil, false
}

// unwrap returns the arguments that stand inside a member of their own: {"arguments":
// {…}}, {"name": "send_message", "arguments": {…}} or {"send_message": {…}}.
func (s *toolSpec) unwrap(schema *jsonschema.Schema, args map[string]any) (inner map[string]any, found bool) {
	for name, v := range args {
		plain := plainName(name)
		switch {
		case schema.Properties[name] != nil:
			return args, false
		case plain == plainName(s.name), slices.Contains(wrappers, plain):
			if m, ok := asObject(v); ok {
				inner, found = m, true
			}
		case plain != "name" && plain != "tool" && plain != "function" && plain != "type":
			return args, false
		}
	}
	if !found {
		return args, false
	}
	return inner, true
}

// asObject returns a value that is an object, or a text that holds one.
func asObject(v any) (map[string]any, bool) {
	switch v := v.(type) {
	case map[string]any:
		return v, true
	case string:
		if strings.HasPrefix(strings.TrimSpace(v), "{") {
			m, _, err := readArguments(v)
			return m, err == nil
		}
	}
	return nil, false
}

// object matches the members of an object with the properties of its schema.
func (f *argumentFit) object(s *jsonschema.Schema, args map[string]any) (map[string]any, string) {
	if s.Properties == nil {
		return args, ""
	}
	out, from := map[string]any{}, map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		v := args[name]
		to := propertyOf(s, args, name)
		if v == nil || to == "" && (isNothing(v) || slices.Contains(asides, plainName(name))) {
			f.changed = true
			continue
		}
		if to == "" {
			return nil, misfit(s, args)
		}
		value, ok := f.value(s.Properties[to], v)
		if !ok {
			return nil, misfit(s, map[string]any{to: v})
		}
		if other, given := from[to]; given && !equalJSON(out[to], value) {
			return nil, "The arguments " + strconv.Quote(other) + " and " + strconv.Quote(name) + " both mean " + strconv.Quote(to) + ", and differ."
		}
		f.changed = f.changed || to != name
		if isEmptyText(value) && !slices.Contains(s.Required, to) && to != name {
			continue
		}
		out[to], from[to] = value, name
	}
	for _, name := range s.Required {
		if _, given := out[name]; !given {
			return nil, misfit(s, out)
		}
	}
	return out, ""
}

func isNothing(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v) == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return v == nil
}

func isEmptyText(v any) bool { s, ok := v.(string); return ok && strings.TrimSpace(s) == "" }

// propertyOf returns the property that a name means, "" if there is none.
func propertyOf(s *jsonschema.Schema, args map[string]any, name string) string {
	if s.Properties[name] != nil {
		return name
	}
	plain := plainName(name)
	for property := range s.Properties {
		if plainName(property) == plain {
			return property
		}
	}
	var found []string
	for property := range s.Properties {
		if _, given := args[property]; !given && slices.Contains(argumentNames[property], plain) {
			found = append(found, property)
		}
	}
	if len(found) == 1 {
		return found[0]
	}
	for _, required := range s.Required { // of several, the one that must be given
		if slices.Contains(found, required) {
			return required
		}
	}
	return ""
}

// value returns a value as its schema wants it, and false if it cannot be that.
func (f *argumentFit) value(s *jsonschema.Schema, v any) (any, bool) {
	var out any
	var ok bool
	switch s.Type {
	case "string":
		out, ok = asText(v)
	case "integer", "number":
		out, ok = asNumber(v, s.Type == "integer")
	case "boolean":
		out, ok = asBool(v)
	case "array":
		return f.list(s, v)
	case "object":
		m, isObject := asObject(v)
		if !isObject {
			return nil, false
		}
		if _, whole := v.(map[string]any); !whole {
			f.changed = true
		}
		fitted, wrong := f.object(s, m)
		return fitted, wrong == ""
	default:
		return v, true
	}
	if !ok {
		return nil, false
	}
	f.changed = f.changed || !equalJSON(out, v)
	return out, true
}

// list returns a value as a list; one that is none is a list of itself.
func (f *argumentFit) list(s *jsonschema.Schema, v any) (any, bool) {
	all, ok := v.([]any)
	if text, isText := v.(string); isText && strings.HasPrefix(strings.TrimSpace(text), "[") {
		r := looseReader{text: text}
		if parsed, err := r.value(0); err == nil && !r.open {
			all, ok = parsed.([]any)
			f.changed = true
		}
	}
	if !ok {
		all, f.changed = []any{v}, true
	}
	if s.Items == nil {
		return all, true
	}
	out := make([]any, len(all))
	for i := range all {
		if out[i], ok = f.value(s.Items, all[i]); !ok {
			return nil, false
		}
	}
	return out, true
}

func asText(v any) (any, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	case []any:
		if len(v) == 1 {
			return asText(v[0])
		}
	}
	return nil, false
}

func asNumber(v any, whole bool) (any, bool) {
	var text string
	switch v := v.(type) {
	case json.Number:
		text = v.String()
	case string:
		text = strings.TrimSpace(v)
	default:
		return nil, false
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || whole && n != float64(int64(n)) {
		return nil, false
	}
	if whole {
		return json.Number(strconv.FormatInt(int64(n), 10)), true
	}
	return json.Number(strconv.FormatFloat(n, 'g', -1, 64)), true
}

func asBool(v any) (any, bool) {
	text := ""
	switch v := v.(type) {
	case bool:
		return v, true
	case json.Number:
		text = v.String()
	case string:
		text = strings.ToLower(strings.TrimSpace(v))
	}
	switch text {
	case "true", "yes", "1":
		return true, true
	case "false", "no", "0", "":
		return false, v != nil
	}
	return nil, false
}

func equalJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// marshalPlain returns JSON with the characters of a text as they are.
func marshalPlain(v any) (string, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return strings.TrimSpace(out.String()), err
}
