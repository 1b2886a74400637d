package terminal

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

// A lockedScreen takes what a read that is left behind still writes.
type lockedScreen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *lockedScreen) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(text)
}

func (s *lockedScreen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// typedAs returns the messages that keys make in a terminal, and what it shows.
func typedAs(t *testing.T, keys io.Reader) (said []string, shown string) {
	t.Helper()
	var screen lockedScreen
	err := ForEachMessage(t.Context(), NewMessageEditor(keys, &screen).ReadMessage, func(text string) error {
		said = append(said, text)
		return nil
	})
	if err != nil {
		t.Errorf("the conversation ends with %v", err)
	}
	return said, screen.String()
}

// The keys of a person at a terminal, and the messages that they make.
var typedMessages = []struct{ name, keys, said string }{
	{"lines", "hello\rthere\n\r", "hello|there"},
	{"a line end of two characters", "one\r\ntwo\r\n", "one|two"},
	{"a paste that ends within a line", "\x1b[200~one\rtwo\x1b[201~ and three\r", "one\ntwo and three"},
	{"a paste with a line end at its end", "\x1b[200~whole\r\x1b[201~\rlast\r", "whole|last"},
	{"a paste behind typed text", "see: \x1b[200~one\r\ntwo\nthree\x1b[201~\r", "see: one\ntwo\nthree"},
	{"two pastes", "\x1b[200~a\nb\x1b[201~, \x1b[200~c\n\nd\x1b[201~\r", "a\nb, c\n\nd"},
	{"controls in a paste", "\x1b[200~a\x1b[31mb\x03\x04\x7f\u009bc\td\x1b[201~\r", "a[31mbc\td"},
	{"Alt+Enter", "one\x1b\rtwo\x1b\nthree\r", "one\ntwo\nthree"},
	{"a trailing backslash", "one\\\rtwo \\\r\rthree\r", "one\ntwo|three"},
	{"a backslash elsewhere", "a\\b\rC:\\ \r", `a\b|C:\`},
	{"a backslash at the end of a paste", "\x1b[200~one\\\x1b[201~\rtwo\r", "one\ntwo"},
	{"recall", "one\x1b\rtwo\rthree\r\x1b[A\x1b[A\r", "one\ntwo|three|one\ntwo"},
	{"recall of a continued line", "one\\\rtwo\r\x1bOA!\r", "one\ntwo|one\ntwo!"},
	{"recall of a paste", "\x1b[200~a\n\tb\x1b[201~\r\x1b[A\r", "a\n\tb|a\n\tb"},
	{"recall goes past what is empty or the same", "one\r\rtwo\rtwo\r\x1b[A\x1b[A\r", "one|two|two|one"},
	{"editing", "hellp\x7fo\x1b[D\x1b[D\x1b[D\x1b[D\x1b[DX\x1b[3~\x05!\x01>\r", ">Xello!"},
	{"editing over a line break", "a\x1b\rb\x7f\x7fc\r", "ac"},
	{"keys without a meaning", "a\x1b[5~b\x1b[1;5Dc\x1b[{d\x1bxe\x1béf\x1b\x1b[200~g\r\x1b[201~h\x1b[1\r", "abcdefg\nh"},
	{"a sequence that ends in no letter", "a\x1b[{\rb\r", "a|b"},
	{"characters that cannot be held", "a\xffb\ufffdc\ue00ad\ue009é\r", "a?b?c?d?é"},
	{"leaving", "one\rtwo\x03three\r", "one"},
	{"leaving by word", "one\r/quit\rtwo\r", "one"},
	{"the end of the line in an unfinished one", "one\rtwo", "one"},
}

func TestTypedAndPastedTextMakesMessages(t *testing.T) {
	for _, c := range typedMessages {
		for way, keys := range map[string]io.Reader{"at once": strings.NewReader(c.keys), "by bytes": iotest.OneByteReader(strings.NewReader(c.keys))} {
			if said, _ := typedAs(t, keys); strings.Join(said, "|") != c.said {
				t.Errorf("%s, %s: said %q, want %q", c.name, way, said, c.said)
			}
		}
	}
}

// A long message is neither cut nor warned about, whether it is typed or pasted.
func TestLongMessagesAreNotCut(t *testing.T) {
	long := strings.Repeat("wörds ", 2000) + "end"
	said, shown := typedAs(t, strings.NewReader(long+"\r\x1b[200~"+long+"\x1b[201~\r"))
	if diff := cmp.Diff([]string{long, long}, said); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if strings.Contains(shown, "[") {
		t.Errorf("something beside the text is shown: %q", shown[strings.Index(shown, "["):])
	}
}

// Line breaks and tabs that are not sent yet are shown in one column each; what is written
// meanwhile is shown above.
func TestUnsentMessageStaysOnOneLine(t *testing.T) {
	_, shown := typedAs(t, strings.NewReader("one\x1b\rtwo\x1b[200~\n\tx\x1b[201~\rmore\\\r!\r"))
	for _, want := range []string{"you: one↵two↵ x\r\n", "you: more\\\r\n...: !\r\nyou: "} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not in %q", want, shown)
		}
	}
	var screen bytes.Buffer
	e := NewMessageEditor(strings.NewReader(""), &screen)
	if n, err := e.Write([]byte("Ada: hi\n")); n != len("Ada: hi\n") || err != nil || screen.String() != "Ada: hi\r\n" {
		t.Errorf("%d bytes written, %v: %q", n, err, &screen)
	}
}

// No more than the last hundred messages are kept.
func TestHistoryIsBounded(t *testing.T) {
	var h messageHistory
	for i := range mostRecalled + 5 {
		h.Add(strings.Repeat("x", i+1))
	}
	if newest, oldest := h.At(0), h.At(h.Len()-1); h.Len() != mostRecalled || len(newest) != mostRecalled+5 || len(oldest) != 6 {
		t.Errorf("%d messages, from %d to %d characters", h.Len(), len(oldest), len(newest))
	}
}

// Whatever bytes come, messages are the same however they are cut into reads, and have no
// control characters but line breaks and tabs.
func FuzzTypedKeys(f *testing.F) {
	for _, c := range typedMessages {
		f.Add(c.keys)
	}
	f.Fuzz(func(t *testing.T, keys string) {
		said, _ := typedAs(t, strings.NewReader(keys))
		bytewise, _ := typedAs(t, iotest.OneByteReader(strings.NewReader(keys)))
		if diff := cmp.Diff(said, bytewise); diff != "" {
			t.Errorf("byte by byte other messages come (-at once +by bytes):\n%s", diff)
		}
		for _, text := range said {
			if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
				t.Errorf("a message has control characters: %q", text)
			}
		}
	})
}
