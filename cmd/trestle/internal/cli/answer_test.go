package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/internal/console/api"
)

// fullDisk takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// DESIGN 1: stdout holds answers. One that could not be written was not given,
// whatever its form.
func TestAnswerThatCannotBeWrittenIsAFailure(t *testing.T) {
	for _, form := range []string{"text", "json", "jsonl"} {
		var errs strings.Builder
		p := &Environment{In: strings.NewReader(""), Out: fullDisk{}, Err: &errs, Lookup: func(string) (string, bool) { return "", false }}
		if code := p.Run(t.Context(), []string{"version", "-o", form}); code != apperr.Failed || !strings.Contains(errs.String(), "no space left") {
			t.Errorf("%s: exit %v: %q", form, code, errs.String())
		}
	}
}

// SECURITY S18: no text of a model, a person or a platform controls the terminal of the
// reader of an answer, in whichever field it is.
func TestNothingInAnAnswerSteersATerminal(t *testing.T) {
	const evil = "\x1b[2J\u009b31m\u202e"
	var out strings.Builder
	p := &Environment{Out: &out, output: "text"}
	a := api.RunAnswer{RunRow: api.RunRow{Run: "r", Mind: evil, Wake: evil, Detail: evil}}
	a.Denials = []api.DenialRow{{}}
	a.Denials[0].Act, a.Denials[0].Code = evil, evil
	if err := p.answer(a, func(w io.Writer) {
		explain(w, a, nil)
		textout.WriteTable(w, [][]string{{"NAME", "WHAT"}, {evil, "\v\f\n\t" + evil}})
		fmt.Fprint(w, evil)
	}); err != nil {
		t.Fatal(err)
	}
	if at := strings.IndexFunc(out.String(), func(r rune) bool {
		return r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || r == '\u202e'
	}); at >= 0 {
		t.Errorf("%q", out.String())
	}
	if lines := strings.Count(out.String(), "\n"); lines != 5 {
		t.Errorf("%d lines: what stands in a cell made another: %q", lines, out.String())
	}
}
