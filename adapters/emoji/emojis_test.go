package emoji

import "testing"

// Issue 5: an emoji means the same by its name and by itself; a server's own stays
// a name.
func TestNamesAndEmojiAreTheSame(t *testing.T) {
	for _, c := range []struct{ name, emoji, first string }{
		{":thumbsup:", "👍", "+1"},
		{":+1:", "👍", "+1"},
		{":heart:", "❤️", "heart"},
		{":tada:", "🎉", "tada"},
		{":wave::skin-tone-3:", "👋🏼", "wave"},
		{":man-shrugging::skin-tone-3:", "🤷🏼‍♂️", "man-shrugging"},
		{":point_up::skin-tone-2:", "☝🏻", "point_up"},
		{":male-detective::skin-tone-6:", "🕵🏿‍♂️", "male-detective"},
		{":our_own:", ":our_own:", "our_own"},
	} {
		if got := ToUnicode(c.name); got != c.emoji {
			t.Errorf("%s is %q, want %q", c.name, got, c.emoji)
		}
		if got, ok := Name(c.emoji); !ok || got != c.first {
			t.Errorf("%s is called %q %t, want %s", c.emoji, got, ok, c.first)
		}
	}
	for _, same := range []string{"👍", "", ":", "::", "no emoji", ": :"} {
		if got := ToUnicode(same); got != same {
			t.Errorf("%q became %q", same, got)
		}
	}
	if _, ok := Name("no emoji"); ok {
		t.Error("words have the name of an emoji")
	}
	if got, want := In("at 10:30:45 :tada: and :our_own:"), "at 10:30:45 🎉 and :our_own:"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Every name of the list leads to an emoji whose own name leads back to it.
func TestEveryNameLeadsBack(t *testing.T) {
	for name, shown := range names().named {
		first, ok := Name(shown)
		if !ok || StripModifiers(Named(first)) != StripModifiers(shown) {
			t.Errorf("%s is %s, which is called %s", name, shown, first)
		}
	}
}
