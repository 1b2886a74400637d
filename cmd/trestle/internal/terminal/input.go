package terminal

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// The prompts of a message's first line and of those behind a trailing backslash.
const (
	firstPrompt = "you: "
	morePrompt  = "...: "
)

// The line editing holds one line. In it a line break and a tab are these private
// characters, which take one column each and are shown as a sign and as a blank.
const (
	heldBreak = '\uE00A'
	heldTab   = '\uE009'
)

var (
	sentText  = strings.NewReplacer(string(heldBreak), "\n", string(heldTab), "\t")
	shownText = strings.NewReplacer(string(heldBreak), "↵", string(heldTab), " ")
)

// A MessageEditor reads messages that a person types or pastes in a terminal, and
// writes above the line that is being edited. Alt+Enter, a backslash at the end of a line
// and the line ends of a pasted text break the line of a message; Enter ends it. The arrow
// keys recall earlier messages. Write may be called concurrently with ReadMessage.
type MessageEditor struct{ line *term.Terminal }

// NewMessageEditor returns an editor of a terminal in raw mode, 80 columns wide.
func NewMessageEditor(keys io.Reader, screen io.Writer) *MessageEditor {
	line := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{&keyFilter{keys: keys}, screenWriter{screen}}, firstPrompt)
	line.History = new(messageHistory)
	return &MessageEditor{line}
}

// OpenTerminal returns an editor as wide as in's window. The terminal, which is in raw mode,
// is asked to mark what is pasted.
func OpenTerminal(in *os.File, out io.Writer) *MessageEditor {
	e := NewMessageEditor(in, out)
	if width, height, err := term.GetSize(int(in.Fd())); err == nil && width > 0 {
		_ = e.line.SetSize(width, height) // it stays as wide as it was
	}
	e.line.SetBracketedPasteMode(true)
	return e
}

// CloseTerminal restores the state of the terminal, behind the prompt.
func CloseTerminal(e *MessageEditor, in *os.File, was *term.State, out io.Writer) {
	e.line.SetBracketedPasteMode(false)
	_ = term.Restore(int(in.Fd()), was) // the terminal may be gone
	_, _ = io.WriteString(out, "\n")
}

// Write shows text above the line that is being edited.
func (e *MessageEditor) Write(text []byte) (int, error) { return e.line.Write(text) }

