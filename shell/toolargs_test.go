package shell

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What a model writes is understood when there is one way to understand it.
func TestArgumentsAreUnderstoodAsTheyWereMeant(t *testing.T) {
	catalogue := NewCatalogue(false)
	for name, c := range map[string]struct{ tool, args, want string }{
		"exact":                      {"send_message", `{"text":"a"}`, `{"text":"a"}`},
		"bytes behind":               {"send_message", `{"text":"a"} <junk>`, `{"text":"a"}`},
		"closing tag behind":         {"send_message", `{"text":"a"}</tool_call>`, `{"text":"a"}`},
		"empty object behind":        {"send_message", `{"text":"a"}{}`, `{"text":"a"}`},
		"the same object twice":      {"send_message", `{"text":"a"}{"text":"a"}`, `{"text":"a"}`},
		"words before":               {"send_message", `Here you are: {"text":"a"}`, `{"text":"a"}`},
		"fence":                      {"send_message", "```json\n{\"text\":\"a\"}\n```", `{"text":"a"}`},
		"line ends in a text":        {"send_message", "{\"text\":\"one\ntwo\tthree\"}", `{"text":"one\ntwo\tthree"}`},
		"escapes between tokens":     {"send_message", `{"text": \n"a"\n}`, `{"text":"a"}`},
		"encoded as a string":        {"send_message", `"{\"text\":\"a\"}"`, `{"text":"a"}`},
		"encoded twice":              {"send_message", `"\"{\\\"text\\\":\\\"a\\\"}\""`, `{"text":"a"}`},
		"a text alone":               {"send_message", `"Hello."`, `{"text":"Hello."}`},
		"single quotes":              {"send_message", `{'text': 'it's a', 'wait': False}`, `{"text":"it's a","wait":false}`},
		"names without quotes":       {"send_message", `{text: "a", wait: true}`, `{"text":"a","wait":true}`},
		"comma behind":               {"send_message", `{"text":"a",}`, `{"text":"a"}`},
		"comma missing":              {"send_message", `{"text":"a" "wait":true}`, `{"text":"a","wait":true}`},
		"bracket missing":            {"send_message", `{"text":"a"`, `{"text":"a"}`},
		"comments":                   {"send_message", "{\"text\":\"a\" // why\n}", `{"text":"a"}`},
		"quotes in a text":           {"send_message", `{"text":"say "hi" to me"}`, `{"text":"say \"hi\" to me"}`},
		"escape of Markdown":         {"send_message", `{"text":"a\_b"}`, `{"text":"a\\_b"}`},
		"halves of an emoji":         {"send_message", `{"text":"\ud83c\udf89" }x`, `{"text":"🎉"}`},
		"false as a text":            {"send_message", `{"text":"a","wait":"false"}`, `{"text":"a","wait":false}`},
		"number as a text":           {"sleep", `{"seconds":"30"}`, `{"seconds":30}`},
		"whole number with a point":  {"sleep", `{"seconds":30.0}`, `{"seconds":30}`},
		"text as a number":           {"read_messages", `{"before":12}`, `{"before":"12"}`},
		"null for absent":            {"send_message", `{"text":"a","reply_to":null}`, `{"text":"a"}`},
		"empty argument of no tool":  {"send_message", `{"text":"a","mood":""}`, `{"text":"a"}`},
		"an aside":                   {"send_message", `{"text":"a","thought":"they asked"}`, `{"text":"a"}`},
		"another case":               {"send_message", `{"Text":"a","replyTo":"#1"}`, `{"reply_to":"#1","text":"a"}`},
		"another name":               {"send_message", `{"content":"a","channel":"s2"}`, `{"space":"s2","text":"a"}`},
		"text for fact":              {"remember", `{"text":"Kai likes tea","kind":"user_fact"}`, `{"fact":"Kai likes tea","kind":"user_fact"}`},
		"message of send_message":    {"send_message", `{"message":"a"}`, `{"text":"a"}`},
		"message of react":           {"react", `{"message_id":"#1","emoji":"x"}`, `{"emoji":"x","message":"#1"}`},
		"in arguments":               {"send_message", `{"arguments":{"text":"a"}}`, `{"text":"a"}`},
		"in arguments, as a string":  {"send_message", `{"name":"send_message","arguments":"{\"text\":\"a\"}"}`, `{"text":"a"}`},
		"in the name of the tool":    {"send_message", `{"send_message":{"text":"a"}}`, `{"text":"a"}`},
		"prefix of the name":         {"functions.send_message", `{"text":"a"}`, `{"text":"a"}`},
		"number of the call":         {"functions.send_message:0", `{"text":"a"}`, `{"text":"a"}`},
		"camel case of the name":     {"sendMessage", `{"text":"a"}`, `{"text":"a"}`},
		"a list encoded as a string": {"set_up", `{"step":"propose","facts":"[\"a\"]"}`, `{"facts":["a"],"step":"propose"}`},
		"one thing for a list":       {"set_up", `{"step":"propose","facts":"a"}`, `{"facts":["a"],"step":"propose"}`},
		"another name of a question": {"ask_user", `{"prompt":"When?","choices":["at six","later"]}`, `{"options":["at six","later"],"question":"When?"}`},
		"nothing":                    {"view", ``, ``},
	} {
		a := catalogue.read(ToolCall{Name: c.tool, Args: c.args})
		if c.want == "" {
			if a.wrong == "" {
				t.Errorf("%s: %s was understood as %s", name, c.args, a.Args)
			}
			continue
		}
		if a.wrong != "" || a.deed == nil || a.Args != c.want {
			t.Errorf("%s: %s %s was understood as %s (%s), want %s", name, c.tool, c.args, a.Args, a.wrong, c.want)
		}
		if exact := c.args == c.want && a.Name == c.tool; a.repaired == exact {
			t.Errorf("%s: repaired is %v", name, a.repaired)
		}
	}
}

