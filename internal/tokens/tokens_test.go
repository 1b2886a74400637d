package tokens

import (
	"bytes"
	"encoding/binary"
	"flag"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
	"github.com/tiktoken-go/tokenizer/codec"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the vocabulary anew")

// theirs is the library that has the vocabulary.
var theirs = sync.OnceValue(codec.NewO200kBase)

// made returns the vocabulary as it is to be, made of the library's.
func made(t *testing.T) []byte {
	t.Helper()
	var lengths, starts, all []byte
	slots := make([]uint32, slotCount)
	for r := range uint32(tokenCount) {
		token, err := theirs().Decode([]uint{uint(r)})
		if err != nil {
			t.Fatal(err)
		}
		if r%stride == 0 {
			starts = binary.LittleEndian.AppendUint32(starts, uint32(len(all)))
		}
		lengths, all = append(lengths, byte(len(token))), append(all, token...)
		h := hash(token)
		at := h % slotCount
		for slots[at] != 0 {
			at = (at + 1) % slotCount
		}
		slots[at] = h&^rankMask | (r + 1)
	}
	var b bytes.Buffer
	b.Write(lengths)
	if err := binary.Write(&b, binary.LittleEndian, slots); err != nil {
		t.Fatal(err)
	}
	b.Write(starts)
	b.Write(all)
	return b.Bytes()
}

// CON-18: the vocabulary is that of the library, token by token.
func TestVocabularyIsO200k(t *testing.T) {
	want := made(t)
	if *update {
		if err := os.WriteFile("o200k.bin", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if vocabulary != string(want) {
		t.Fatal("o200k.bin is not what is made of the library's vocabulary; run the test with -update")
	}
	for r := range uint32(tokenCount) {
		token := text(r)
		if got, ok := rank(token); !ok || got != r {
			t.Fatalf("token %d, %q, has rank %d, %t", r, token, got, ok)
		}
	}
	if _, err := theirs().Decode([]uint{tokenCount}); err == nil {
		t.Errorf("the library has a token %d", tokenCount)
	}
}

// pieces finds what tokens do not cross. The library's own form of it, generated
// code, goes wrong about space and loses a character; as a group it is interpreted.
var pieces = regexp2.MustCompile(`(?:`+
	`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|`+
	`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|`+
	`\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)`, regexp2.None)

// ranks is the library's vocabulary.
var ranks = sync.OnceValue(func() map[string]int {
	all := map[string]int{}
	for r := range tokenCount {
		token, err := theirs().Decode([]uint{uint(r)})
		if err != nil {
			panic(err)
		}
		all[token] = r
	}
	return all
})

// merged counts the tokens of a piece by the rule itself: of all neighbours that
// are a token together, the first with the lowest rank are merged, over and over.
func merged(piece string) int {
	if _, ok := ranks()[piece]; ok {
		return 1
	}
	var parts []string
	for i := range len(piece) {
		parts = append(parts, piece[i:i+1])
	}
	for {
		best, lowest := -1, tokenCount
		for i := range len(parts) - 1 {
			if r, ok := ranks()[parts[i]+parts[i+1]]; ok && r < lowest {
				best, lowest = i, r
			}
		}
		if best < 0 {
			return len(parts)
		}
		parts[best] += parts[best+1]
		parts = slices.Delete(parts, best+1, best+2)
	}
}

// equal compares a count with that of the expression and the rule.
func equal(t interface {
	Helper()
	Errorf(string, ...any)
}, text string,
) {
	t.Helper()
	want, left := 0, text
	m, err := pieces.FindStringMatch(text)
	for ; m != nil; m, err = pieces.FindNextMatch(m) {
		if got := left[:piece(left)]; got != m.String() {
			t.Errorf("got the piece %q, want %q, in %q", got, m.String(), text)
			return
		}
		left = left[len(m.String()):]
		want += merged(m.String())
	}
	if err != nil || left != "" {
		t.Errorf("%q: %q is left, %v", text, left, err)
	}
	if got := Count(text); got != want {
		t.Errorf("got %d tokens, want %d: %q", got, want, text)
	}
}

var examples = []string{
	"", " ", "  ", "a", "Hello, world!", "It's what WE'LL do; I'D say they'Ve Can't 'S 'tis o'clock X's x'", "HTTPServer XMLHttpRequest iPhone McDONALD",
	"1234567 3.14159 ٣٤٥٦ Ⅷ½", "a\n\n b\n  \n c", "!\n/usr\n / bin\n//\r\n", "one.\r\n\r\n two\r\n", "   leading and trailing   ", "tab\tand\vmore\f\u0085\u00a0\u3000x",
	"\u2028\n\u00a0\n \u3000\nend", "日本語のテキスト、そして 日本語。", "Привет, мир! ПРИВЕТ", "e\u0301 \u0301 \u0301A A\u0301 \u0301\u0301B", "ǅ ǅa aǅ Aª ªA", "👍🏽👨‍👩‍👧 ok",
	"\u200b\n/a", "<|endoftext|>", "can\u2019t", "'ſ xK'ſ", "{\"a\": [1, 2, \"b\"]}", "func (m *merger) count(piece string) int {\n\tlast := int32(len(piece))\n}\n",
	strings.Repeat("a", 1000), strings.Repeat("xyzzy", 300), strings.Repeat("=", 700), strings.Repeat("日", 400), strings.Repeat(" ", 500) + "x", strings.Repeat("\n ", 200),
}

// CON-18: counts are exact.
func TestCountsAreExact(t *testing.T) {
	for _, text := range examples {
		equal(t, text)
	}
}

// Every character is read as the expression reads it, whatever stands beside it.
func TestCharactersAreReadAsTheExpressionReadsThem(t *testing.T) {
	var all strings.Builder
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if utf8.ValidRune(r) && (r < 0x3400 || r%257 == 0 || !unicode.Is(unicode.Lo, r) && unicode.IsGraphic(r)) {
			all.WriteString("a" + string(r) + "B" + string(r) + " " + string(r) + "c1" + string(r) + "\n")
		}
		if all.Len() > 1<<12 {
			equal(t, all.String())
			all.Reset()
		}
	}
	equal(t, all.String())
}

func TestMixturesAreCountedExactly(t *testing.T) {
	bits := []string{
		"\n", "\n", "\r", " ", " ", "\t", "\u00a0", "\u2028", "\u0085", "\u200b", "/", "!", "[", "↩", "…", "👍", "ñ", "É", "ǅ", "ª", "日", "本", "\u0301", "\u0903",
		"'s", "'RE", "'v", "'lL", "'", "a", "B", "CD", "kai", "Nova", "the", "12", "7", "٣", "½", ":", "-", "=", "\x00", "\x7f",
	}
	rapid.Check(t, func(rt *rapid.T) {
		equal(rt, strings.Join(rapid.SliceOfN(rapid.SampledFrom(bits), 0, 60).Draw(rt, "text"), ""))
	})
}

func FuzzCount(f *testing.F) {
	for _, text := range examples {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if n := Count(text); n > len(text) || (n == 0) != (text == "") {
			t.Errorf("%d tokens in %d bytes: %q", n, len(text), text)
		}
		if utf8.ValidString(text) { // the expression reads characters, not bytes
			equal(t, text)
		}
	})
}

func BenchmarkCount(b *testing.B) {
	text := strings.Join(examples[:24], "\n")
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Count(text)
	}
}

func BenchmarkLibrary(b *testing.B) {
	text := strings.Join(examples[:24], "\n")
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := theirs().Count(text); err != nil {
			b.Fatal(err)
		}
	}
}
