package shell

import "testing"

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
		"hi hi hi hi hi hi hi hi hi hi":      false, // rather a flood
	} {
		if got := greetings.merely(text, members); got != want {
			t.Errorf("%q is merely a greeting: %v, want %v", text, got, want)
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