// What can be understood in several ways is refused, with what is wrong.
func TestArgumentsThatAreAmbiguousAreRefused(t *testing.T) {
	catalogue := NewCatalogue(false)
	for args, want := range map[string]string{
		`{"text":"a"}{"text":"b"}`:                 "two different objects",
		`{"text":"a","content":"b"}`:               "content",
		`{"text":"a","audience":"the kitchen"}`:    `no argument "audience"`,
		`{"text":"half a te`:                       "no JSON object",
		`send it`:                                  "no JSON object",
		`{"text":"a","wait":"perhaps"}`:            `"wait" must be true or false`,
		`{"text":{"a":1}}`:                         `"text" must be a text`,
		strings.Repeat(`{"text":[`, 200):           "no JSON object",
		`{"room":"s1","channel":"s2","text":"hi"}`: "both mean",
	} {
		if a := catalogue.read(ToolCall{Name: "send_message", Args: args}); !strings.Contains(a.wrong, want) || a.deed != nil {
			t.Errorf("%s: %q, want it refused with %q", args, a.wrong, want)
		}
	}
}

// JSON is read as encoding/json reads it, also by the reader that takes more.
func TestTheLooseReaderReadsJSON(t *testing.T) {
	text := rapid.StringOf(rapid.SampledFrom([]rune("ab\"'\\\n\t{}[]:,é😀/*`“”")))
	rapid.Check(t, func(t *rapid.T) {
		want := map[string]any{}
		for range rapid.IntRange(0, 4).Draw(t, "members") {
			name := text.Draw(t, "name") + "n"
			switch rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				want[name] = text.Draw(t, "text")
			case 1:
				want[name] = []any{text.Draw(t, "item"), true, nil}
			case 2:
				want[name] = map[string]any{"in": text.Draw(t, "inner")}
			case 3:
				want[name] = json.Number("-12.5")
			default:
				want[name] = false
			}
		}
		data, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := looseObject(string(data), 1)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s was read as %v, %v", data, got, err)
		}
	})
}

func FuzzReadArguments(f *testing.F) {
	for _, seed := range []string{`{"text":"a"}`, "```json\n{\"text\":\"a\nb\"}```", `"{\"a\":1}"`, `{'a': True, "b": [1, 'x',],}`, `{"a":"\ud83d`, `{a:{b:{c:`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		args, exact, err := readArguments(text)
		if err != nil {
			return
		}
		data, err := marshalPlain(args)
		if err != nil {
			t.Fatalf("%q was read as %v, which is no JSON: %v", text, args, err)
		}
		again, same, err := readArguments(data)
		if err != nil || !same || !exact && !equalJSON(again, args) {
			t.Errorf("%q was read as %s, and that as %v, %v", text, data, again, err)
		}
	})
}
