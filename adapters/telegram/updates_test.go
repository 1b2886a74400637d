package telegram

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// us is the bot that the fixtures were written for.
var us = user{ID: 77, IsBot: true, FirstName: "Ada", Username: "ada_bot"}

func testReader() reader { return reader{self: us, markdown: newMarkdown()} }

// goldenUpdate is an update as the golden file shows it.
type goldenUpdate struct {
	adapters.Update
	Body string
	Raw  string `json:",omitempty"`
	Said adapters.UpdateBody
}

// SEQ-06: testdata/updates/in.json holds an update of every kind that a bot can
// get, by name; golden.json what became of it.
func TestEveryKindOfUpdateIsRead(t *testing.T) {
	raw, err := os.ReadFile("testdata/updates/in.json")
	testutil.OK(t, err)
	var in map[string]json.RawMessage
	testutil.OK(t, json.Unmarshal(raw, &in))
	got := map[string][]goldenUpdate{}
	keys := map[string]string{}
	for name, one := range in {
		_, updates := testReader().decode(one, 0)
		if len(updates) == 0 {
			t.Errorf("%s vanished", name)
		}
		for _, u := range updates {
			s := goldenUpdate{Update: u, Body: strings.TrimPrefix(fmt.Sprintf("%T", u.Body), "adapters."), Said: u.Body}
			if len(u.Raw) > 0 {
				s.Raw = "kept"
			}
			got[name] = append(got[name], s)
			if other, taken := keys[u.Key]; taken && !strings.HasPrefix(name, "same fact") && !strings.HasPrefix(other, "same fact") {
				t.Errorf("%s and %s have the same key %s", name, other, u.Key)
			}
			keys[u.Key] = name
		}
	}
	out, err := json.MarshalIndent(got, "", "  ")
	testutil.OK(t, err)
	const golden = "testdata/updates/golden.json"
	if *update {
		testutil.OK(t, os.WriteFile(golden, append(out, '\n'), 0o600))
	}
	want, err := os.ReadFile(golden)
	testutil.OK(t, err)
	testutil.Same(t, "what came", strings.TrimSpace(string(want)), string(out))
}

// one decodes an update that is one fact.
func one(t *testing.T, raw string) adapters.Update {
	t.Helper()
	_, updates := testReader().decode(json.RawMessage(raw), 0)
	if len(updates) != 1 {
		t.Fatalf("%s became %d updates", raw, len(updates))
	}
	return updates[0]
}

