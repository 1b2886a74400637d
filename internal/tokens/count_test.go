package tokens

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"
	"pgregory.net/rapid"
)

// samples are texts in which the splitter has something to decide.
var samples = []string{
	"", " ", "\n", "\r\n", "  \n  x", "a  b", "a \t b  ", "\n \n", " \n \t\r\n \v\nz", "\x7f", "\n\n\n  \r\n y", "end   ",
	"Hello, world!", "don't DON'T I'LL we'Re he'ſ she'd' 'tis 've x'", "HTTPServer iPhone McDONALD's ABCdef",
	"12345 1,234.5 ²³¼ Ⅻ٣٤٥٦", "https://example.org/a/b?c=d//\r\n//x", "func main() {\n\tfmt.Println(\"x\")\n}\n",
	"日本語のテキスト。", "Привет, МИР! ёЖ", "ἈΒΓ ǅungla ʰʷ", "e\u0301 \u0301\u0301A A\u0301b \u0301", "👩‍👩‍👧 🇩🇪\ufe0f", "\u00a0\u2003x\u2028y\u0085",
	"नमस्ते दुनिया", "שלום עולם", "مرحبا بالعالم", "{\"text\":\"a\\n\"}", "---\n***\n___", "a\x00b", "\ufffd", "<|endoftext|>",
	strings.Repeat("a", 500), strings.Repeat("xY9", 200), strings.Repeat("ありがとう", 60), strings.Repeat(" ", 300), strings.Repeat("=", 300),
	"antidisestablishmentarianism Donaudampfschifffahrtsgesellschaft",
}

// expression is that of the vocabulary but for the one thing that Go's expressions
// do not have: of white space before a word the last character belongs to the word.
var expression = regexp.MustCompile(`^(?:` + strings.Join([]string{
	`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?`,
	`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?`,
	`\p{N}{1,3}`, ` ?[^` + blank + `\p{L}\p{N}]+[\r\n/]*`, `[` + blank + `]*[\r\n]+`, `([` + blank + `]+)`,
}, "|") + `)`)

const blank = `\s\v\x{85}\p{Z}`

// wantPiece returns the end of the first piece of text as the expression has it.
func wantPiece(text string) int {
	found := expression.FindStringSubmatchIndex(text)
	end := found[1]
	if _, last := utf8.DecodeLastRuneInString(text[:end]); found[2] >= 0 && end < len(text) && last < end {
		end -= last
	}
	return end
}

// folded takes out what the compiled expression of the reference gets wrong: it
// loses U+007F, and parts white space between two ends of lines.
func folded(text string) string {
	return strings.ReplaceAll(endsOfLines.ReplaceAllString(text, "\n"), "\x7f", "")
}

var endsOfLines = regexp.MustCompile(`[` + blank + `]*[\r\n][` + blank + `]*`)

// check compares pieces with the expression, and the count with the reference.
func check(c tokenizer.Codec, text string) error {
	for rest := text; rest != ""; {
		got, want := pieceEnd(rest), wantPiece(rest)
		if got != want {
			return fmt.Errorf("the first piece of %q is %q, want %q", rest, rest[:got], rest[:want])
		}
		rest = rest[got:]
	}
	text = folded(text)
	want, err := c.Count(text)
	if got := Count(text); err != nil || got != want {
		return fmt.Errorf("%q has %d tokens, want %d, %w", text, got, want, err)
	}
	return nil
}

// CONTEXT 2: counts are exact, so a budget is kept to the token.
func TestCountsAreThoseOfTheVocabulary(t *testing.T) {
	c := codec(t)
	for _, text := range samples {
		if err := check(c, text); err != nil {
			t.Error(err)
		}
	}
	word := rapid.OneOf(rapid.SampledFrom(samples), rapid.String(), rapid.StringMatching(`[ \r\n\t/'A-Za-z0-9]{0,12}`), rapid.StringMatching(`[\p{L}\p{M}\p{N}\pZ']{0,12}`))
	rapid.Check(t, func(r *rapid.T) {
		if err := check(c, strings.Join(rapid.SliceOfN(word, 0, 6).Draw(r, "words"), "")); err != nil {
			r.Fatal(err)
		}
	})
}

// A token holds at least one byte, so no text has more tokens than bytes, whatever
// the bytes are.
func FuzzCount(f *testing.F) {
	for _, text := range samples {
		f.Add(text)
	}
	c := codec(f)
	f.Fuzz(func(t *testing.T, text string) {
		if n := Count(text); n > len(text) || n == 0 && text != "" {
			t.Errorf("Count(%q) = %d of %d bytes", text, n, len(text))
		}
		if utf8.ValidString(text) && len(text) < 1000 { // the reference gives up on some long ones
			if err := check(c, text); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestCountingAWordOfTheVocabularyAllocatesNothing(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { Count("The quick brown fox, and what it said.") }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func BenchmarkCount(b *testing.B) {
	text := strings.Join(samples, " ")
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Count(text)
	}
}
