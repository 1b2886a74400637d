package shell

import (
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/spaces"
)

// PRD-5.6-A3, PRD-5.7-A3, PRD-9-Q: what greets and says nothing else is known for
// that in many languages; what asks for anything is no greeting.
func TestAGreetingIsNothingButAGreeting(t *testing.T) {
	members := crowd("kai", "nova", "ada", "max")
	for text, want := range map[string]bool{
		"good morning":                       true,
		"Good morning!":                      true,
		"Good morning, @Ada 👋":               true,
		"hi Nova Lee and Max":                true,
		"HELLO everyone!!!":                  true,
		"hey @kai_m":                         true,
		"Guten Morgen zusammen":              true,
		"Buenos días a todos 🌞":              true,
		"bom dia":                            true,
		"Доброе утро всем":                   true,
		"おはようございます！":                         true,
		"你好":                                 true,
		"السلام عليكم":                       true,
		"नमस्ते":                             true,
		"as-salamu alaykum":                  true,
		"":                                   false,
		"👋":                                  false,
		"@Ada":                               false,
		"Max":                                false,
		"good morning, any news?":            false,
		"hello, what did we decide":          false,
		"hi 2":                               false,
		"good morning https://example.org/x": false,
		"morning meeting":                    false,
		"say hello to Lee for me":            false,
		"see you tomorrow":                   true, // not "see you" with a word beside
		"hey kai_m":                          true,
		"नमस त":                              false,
		"good-morning":                       false,
		strings.Repeat("hi ", 8):             true,
		strings.Repeat("hi ", 9):             false, // rather a flood
	} {
		if got := greetings.merely(text, members); got != want {
			t.Errorf("%q is merely a greeting: %v, want %v", text, got, want)
		}
	}
}

// PRD-5.6-A3: only who is woken by nothing but greetings has nothing to look up, and is
// told so where it counts: what fires, what ends a wait, a file, a reaction and a
// second message that asks for something are no greetings.
func TestOnlyGreetingsAreGreeted(t *testing.T) {
	hi, ask := spaces.Event{Body: spaces.MessagePosted{Text: "Good morning, @Ada!"}}, spaces.Event{Body: spaces.MessagePosted{Text: "any news?"}}
	for name, c := range map[string]struct {
		wake spaces.Wake
		want bool
	}{
		"a greeting":       {spaces.Wake{Events: []spaces.Event{hi}}, true},
		"two":              {spaces.Wake{Events: []spaces.Event{hi, hi}}, true},
		"nothing said":     {spaces.Wake{}, false},
		"then a question":  {spaces.Wake{Events: []spaces.Event{hi, ask}}, false},
		"a timer":          {spaces.Wake{Events: []spaces.Event{hi}, Timer: &spaces.WakeTimer{}}, false},
		"the end of waits": {spaces.Wake{Events: []spaces.Event{hi}, Waits: []spaces.PendingWait{{}}}, false},
		"with a file":      {spaces.Wake{Events: []spaces.Event{{Body: spaces.MessagePosted{Text: "hi", Attachments: []spaces.FileAttachment{{}}}}}}, false},
		"a reaction":       {spaces.Wake{Events: []spaces.Event{{Body: spaces.ReactionAdded{Emoji: "👋"}}}}, false},
	} {
		for _, plainly := range []bool{true, false} {
			s := &Shell{Options: Options{Settings: func(spaces.AgentID, spaces.SpaceID) AgentSettings { return AgentSettings{} }}}
			y := &cycle{shell: s, mind: &mind{}, wake: &c.wake, cycleConfig: cycleConfig{tools: NewCatalogue(false), settings: AgentSettings{GreetPlainly: plainly}}}
			if got := y.greeted(); got != c.want {
				t.Errorf("%s: greeted %v", name, got)
			}
			if told := y.options() != ""; told != (c.want && plainly) {
				t.Errorf("%s, greeted plainly %v: told %q", name, plainly, y.options())
			}
		}
	}
}

// PRD-5.6-A3: whatever people write, it is read without harm, and words make no
// less of a message.
func FuzzGreeting(f *testing.F) {
	for _, text := range []string{"good morning", "hi @Ada", "\xff\xfe hi", "नमस्ते", "hi\x00there"} {
		f.Add(text)
	}
	members := crowd("kai", "ada")
	f.Fuzz(func(t *testing.T, text string) {
		if greetings.merely(text, members) && greetings.merely(text+" tell zanzibar", members) {
			t.Errorf("%q with a request behind it is merely a greeting", text)
		}
	})
}

// Old lines are not recalled by what has no words of its own.
func TestInterjectionsTellNothing(t *testing.T) {
	members := crowd("kai", "ada")
	for text, want := range map[string]bool{
		"@Ada lol": true, "ok, thanks!": true, "hi Ada": true, "👍": true, "": true, "Yes please, Ada": true,
		"thanks, and the key?": false, "@Ada what is the code": false, "ok 4711": false, "Friday": false,
	} {
		if got := greetings.tellsNothing(text, members); got != want {
			t.Errorf("%q tells nothing: %v, want %v", text, got, want)
		}
	}
}