// ReadMessage returns the next message; io.EOF when the person leaves with Ctrl-D or Ctrl-C.
func (e *MessageEditor) ReadMessage() (string, error) {
	defer e.line.SetPrompt(firstPrompt)
	var message strings.Builder
	for {
		line, err := e.line.ReadLine()
		text, more := strings.CutSuffix(line, `\`)
		message.WriteString(text)
		if err != nil || !more {
			return sentText.Replace(message.String()), err
		}
		message.WriteRune(heldBreak)
		e.line.SetPrompt(morePrompt)
	}
}

// screenWriter writes what the line editing shows.
type screenWriter struct{ screen io.Writer }

// Write implements io.Writer. A line break and a tab that the line editing holds are shown as a
// sign and as a blank.
func (w screenWriter) Write(text []byte) (int, error) {
	if _, err := shownText.WriteString(w.screen, string(text)); err != nil {
		return 0, err
	}
	return len(text), nil
}

// messageHistory holds the last messages, each as one entry.
type messageHistory struct{ entries []string } // the oldest first

// mostRecalled is how many messages can be recalled.
const mostRecalled = 100

// Add takes in a line: a message, or more of one whose last line ends in a backslash.
func (h *messageHistory) Add(line string) {
	last := len(h.entries) - 1
	if last >= 0 {
		if text, more := strings.CutSuffix(h.entries[last], `\`); more {
			h.entries[last] = text + string(heldBreak) + line
			return
		}
	}
	if line == "" || last >= 0 && h.entries[last] == line {
		return
	}
	h.entries = append(h.entries, line)
	h.entries = slices.Delete(h.entries, 0, max(0, len(h.entries)-mostRecalled))
}

// Len returns how many messages there are.
func (h *messageHistory) Len() int { return len(h.entries) }

// At returns a message; 0 is the newest.
func (h *messageHistory) At(i int) string { return h.entries[len(h.entries)-1-i] }

// The marks around pasted text.
var (
	pasteStart = []byte("\x1b[200~")
	pasteEnd   = []byte("\x1b[201~")
)

const escape = '\x1b'

// keyFilter passes on what a terminal sends in the form that the line editing can take.
// Text is marked as pasted, whether it was or not: behind 4096 characters the line editing
// drops what is typed. In pasted text line ends are held, and control characters are left out.
type keyFilter struct {
	keys   io.Reader
	buf    [4096]byte
	raw    []byte // read, and not yet whole
	out    []byte // to be passed on
	err    error  // that ended keys
	paste  bool   // between the marks of the terminal
	marked bool   // between the marks that were passed on
	cr     bool   // behind a CR: an LF belongs to it
}

// Read implements io.Reader.
func (f *keyFilter) Read(p []byte) (int, error) {
	for len(f.out) == 0 {
		if f.err != nil {
			return 0, f.err
		}
		var n int
		n, f.err = f.keys.Read(f.buf[:])
		f.raw = append(f.raw, f.buf[:n]...)
		for n = 1; n > 0 && len(f.raw) > 0; f.raw = f.raw[n:] {
			n = f.translate()
		}
	}
	n := copy(p, f.out)
	f.out = f.out[n:]
	return n, nil
}

// translate passes on the first key or character of raw and returns its length; 0 as long as it
// is not whole.
func (f *keyFilter) translate() int {
	cr := f.cr
	f.cr = f.raw[0] == '\r'
	switch c := f.raw[0]; {
	case c == escape && f.paste:
		return f.endPaste()
	case c == escape:
		return f.sequence()
	case c == '\n' && cr:
		return 1
	case c < ' ' && !f.paste, c == 0x7F && !f.paste:
		f.key(c)
		return 1
	case !utf8.FullRune(f.raw):
		return 0
	}
	r, n := utf8.DecodeRune(f.raw)
	switch {
	case r == '\r', r == '\n':
		f.text(heldBreak)
	case r == '\t':
		f.text(heldTab)
	case r == utf8.RuneError, r == heldBreak, r == heldTab: // the line editing cannot hold these
		f.text('?')
	case !unicode.IsControl(r):
		f.text(r)
	}
	return n
}

// endPaste takes an escape in pasted text: the mark at its end, or else it is left out.
func (f *keyFilter) endPaste() int {
	switch {
	case bytes.HasPrefix(f.raw, pasteEnd):
		f.paste = false
		return len(pasteEnd)
	case bytes.HasPrefix(pasteEnd, f.raw):
		return 0
	}
	return 1
}

// sequence takes an escape and what belongs to it.
func (f *keyFilter) sequence() int {
	switch {
	case len(f.raw) == 1 || !utf8.FullRune(f.raw[1:]):
		return 0
	case f.raw[1] == escape:
		return 1
	case f.raw[1] == '\r', f.raw[1] == '\n':
		f.text(heldBreak)
		return 2
	case f.raw[1] != '[' && f.raw[1] != 'O': // Alt and a character
		_, n := utf8.DecodeRune(f.raw[1:])
		return 1 + n
	}
	end := bytes.IndexFunc(f.raw[2:], func(r rune) bool { return r < ' ' || r >= '@' })
	if end < 0 {
		return 0
	}
	end += 2
	last := f.raw[end]
	switch {
	case last < ' ' || last > '~':
		return end // it was broken off
	case bytes.Equal(f.raw[:end+1], pasteStart):
		f.paste = true
	case unicode.IsLetter(rune(last)), last == '~': // else the line editing would wait for the end
		f.key(escape, '[') // a terminal may send O as well
		f.key(f.raw[2 : end+1]...)
	}
	return end + 1
}

// text passes on a character.
func (f *keyFilter) text(r rune) {
	if !f.marked {
		f.out = append(f.out, pasteStart...)
	}
	f.marked = true
	f.out = utf8.AppendRune(f.out, r)
}

// key passes on the bytes of a key that is no text.
func (f *keyFilter) key(bytes ...byte) {
	if f.marked {
		f.out = append(f.out, pasteEnd...)
	}
	f.marked = false
	f.out = append(f.out, bytes...)
}
