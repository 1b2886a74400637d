package shell

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// DELIVERY K22: for every beginning of valid arguments, the words read are a
// beginning of the words that are decided, and so is every sentence of them.
func TestWordsOfAnyBeginningBeginTheWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab. !?\n\"\\/é😀\u2028<&*_`[]~|\t.…"))).Draw(t, "text")
		quoted, _ := json.Marshal(text)
		if rapid.Bool().Draw(t, "escaped") {
			quoted = escaped(text)
		}
		before := rapid.SampledFrom([]string{"", `"reply_to":"#a7",`, `"x":{"text":["no. "]} , `, `"n":1.5e3,"b":true,`}).Draw(t, "before")
		args := "{" + before + ` "text" : ` + string(quoted) + `,"thread":"t"}`
		last := ""
		for i := range len(args) + 1 {
			_, words, ok := begunArgs(args[:i])
			if !ok {
				words = ""
			}
			if !strings.HasPrefix(text, words) || !strings.HasPrefix(words, last) {
				t.Fatalf("of %q we read %q, behind %q, of %q", args[:i], words, last, text)
			}
			if s := sentences(words); !strings.HasPrefix(strings.TrimSpace(text), s) {
				t.Fatalf("sentences of %q are %q", words, s)
			}
			last = words
		}
		if last != text {
			t.Fatalf("in the end we read %q of %q", last, text)
		}
	})
}

// escaped writes every character of a text as an escape of UTF-16.
func escaped(text string) []byte {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		hex := "0123456789ABCDEF"
		put := func(u rune) {
			b.WriteString(`\u`)
			for shift := 12; shift >= 0; shift -= 4 {
				b.WriteByte(hex[u>>shift&15])
			}
		}
		if r > 0xffff {
			put(0xd800 + (r-0x10000)>>10)
			r = 0xdc00 + (r-0x10000)&0x3ff
		}
		put(r)
	}
	b.WriteByte('"')
	return []byte(b.String())
}

