package discord

import (
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/adapters/markup"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

var update = flag.Bool("update", false, "rewrite the expected files")

const verdictsFile = "testdata/reader/verdicts.json"

// verdict is what a foreign reader sees in a text.
type verdict struct {
	Text     string `json:"text"`
	Rendered bool   `json:"rendered,omitempty"` // by us
	Words    string `json:"words"`
}

// SEQ-97: what we read, and what we write, is read alike by another program; see
// testdata/reader/README.md.
func TestAForeignReaderSeesTheSameWords(t *testing.T) {
	if *update {
		raw, err := json.MarshalIndent(unjudged(), "", " ")
		testutil.OK(t, err)
		testutil.OK(t, os.WriteFile(verdictsFile, append(raw, '\n'), 0o600))
		t.Log("rewritten without verdicts; run testdata/reader/words.mjs now")
		return
	}
	raw, err := os.ReadFile(verdictsFile)
	testutil.OK(t, err)
	var verdicts []verdict
	testutil.OK(t, json.Unmarshal(raw, &verdicts))
	if len(verdicts) < 500 {
		t.Errorf("only %d texts", len(verdicts))
	}
	for _, v := range verdicts {
		if got, _ := readMarkdown(v.Text, mentionNames{}); !markup.SameWords(got, v.Words) {
			t.Errorf("%q\n ours  %q\n other %q", v.Text, got, v.Words)
		}
	}
}

// unjudged mixes signs into texts, and renders as many.
func unjudged() []verdict {
	pieces := []string{
		"word ", "**", "*", "_", "__", "`", "``", "~~", "||", "a", "b c", "\n", "```", `\*`, `\_`, "[x](https://a.b)", "<@123456789012345678>",
		"<:ee:123456789012345678>", "https://a.b/c_d ", "snake_case ", "(", ")", "!",
	}
	chance := rand.New(rand.NewPCG(7, 11))
	d := newDialect()
	var all []verdict
	for range 400 {
		var b strings.Builder
		b.WriteString("x") // no list begins with it
		for range 1 + chance.IntN(9) {
			b.WriteString(pieces[chance.IntN(len(pieces))])
		}
		all = append(all, verdict{Text: b.String()})
		for _, part := range d.split(b.String(), maxUnits) {
			all = append(all, verdict{Text: part, Rendered: true})
		}
	}
	return all
}