// DELIVERY 1.1: the same fact by two roads has one key, another fact another.
func TestKeysNameFactsNotDeliveries(t *testing.T) {
	const group = `"chat":{"id":-1005,"type":"supergroup","title":"G"},"date":1700000000`
	edit := func(id int, text string) string {
		return fmt.Sprintf(`{"update_id":%d,"edited_message":{"message_id":9,%s,"edit_date":1700000050,"text":%q}}`, id, group, text)
	}
	for _, test := range []struct {
		name, a, b string
		same       bool
	}{
		{"redelivered under another update id", says(1, "x"), strings.Replace(says(1, "x"), `"update_id":1,`, `"update_id":900,`, 1), true},
		{"two messages", says(1, "x"), says(2, "x"), false},
		{"a message and its edit", edit(1, "x"), strings.Replace(strings.Replace(edit(2, "x"), "edited_message", "message", 1), `"edit_date":1700000050,`, "", 1), false},
		{"the same edit", edit(1, "x"), edit(2, "x"), true},
		{"two edits in one second", edit(1, "x"), edit(2, "y"), false},
		{
			"a join told twice",
			`{"update_id":1,"message":{"message_id":3,` + group + `,"new_chat_members":[{"id":6,"first_name":"Ann"}]}}`,
			`{"update_id":2,"chat_member":{` + group + `,"from":{"id":6},"old_chat_member":{"user":{"id":6},"status":"left"},"new_chat_member":{"user":{"id":6},"status":"member"}}}`, true,
		},
		{
			"a leave told twice",
			`{"update_id":1,"message":{"message_id":3,` + group + `,"from":{"id":6},"left_chat_member":{"id":6,"first_name":"Ann"}}}`,
			`{"update_id":2,"chat_member":{` + group + `,"from":{"id":6},"old_chat_member":{"user":{"id":6},"status":"member"},"new_chat_member":{"user":{"id":6},"status":"kicked"}}}`, true,
		},
		{
			"a migration told by both chats",
			`{"update_id":1,"message":{"message_id":3,"date":1,"chat":{"id":-5,"type":"group","title":"G"},"migrate_to_chat_id":-1005}}`,
			`{"update_id":2,"message":{"message_id":1,"date":1,"chat":{"id":-1005,"type":"supergroup","title":"G"},"migrate_from_chat_id":-5}}`, true,
		},
		{
			"two reactions in one second",
			`{"update_id":1,"message_reaction":{` + group + `,"message_id":4,"user":{"id":6},"old_reaction":[],"new_reaction":[{"type":"emoji","emoji":"👍"}]}}`,
			`{"update_id":2,"message_reaction":{` + group + `,"message_id":4,"user":{"id":6},"old_reaction":[{"type":"emoji","emoji":"👍"}],"new_reaction":[]}}`, false,
		},
		{"two unknown updates", `{"update_id":1,"new_thing":{}}`, `{"update_id":2,"new_thing":{}}`, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			a, b := one(t, test.a), one(t, test.b)
			if (a.Key == b.Key) != test.same {
				t.Errorf("keys %q and %q", a.Key, b.Key)
			}
			if test.same {
				ignore := cmp.Options{cmpopts.IgnoreFields(adapters.Update{}, "ID"), cmpopts.IgnoreFields(adapters.Person{}, "Name", "Kind")}
				if diff := cmp.Diff(a.Chat.ID, b.Chat.ID, ignore); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// BLU-11: what is meant for us, and what only looks so.
func TestOnlyWhatNamesUsIsToUs(t *testing.T) {
	group := func(text, entities, more string) string {
		return fmt.Sprintf(`{"update_id":1,"message":{"message_id":3,"date":1,"chat":{"id":-1005,"type":"supergroup"},"from":{"id":6},"text":%q,"entities":[%s]%s}}`, text, entities, more)
	}
	for _, test := range []struct {
		name, raw string
		toUs      bool
		command   string
	}{
		{"plain words", group("hello ada", "", ""), false, ""},
		{"our handle", group("hi @Ada_Bot", `{"type":"mention","offset":3,"length":8}`, ""), true, ""},
		{"our handle after emoji", group("😀😀 @ada_bot", `{"type":"mention","offset":5,"length":8}`, ""), true, ""},
		{"a longer handle", group("hi @ada_bot_two", `{"type":"mention","offset":3,"length":12}`, ""), false, ""},
		{"our handle without entity", group("hi @ada_bot", "", ""), false, ""},
		{"our id", group("hi Ada", `{"type":"text_mention","offset":3,"length":3,"user":{"id":77,"first_name":"Ada"}}`, ""), true, ""},
		{"somebody else's id", group("hi Ada", `{"type":"text_mention","offset":3,"length":3,"user":{"id":78,"first_name":"Ada"}}`, ""), false, ""},
		{"reply to us", group("yes", "", `,"reply_to_message":{"message_id":2,"date":1,"chat":{"id":-1005},"from":{"id":77}}`), true, ""},
		{"reply to another", group("yes", "", `,"reply_to_message":{"message_id":2,"date":1,"chat":{"id":-1005},"from":{"id":7}}`), false, ""},
		{
			"in a topic that we opened",
			group("yes", "", `,"is_topic_message":true,"message_thread_id":2,"reply_to_message":{"message_id":2,"date":1,"chat":{"id":-1005},"from":{"id":77},"forum_topic_created":{"name":"T"}}`), false, "",
		},
		{"bare command", group("/stop now", `{"type":"bot_command","offset":0,"length":5}`, ""), false, "stop"},
		{"our command", group("/Stop@Ada_Bot now", `{"type":"bot_command","offset":0,"length":13}`, ""), true, "stop"},
		{"another bot's command", group("/stop@other_bot", `{"type":"bot_command","offset":0,"length":15}`, ""), false, ""},
		{"a command within", group("try /stop", `{"type":"bot_command","offset":4,"length":5}`, ""), false, ""},
		{"an entity beyond the text", group("/s", `{"type":"bot_command","offset":0,"length":500},{"type":"mention","offset":90,"length":9}`, ""), false, "s"},
		{"negative entity", group("/s", `{"type":"mention","offset":-3,"length":9},{"type":"bold","offset":-1,"length":-4}`, ""), false, ""},
		{"private", says(1, "hi"), true, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, ok := one(t, test.raw).Body.(adapters.IncomingMessage)
			if !ok {
				t.Fatal("no message")
			}
			var command string
			if m.Command != nil {
				command = m.Command.Name
			}
			if m.ToUs != test.toUs || command != test.command {
				t.Errorf("to us %t, command %q; want %t, %q", m.ToUs, command, test.toUs, test.command)
			}
		})
	}
}

func TestMarksBecomeCommonMark(t *testing.T) {
	m := newMarkdown()
	for _, test := range []struct {
		text     string
		entities []entity
		want     string
	}{
		{"hello bold world", []entity{{Type: "bold", Offset: 6, Length: 4}}, "hello **bold** world"},
		{"😀 bold", []entity{{Type: "bold", Offset: 3, Length: 4}}, "😀 **bold**"},
		{"bold and\nitalic", []entity{{Type: "bold", Length: 15}, {Type: "italic", Offset: 9, Length: 6}}, "**bold and**\n**_italic_**"},
		{"run:\nf(*p)\nafter", []entity{{Type: "pre", Offset: 5, Length: 5, Language: "go"}}, "run:\n```go\nf(*p)\n```\nafter"},
		{"a `b` c", []entity{{Type: "code", Offset: 2, Length: 3}}, "a `` `b` `` c"},
		{"q one\nq two\nafter", []entity{{Type: "blockquote", Length: 11}}, "> q one\n> q two\n\nafter"},
		{"see https://a.b/_x_ my_var", []entity{{Type: "url", Offset: 4, Length: 15}}, "see <https://a.b/_x_> my_var"},
		{"click here", []entity{{Type: "text_link", Offset: 6, Length: 4, URL: "https://e.x/?a=1"}}, "click [here](https://e.x/?a=1)"},
		{"gone secret", []entity{{Type: "strikethrough", Length: 4}, {Type: "spoiler", Offset: 5, Length: 6}}, "~~gone~~ ||secret||"},
		{"say «x»y", []entity{{Type: "bold", Offset: 4, Length: 3}}, "say «x»y"}, // CommonMark has no bold there
		{"1. a\n- b\n# c\n> d", nil, "1\\. a\n\\- b\n\\# c\n\\> d"},
		{"2 * 3 * 4, snake_case, C:\\dir, a<b, R&D, #tag", nil, "2 * 3 * 4, snake_case, C:\\dir, a\\<b, R&D, #tag"},
	} {
		if got := m.of(test.text, test.entities); got != test.want {
			t.Errorf("%q became\n%s\nwant\n%s", test.text, got, test.want)
		}
	}
}

// SEQ-06: a message that becomes one of a kind we do not read keeps the words it had
// here: that its new ones are unread is told.
func TestAnEditThatCannotBeReadTakesNoWordsAway(t *testing.T) {
	const head = `{"update_id":9,"edited_message":{"message_id":4,"date":8,"edit_date":9,"chat":{"id":-1001,"type":"supergroup"},"from":{"id":5,"first_name":"Kai"}`
	u := one(t, head+`,"rich_message":{"blocks":[{"type":"paragraph","text":"new"}]}}}`)
	if bad, ok := u.Body.(adapters.UnreadableUpdate); !ok || bad.Kind != "rich_message" || u.Raw == nil || u.Chat.ID != "-1001" {
		t.Errorf("got %+v", u)
	}
	if u := one(t, head+`,"text":"new"}}`); u.Body.(adapters.MessageEdit).New.Text != "new" {
		t.Errorf("got %+v", u)
	}
	if u := one(t, head+`}}`); u.Body.(adapters.MessageEdit).New.ID != "4" {
		t.Errorf("got %+v", u)
	}
}

// The General topic of a forum has no id, and its messages are the chat's own: to
// rename it does not rename the chat.
func TestTheNameOfTheGeneralTopicIsNotTheChats(t *testing.T) {
	const head = `{"update_id":9,"message":{"message_id":4,"date":8,"chat":{"id":-1001,"type":"supergroup","title":"Family","is_forum":true},"from":{"id":5},`
	if u := one(t, head+`"forum_topic_edited":{"name":"Lobby"}}}`); u.Raw == nil || u.Thread.ID != "" {
		t.Errorf("got %+v", u)
	} else if bad, ok := u.Body.(adapters.UnreadableUpdate); !ok || bad.Kind != "forum_topic_edited" {
		t.Errorf("it became %+v", u.Body)
	}
	if u := one(t, head+`"message_thread_id":7,"is_topic_message":true,"forum_topic_edited":{"name":"Food"}}}`); u.Thread.ID != "7" || u.Body != (adapters.ChatRenamed{Title: "Food"}) {
		t.Errorf("got %+v", u)
	}
}

// R-All: whatever comes, nothing panics and nothing vanishes.
func FuzzDecode(f *testing.F) {
	raw, err := os.ReadFile("testdata/updates/in.json")
	if err != nil {
		f.Fatal(err)
	}
	var in map[string]json.RawMessage
	if err := json.Unmarshal(raw, &in); err != nil {
		f.Fatal(err)
	}
	for _, one := range in {
		f.Add([]byte(one))
	}
	f.Add([]byte(`"x"`))
	f.Add([]byte(`{"update_id":1,"message":{"message_id":2,"chat":{"id":4},"text":"x","entities":[{"type":"bold","offset":9223372036854775807,"length":1}]}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			return // the answer as a whole would not have parsed
		}
		_, updates := testReader().decode(raw, 5)
		if len(updates) == 0 {
			t.Error("vanished")
		}
		for _, u := range updates {
			if u.Key == "" || u.Body == nil || u.ID == "" {
				t.Errorf("incomplete: %+v", u)
			}
		}
	})
}
