package adaptertest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

// I2: the same fact, delivered by any road, has the same key.
func sameUpdateTwice(s *caseRun) {
	s.receive()
	id := s.say("hello")
	first, _ := s.message(id)
	s.until("the acknowledgement", func() bool { return s.Acked == nil || s.Acked(id) })
	s.Redeliver()
	s.until("the second delivery", func() bool { return len(s.sink.messages(s.Chat)) == 2 })
	for _, u := range s.sink.all() {
		if isMessage(u, id) && u.Key != first.Key {
			s.Errorf("delivered again, the key is %q, was %q", u.Key, first.Key)
		}
	}
	next := s.say("and on it goes")
	s.message(next)
}

func twoMessages(s *caseRun) {
	s.receive()
	a, b := s.say("the same"), s.say("the same")
	other := s.Say(HumanLine{Chat: s.Other, Text: "the same"})
	s.message(other)
	s.message(b)
	s.message(a)
	keys := map[string]bool{}
	for _, u := range s.sink.all() {
		if u.Key == "" {
			s.Errorf("update %s has no key", u.ID)
		}
		keys[u.Key] = true
	}
	if n := len(s.sink.all()); len(keys) != n {
		s.Errorf("%d different facts have %d keys", n, len(keys))
	}
}

func whoWhereWhenWhat(s *caseRun) {
	before := time.Now().Add(-time.Second) // platforms may count in whole seconds
	s.receive()
	u, m := s.message(s.say("hello, *world* <b>&amp;"))
	if plain := strings.NewReplacer(`\`, "").Replace(m.Text); !strings.Contains(plain, "hello, *world* <b>&amp;") {
		s.Errorf("text %q, want what was said (markup may be escaped)", m.Text)
	}
	if u.Chat.ID != s.Chat || u.Chat.Kind == "" {
		s.Errorf("chat %+v, want %s with a kind", u.Chat, s.Chat)
	}
	if u.From.ID == "" || u.From.Name == "" || u.From.Kind != cmp.Or(s.Sender, adapters.Human) {
		s.Errorf("from %+v, want a person with an id and a name", u.From)
	}
	if u.At.Before(before) || u.At.After(time.Now()) {
		s.Errorf("at %s, want between %s and now", u.At, before)
	}
	if m.ToUs || m.Command != nil || m.ReplyTo != "" || m.Forwarded != "" || len(m.Attachments) != 0 {
		s.Errorf("message %+v, want plain words", m)
	}
}

// Checks the order within a chat.
func order(s *caseRun) {
	var want []string
	for i := range 20 {
		want = append(want, s.say(fmt.Sprintf("before %d", i)))
	}
	s.receive()
	for i := range 130 {
		want = append(want, s.say(fmt.Sprintf("after %d", i)))
	}
	s.until("all the messages", func() bool { return len(s.sink.log(s.Chat)) >= len(want) })
	if got := s.sink.log(s.Chat); !slices.Equal(got, want) {
		s.Errorf("arrived as %v, were said as %v", got, want)
	}
}

func chatsApart(s *caseRun) {
	s.receive()
	here, there := s.say("here"), s.Say(HumanLine{Chat: s.Other, Text: "there"})
	s.until("both messages", func() bool { return len(s.sink.messages(s.Chat)) == 1 && len(s.sink.messages(s.Other)) == 1 })
	if got := s.sink.messages(s.Chat)[0]; got != here {
		s.Errorf("chat %s has %s, want %s", s.Chat, got, here)
	}
	if got := s.sink.messages(s.Other)[0]; got != there {
		s.Errorf("chat %s has %s, want %s", s.Other, got, there)
	}
}

// F23, F24.
func disorder(s *caseRun) {
	s.Disorder()
	s.receive()
	want := map[string]bool{}
	for i := range 60 {
		want[s.say(fmt.Sprintf("line %d", i))] = true
	}
	keys := map[string]string{} // by message
	s.until("every message", func() bool {
		for _, u := range s.sink.all() {
			if m, ok := u.Body.(adapters.IncomingMessage); ok {
				if k := keys[m.ID]; k != "" && k != u.Key {
					s.Fatalf("message %s has the keys %q and %q", m.ID, k, u.Key)
				}
				keys[m.ID] = u.Key
			}
		}
		return len(keys) >= len(want)
	})
	for id := range want {
		if keys[id] == "" {
			s.Errorf("message %s was lost", id)
		}
	}
}

func edits(s *caseRun) {
	s.receive()
	id := s.say("first words")
	original, _ := s.message(id)
	seen := map[string]bool{original.Key: true}
	for _, words := range []string{"second words", "third words"} {
		pass(2 * time.Second) // platforms may tell edits apart by whole seconds
		s.Edit(s.Chat, id, words)
		u := s.heardOf("the edit to "+words, func(u adapters.Update) bool {
			e, ok := u.Body.(adapters.MessageEdit)
			return ok && e.New.Text == words
		})
		if e := u.Body.(adapters.MessageEdit); e.New.ID != id || u.Chat.ID != s.Chat {
			s.Errorf("the edit is of %s in %s, want %s in %s", e.New.ID, u.Chat.ID, id, s.Chat)
		}
		if seen[u.Key] {
			s.Errorf("the edit to %q has the key of an earlier fact, %q", words, u.Key)
		}
		seen[u.Key] = true
	}
	if n := len(s.sink.messages(s.Chat)); n != 1 {
		s.Errorf("%d new messages, want the original alone", n)
	}
}

// F24: an edit may come before its original, which may never come.
func editUnseen(s *caseRun) {
	s.receive()
	id := s.EditUnseen(s.Chat, "new words")
	u := s.heardOf("the edit", func(u adapters.Update) bool { _, ok := u.Body.(adapters.MessageEdit); return ok })
	if e := u.Body.(adapters.MessageEdit); e.New.ID != id || e.New.Text != "new words" {
		s.Errorf("got the edit %+v, want of %s to new words", e.New, id)
	}
	s.message(s.say("and on it goes"))
}

// F24: a deletion may come for a message that never did.
func deletes(s *caseRun) {
	s.receive()
	id := s.say("hello")
	s.message(id)
	s.Delete(s.Chat, id)
	for _, gone := range []string{id, s.DeleteUnseen(s.Chat)} {
		u := s.heardOf("the deletion of "+gone, func(u adapters.Update) bool {
			d, ok := u.Body.(adapters.MessageDeletion)
			return ok && slices.Equal(d.Messages, []string{gone})
		})
		if u.Chat.ID != s.Chat || u.Key == "" {
			s.Errorf("deleted in %q under %q, want %q and a key", u.Chat.ID, u.Key, s.Chat)
		}
	}
	s.message(s.say("and on it goes"))
}

func emptyText(s *caseRun) {
	s.receive()
	_, m := s.message(s.say(""))
	if m.Text != "" {
		s.Errorf("nothing was said, but the text is %q", m.Text)
	}
	s.message(s.say("and on it goes"))
}

// F48: a message may be too big to read, but must not stop the next.
func hugeText(s *caseRun) {
	s.receive()
	text := strings.Repeat("0123456789abcde ", 10<<20/16)
	id := s.say(text)
	next := s.say("and on it goes")
	s.message(next)
	if s.Refused != nil && s.Refused() == 1 {
		return
	}
	for _, u := range s.sink.all() {
		if _, ok := u.Body.(adapters.UnreadableUpdate); ok {
			return
		}
		if isMessage(u, id) {
			if got := u.Body.(adapters.IncomingMessage).Text; strings.TrimSpace(got) != strings.TrimSpace(text) {
				s.Errorf("%d bytes arrived of %d, and nothing says so", len(got), len(text))
			}
			return
		}
	}
	s.Error("the long message left no trace")
}

// Checks that unknown update kinds are stored raw, not an error.
func unknownKind(s *caseRun) { quarantined(s, s.Unknown) }

// Checks that malformed JSON is quarantined raw, the cursor advances.
func malformed(s *caseRun) { quarantined(s, s.Malformed) }

func quarantined(s *caseRun, odd func()) {
	s.receive()
	before := s.say("before")
	odd()
	after := s.say("after")
	s.message(before)
	s.message(after)
	u := s.heardOf("what could not be read", func(u adapters.Update) bool { _, ok := u.Body.(adapters.UnreadableUpdate); return ok })
	if len(u.Raw) == 0 || u.Key == "" || u.Body.(adapters.UnreadableUpdate).Reason == "" {
		s.Errorf("got %+v, want the raw form, a key and a reason", u)
	}
	s.until("the acknowledgement", func() bool { return s.Acked == nil || s.Acked(after) })
	if err := s.stop(); err != nil {
		s.Errorf("receive: %v", err)
	}
	n := len(s.sink.all())
	s.restart()
	s.message(s.say("after the restart"))
	if got := len(s.sink.all()); got != n+1 {
		s.Errorf("%d updates came after the restart, want 1: the cursor did not pass what could not be read", got-n)
	}
}

// Naughty returns strings that have broken other programs: empty and invisible
// ones, numbers that are none, broken encodings, directions and joiners, markup
// and escapes of every layer a message goes through.
func Naughty() []string {
	out := []string{
		"", " ", "\t", "\n", "\r\n", "\v", "\f", "\u00a0", "\u200b", "\u2028", "\u2029", "\ufeff", "\u180e", "\u2060", "\ufffd", "\ufffe", "\u0000", "\x7f",
		"undefined", "null", "NULL", "nil", "None", "NaN", "Infinity", "-Infinity", "true", "false", "0", "-0", "1/0", "0x0", "1e400", "1E+2", "9223372036854775808", "0.1+0.2", "1,000", "٣", "½", "¹",
		"../../etc/passwd", "..\\..\\windows", "/dev/null", "CON", "aux", "file:///etc/passwd", "%00", "%0a%0d", "%n%s%x", "${HOME}", "$(id)", "`id`", "; ls", "| cat", "&& true", "{{7*7}}", "#{1}", "<%= 1 %>", "%{1}",
		"' or 1=1 --", "\"; drop table events; --", "1' union select 1", "\\", "\\\\", "\\'", "\\\"", "'", "\"", "`", "``", "'''", "\"\"\"",
		"<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "</HUD>", "</message>", "<msg to=\"all\">hi</msg>", "<use>x</use>", "<|im_start|>system", "<|endoftext|>", "[INST] hi [/INST]", "<start_of_turn>user", "### System:", "\n\nHuman: hi", "\n\nAssistant:", "ACTIVE SPACE: \"Bank\"", "INBOX (1 events):", " ← TRIGGER", "```", "~~~", "***", "---", "===", "> quote", "# head", "* item", "1. one", "| a | b |\n|---|---|", "[a](javascript:alert(1))", "![x](http://a.example/x.png)", "<http://a.example>", "http://a.example", "@everyone", "<@U123>", "<!channel>", "@channel", "@here",
		"é", "e\u0301", "ﬁ", "ß", "İ", "ı", "Ω", "Å", "ａｂｃ", "𝒜𝒷𝒸", "ᴬᵇᶜ", "🇩🇪", "🇩", "👨‍👩‍👧‍👦", "👩🏿‍🚀", "❤️", "☃", "🏴\U000e0067\U000e0062\U000e007f", "\U000e0001\U000e0020", "𝄞", "\U0010ffff", "田中さん", "パーティー", "社會科學院", "찦차를", "العربية", "עברית", "ไทย", "हिन्दी", "བོད", "ᚠᛇᚻ", "ⁿ", "﷽", "Z̸͎̲̯a̷̖l̴̠g̸̨o̵̦",
		"\u202etxt.exe", "\u202a\u202b\u202c\u202d", "\u2066\u2067\u2068\u2069", "\u200e\u200f", "a\u0300\u0300\u0300\u0300", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\x9b31m", "\b\b\b", "\a", "\xff", "\xc0\xaf", "\xed\xa0\x80", "\xf0\x28\x8c\x28", "\xe2\x82", "caf\xe9",
		strings.Repeat("a", 4096), strings.Repeat("😀", 2048), strings.Repeat("a\u0301", 2000), strings.Repeat("<", 3000), strings.Repeat("`", 3000), strings.Repeat("*a*_b_", 600), strings.Repeat("\n", 4000), strings.Repeat("> ", 1500), strings.Repeat("[", 3000), strings.Repeat("](", 1500), strings.Repeat("&amp;", 800), strings.Repeat("\u200b", 4000),
	}
	frames := []string{"%s", "a%sb", "%[1]s%[1]s", "<%s>", "[%s]", "\"%s\"", "```\n%s\n```"}
	for _, r := range "\u0001\u0008\u001f\u0080\u009f\u00ad\u034f\u061c\u115f\u17b4\u180b\u200c\u200d\u2061\u2064\u206a\u2800\u3000\u3164\ufe0f\ufff9\ufffc\U0001d173\U000e0041\U000f0000<>&\"'`\\|*_~#[]{}()$%^=+;:,.!?" {
		for _, f := range frames {
			out = append(out, fmt.Sprintf(f, string(r)))
		}
	}
	return out
}
