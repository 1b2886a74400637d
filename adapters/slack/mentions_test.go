package slack

import (
	"testing"

	"github.com/trestle-bridge/trestle/adapters"
)

// SECURITY 5: whatever signs stand in a name or beside it, who is named is called, in
// every form; code and links stay as they are.
func TestNamesAreFoundAmongSigns(t *testing.T) {
	people := []adapters.Person{
		{ID: "U1", Name: "Kai [EMEA]"}, {ID: "U2", Name: "Tom & Jo"}, {ID: "U3", Name: "_ann_"}, {ID: "U4", Name: "Max", Handle: "max"},
	}
	c := &Client{}
	for text, want := range map[string]string{
		"Hi @Kai [EMEA]!":   "Hi <@U1>!",
		"- Hi @Kai [EMEA]!": "- Hi <@U1>!",
		"Hi @Tom & Jo!":     "Hi <@U2>!",
		"- Hi @Tom & Jo!":   "- Hi <@U2>!",
		`- Hi @\_ann\_!`:    "- Hi <@U3>!",
		"- [draft] @Max, see [doc](https://a.test)":  "- [draft] <@U4>, see [doc](https://a.test)",
		"- 1 < 2, @Max, 3 > 2":                       "- 1 < 2, <@U4>, 3 > 2",
		"- [@Max [x] b](https://a.test) `@Max` @Max": `- [@Max \[x\] b](https://a.test) ` + "`@Max` <@U4>",
		"[@Max](https://a.test) `@Max` @Max":         "<https://a.test|@Max> `@Max` <@U4>",
	} {
		f := formOf(c.Split(text)[0], people)
		if got := f.text + f.markdown; got != want {
			t.Errorf("%q is sent as\n%q, want\n%q", text, got, want)
		}
	}
}
