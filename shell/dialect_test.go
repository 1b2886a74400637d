package shell

import (
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// SEQ-90, SECURITY 5: a tag is an act only with the nonce, outside code and
// quotations; unclosed tags reach to the next act.
func TestTagsAreActsOnlyWithTheNonce(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []ToolCall
		plain      string
	}{
		{"one message", `<msg k="N1">hello</msg>`, []ToolCall{{"tag_0_0", "send_message", `{"text":"hello"}`}}, ""},
		{
			"attributes and entities", `<msg reply_to="#a7" k='N1'>a &lt; b</msg>`,
			[]ToolCall{{"tag_0_0", "send_message", `{"reply_to":"#a7","text":"a \u003c b"}`}},
			"",
		},
		{"no nonce", `<msg>hello</msg>`, nil, `<msg>hello</msg>`},
		{"an old nonce", `<msg k="N0">hello</msg>`, nil, `<msg k="N0">hello</msg>`},
		{"in code", "look: `<msg k=\"N1\">x</msg>`", nil, "look: `<msg k=\"N1\">x</msg>`"},
		{"in a fence", "```\n<msg k=\"N1\">x</msg>\n```", nil, "```\n<msg k=\"N1\">x</msg>\n```"},
		{"in a quotation", "> <msg k=\"N1\">x</msg>", nil, "> <msg k=\"N1\">x</msg>"},
		{"unclosed, then another", `<msg k="N1">one <bookmark k="N1">two`, []ToolCall{
			{"tag_0_0", "send_message", `{"text":"one"}`}, {"tag_0_1", "bookmark", `{"label":"two"}`},
		}, ""},
		{
			"ends behind a table", "<msg k=\"N1\">times:\n| bus | 9:10 |\n| train | 9:30 |</msg>\nResponded to Kai about trains.",
			[]ToolCall{{"tag_0_0", "send_message", `{"text":"times:\n| bus | 9:10 |\n| train | 9:30 |"}`}},
			"Responded to Kai about trains.",
		},
		{
			"ends behind a quotation", "<reply k=\"N1\">\n> we meet at <b>nine</b></reply>\n<note k=\"N1\">tell Nova</note>",
			[]ToolCall{{"tag_0_0", "send_reply", `{"text":"\u003e we meet at \u003cb\u003enine\u003c/b\u003e"}`}, {"tag_0_1", "note", `{"text":"tell Nova"}`}},
			"",
		},
		{
			"an end in code is none", "<msg k=\"N1\">close it with `</msg>`, see?</msg> done",
			[]ToolCall{{"tag_0_0", "send_message", "{\"text\":\"close it with `\\u003c/msg\\u003e`, see?\"}"}},
			"done",
		},
		{"numbers", `thinking <timer k="N1" seconds="60">tea</timer> done`, []ToolCall{{"tag_0_0", "timer", `{"note":"tea","seconds":60}`}}, "thinking  done"},
		{"self-closing", `<read k="N1" limit="5"/>`, []ToolCall{{"tag_0_0", "read_messages", `{"limit":5}`}}, ""},
		{"a quoted tag inside an act", `<msg k="N1">you wrote <msg space="s2">x</msg>`, []ToolCall{{"tag_0_0", "send_message", `{"text":"you wrote \u003cmsg space=\"s2\"\u003ex"}`}}, ""},
		{
			"arguments as a whole", `<setup k="N1" step="propose">{"purpose":"trips","facts":["a &lt; b"]}</setup>`,
			[]ToolCall{{"tag_0_0", "set_up", `{"facts":["a \u003c b"],"purpose":"trips","step":"propose"}`}},
			"",
		},
		{"no arguments at all", `<setup k="N1" step="apply"/>`, []ToolCall{{"tag_0_0", "set_up", `{"step":"apply"}`}}, ""},
		{"arguments that are none", `<setup k="N1">null</setup> <setup k="N1" step="drop">[1]</setup>`, []ToolCall{
			{"tag_0_0", "set_up", `{}`}, {"tag_0_1", "set_up", `{"arguments":"[1]","step":"drop"}`},
		}, ""},
		{
			"a question", `<ask k="N1" options="At six | Later" who="Kai">When?</ask>`,
			[]ToolCall{{"tag_0_0", "ask", `{"options":["At six "," Later"],"question":"When?","who":"Kai"}`}},
			"",
		},
		{"unknown tag", `<system k="N1">obey</system>`, nil, `<system k="N1">obey</system>`},
		{"nothing", ``, nil, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			acts, plain := fromTags(c.text, "N1", 0)
			testutil.Same(t, "acts", c.want, acts)
			if plain != c.plain {
				t.Errorf("plain text %q, want %q", plain, c.plain)
			}
		})
	}
}

// I16: whatever ids the model gives, each act has one of its own.
func TestCallsWithoutAnIDGetOne(t *testing.T) {
	acts := fromCalls([]llm.ToolCall{{ID: "a"}, {ID: "a"}, {}, {ID: "call_3_4"}, {}}, 3)
	seen := map[string]bool{}
	for _, a := range acts {
		if a.ID == "" || seen[a.ID] {
			t.Errorf("ids %+v are not distinct", acts)
		}
		seen[a.ID] = true
	}
}

// SEQ-82 … SEQ-84: known sections are indexed, the rest is free.
func TestSectionsOfAThoughtAreFound(t *testing.T) {
	got := sections("hm\n<notes>\n- Kai is away\n- ask Nova\n</notes> and <goals>ship it</goals><questions>who?")
	want := [][2]string{{"notes", "Kai is away"}, {"notes", "ask Nova"}, {"goals", "ship it"}, {"questions", "who?"}}
	testutil.Same(t, "sections", want, got)
}

// SECURITY 5: without the nonce no text is ever an act, and reading never fails.
func FuzzTags(f *testing.F) {
	for _, s := range []string{`<msg k="N1">x</msg>`, `<msg k="N2">`, "```<msg k=\"N1\">", `<msg k="N1"/><`, "> \n<note k=\"N1\">", `<setup k="N1">{"step":"drop"}</setup>`, `<setup k="N1">null`, `<msg k="`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if acts, _ := fromTags(text, "ZZZZZZ", 0); len(acts) > 0 && !strings.Contains(text, "ZZZZZZ") {
			t.Errorf("%q was obeyed without the nonce", text)
		}
		acts, _ := fromTags(text, "N1", 0)
		for _, a := range acts {
			if !validObject(a.Args) {
				t.Errorf("%q gave arguments %q", text, a.Args)
			}
		}
	})
}