// The same for whatever a model may write.
func FuzzBegunArgs(f *testing.F) {
	for _, seed := range []string{`{"text":"one. two"}`, `{"why":[1,{}],"text":"a\u00e9\ud83d\ude00\n"}`, `{"text":"\ud83d\u0041 \ud800"}`, `{"text":7}`, `{`, `{"text":"x","text":"y"}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, args string) {
		_, whole, ok := begunArgs(args)
		if !ok || !json.Valid([]byte(args)) {
			return
		}
		for i := range args {
			if _, words, ok := begunArgs(args[:i]); ok && !strings.HasPrefix(whole, words) {
				t.Errorf("of %q we read %q, of the whole %q", args[:i], words, whole)
			}
		}
	})
}

func TestOnlyWholeSentencesOutsideMarkupAreShown(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "",
		"Half a sent":                       "",
		"One. Two.":                         "One.", // more may follow the mark: 2.5, example.org
		"One. Two. ":                        "One. Two.",
		"One line\nand half":                "One line",
		"See https://example.org/a.b now":   "",
		"Well… \"so.\" he":                  "Well… \"so.\"",
		"One. **Two. three":                 "One.",
		"One. **Two.** three":               "One. **Two.**",
		"One. `a. b":                        "One.",
		"One.\n\n```go\nx := 1\n":           "One.",
		"One.\n\n```go\nx := 1\n```\nTwo":   "One.\n\n```go\nx := 1\n```",
		"* one. \n* two. th":                "* one. \n* two.",
		"Steps:\n1. first\n2. sec":          "Steps:\n1. first",
		"A [link. ":                         "",
		"A *b.\n\nC. ":                      "A *b.\n\nC.",
		"First_name. Then":                  "",
		"Ja。 Nein":                          "Ja。",
		"He said so! (Really?) And went on": "He said so! (Really?)",
	} {
		if got := sentences(text); got != want {
			t.Errorf("sentences(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestTheFirstActOfAnAnswerIsReadAsItComes(t *testing.T) {
	calls := func(all ...string) llm.ModelResponse {
		var r llm.ModelResponse
		for i := 0; i < len(all); i += 2 {
			r.Calls = append(r.Calls, llm.ToolCall{Name: all[i], Args: all[i+1]})
		}
		return r
	}
	for name, c := range map[string]struct {
		soFar llm.ModelResponse
		tags  bool
		act   string
		text  string
	}{
		"nothing":               {},
		"no arguments yet":      {soFar: calls("send_message", "")},
		"words":                 {soFar: calls("send_message", `{"text":"hel`), act: "send_message", text: "hel"},
		"what stands before":    {soFar: calls("send_message", `{"space":"s2","text":"hel`), act: "send_message", text: "hel"},
		"words are none":        {soFar: calls("send_message", `{"text":["hel`)},
		"only the first act":    {soFar: calls("note", `{"label":"x"}`, "send_message", `{"text":"hel`)},
		"a line break as it is": {soFar: calls("send_message", "{\"text\":\"hel\nlo"), act: "send_message", text: "hel\nlo"},
		"text beside the acts":  {soFar: llm.ModelResponse{Text: "hello"}},
		"a tag":                 {llm.ModelResponse{Text: `I think. <msg k="N1" space="s2">Hi &lt; you`}, true, "send_message", "Hi < you"},
		"half a tag":            {soFar: llm.ModelResponse{Text: `<msg k="N1" spa`}, tags: true},
		"no nonce":              {soFar: llm.ModelResponse{Text: `<msg>Hi`}, tags: true},
		"perhaps in code":       {soFar: llm.ModelResponse{Text: "`<msg k=\"N1\">Hi"}, tags: true},
		"quoted":                {soFar: llm.ModelResponse{Text: "> <msg k=\"N1\">Hi"}, tags: true},
	} {
		b, ok := begun(c.soFar, c.tags, "N1")
		if ok != (c.act != "") || ok && (b.name != c.act || b.text != c.text) {
			t.Errorf("%s: begun = %+v, %v; want %s %q", name, b, ok, c.act, c.text)
		}
		if ok && strings.Contains(name, "before") != (b.other["space"] == "s2") && !c.tags {
			t.Errorf("%s: the other members are %v", name, b.other)
		}
	}
}

// DELIVERY 2.8, SECURITY S20: what of an answer may be shown is found as it was, and in
// time that grows with the answer and not with its square: a megabyte took minutes.
func TestWhatMayBeShownIsFoundAtOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50_000 {
		var b strings.Builder
		for range rng.IntN(24) {
			b.WriteString([]string{"`", "```", "~", "~~~", "*", "* ", "**", "_", "|", "[", "]", "\n", "\n\n", "a", "é", ". ", "1. ", "! "}[rng.IntN(18)])
		}
		text := b.String()
		if got, want := sentences(text), slowSentences(text); got != want {
			t.Fatalf("of %q: %q, want %q", text, got, want)
		}
	}
	began := time.Now()
	for _, text := range []string{"`" + strings.Repeat("A word. ", 120_000), "[" + strings.Repeat("A.\n", 300_000), strings.Repeat("a ", 500_000), "*" + strings.Repeat("1. ", 300_000)} {
		sentences(text)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %s", took)
	}
}

// slowSentences is sentences in the words of its rules.
func slowSentences(text string) string {
	ends := func(s string) bool {
		if line := s[strings.LastIndexByte(s, '\n')+1:]; strings.Trim(line, " \t0123456789") == "." {
			return false
		}
		r, _ := utf8.DecodeLastRuneInString(strings.TrimRight(s, "\"'”’»)]*_`~|"))
		return strings.ContainsRune(".!?…。！？", r)
	}
	last := func(text string) int {
		for i := len(text); i > 0; {
			r, size := utf8.DecodeLastRuneInString(text[:i])
			if i -= size; r == '\n' || unicode.IsSpace(r) && ends(text[:i]) {
				return i
			}
		}
		return 0
	}
	for end := len(text); end > 0; {
		if end = last(text[:end]); slowlyClosed(text[:end]) {
			return strings.TrimSpace(text[:end])
		}
		_, size := utf8.DecodeLastRuneInString(text[:end])
		end -= size
	}
	return ""
}

// slowlyClosed reports whether the last paragraph of a text leaves no markup open, taking
// for open what only looks like it.
func slowlyClosed(text string) bool {
	if strings.Count(text, "```")%2 == 1 || strings.Count(text, "~~~")%2 == 1 {
		return false
	}
	paragraph := text[strings.LastIndex(text, "\n\n")+1:]
	for _, mark := range []string{"`", "**", "__", "~~", "||"} {
		if strings.Count(paragraph, mark)%2 == 1 {
			return false
		}
		paragraph = strings.ReplaceAll(paragraph, mark, "")
	}
	return strings.Count(paragraph, "*")%2 == bullets(paragraph)%2 && strings.Count(paragraph, "_")%2 == 0 &&
		strings.Count(paragraph, "[") == strings.Count(paragraph, "]")
}

// bullets counts the lines that an asterisk makes a list of.
func bullets(paragraph string) (n int) {
	for line := range strings.Lines(paragraph) {
		if strings.HasPrefix(strings.TrimLeft(line, " \t"), "* ") {
			n++
		}
	}
	return n
}
