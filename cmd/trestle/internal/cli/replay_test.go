package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/replay"
	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/corpus"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// replayed runs trestle replay on files of that content.
func replayed(t *testing.T, lines, questions string, args ...string) (answers []replayAnswer, said string, code apperr.ExitCode) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"lines": lines, "questions": questions} {
		testutil.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	var out, errs bytes.Buffer
	p := &Environment{In: strings.NewReader(""), Out: &out, Err: &errs, Folder: dir, Lookup: func(string) (string, bool) { return "", false }}
	code = p.Run(t.Context(), append([]string{"replay", "lines", "--ask", "questions", "--json"}, args...))
	for d := json.NewDecoder(&out); code == 0; {
		var a replayAnswer
		if err := d.Decode(&a); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, a)
	}
	return answers, errs.String(), code
}

const twoRooms = `
{"id":"a1","space":"family","session":"1","at":"2026-05-08T13:56:00Z","from":"Kai","text":"the spare key is under the blue pot"}
{"id":"a2","space":"family","session":"1","at":"2026-05-08T13:57:00Z","from":"Nova","text":"good to know","reply_to":"a1"}
{"id":"b1","space":"work","session":"1","at":"2026-05-09 09:00","from":"Sage","text":"the spare server is in room four"}
{"id":"a3","space":"family","session":"2","at":"2026-05-20T08:00:00Z","from":"Kai","text":"the spare key hangs by the door now"}
{"id":"a4","space":"family","at":1779264060,"from":"Kai","text":"the spare key hangs by the back door now","edits":"a3"}
`

// CONTEXT 4: every question sees what was said up to its time, in all spaces of the
// mind, and neither other questions nor anything later.
func TestAQuestionSeesWhatWasSaidBeforeIt(t *testing.T) {
	frames := t.TempDir()
	answers, said, code := replayed(t, twoRooms, `
{"id":"late","space":"family","at":"2026-05-21T08:00:00Z","from":"Nova","text":"where is the spare key?"}
{"id":"early","space":"work","at":"2026-05-10T08:00:00Z","from":"Nova","text":"where is the spare key kept, zebra?"}
{"id":"strange/../name","space":"attic","at":"2026-05-21T08:00:00Z","from":"Nova","text":"a spare zebra?"}
`, "--budget", "1000", "--frames", frames)
	if code != 0 || len(answers) != 3 {
		t.Fatalf("exit %v: %s, answers %+v", code, said, answers)
	}
	want := map[string][]string{"late": {"a1", "a2", "a4", "b1"}, "early": {"a1", "a2", "b1"}, "strange/../name": {"a1", "a2", "a4", "b1"}}
	for i, id := range []string{"late", "early", "strange/../name"} {
		a := answers[i]
		slices.Sort(a.Shown)
		if diff := cmp.Diff(want[id], a.Shown); a.ID != id || diff != "" {
			t.Errorf("%s (-want +got):\n%s", a.ID, diff)
		}
		if a.Tokens > a.Budget || a.Tokens == 0 || a.Fixed == 0 {
			t.Errorf("%s has %d of %d tokens, and %d fixed", a.ID, a.Tokens, a.Budget, a.Fixed)
		}
	}
	text, err := os.ReadFile(filepath.Join(frames, "late.txt"))
	testutil.OK(t, err)
	if s := string(text); strings.Contains(s, "zebra") || !strings.Contains(s, "edited: the spare key hangs by the back door now") {
		t.Errorf("the frame is\n%s", s)
	}
	if _, err := os.Stat(filepath.Join(frames, "strange_.._name.txt")); err != nil {
		t.Error(err)
	}
}

// Y7: what a frame holds of conversations never has more tokens than its budget, by
// a count made anew of the written frame; the file says how many are fixed.
func TestReplayKeepsToItsBudget(t *testing.T) {
	room := corpus.Make(3, "parlour", corpus.Chat)
	var lines, questions strings.Builder
	for _, l := range room.Lines[:600] {
		testutil.OK(t, json.NewEncoder(&lines).Encode(l))
	}
	for _, q := range room.Questions[:4] {
		testutil.OK(t, json.NewEncoder(&questions).Encode(q))
	}
	counter := new(hud.TokenCounter)
	for _, budget := range []int{200, 700, 3000} {
		frames := t.TempDir()
		answers, said, code := replayed(t, lines.String(), questions.String(), "--budget", strconv.Itoa(budget), "--frames", frames)
		if code != 0 || len(answers) != 4 {
			t.Fatalf("exit %v: %s", code, said)
		}
		for i, a := range answers {
			text, err := os.ReadFile(filepath.Join(frames, room.Questions[i].ID+".txt"))
			testutil.OK(t, err)
			got := 0
			for _, message := range strings.Split(string(text), "\n--- user\n")[1:] {
				message, _, _ = strings.Cut(message, "ACTIVE SPACE: ")
				got += counter.Count(message)
			}
			if a.Tokens > budget || got > a.Tokens {
				t.Errorf("budget %d: %d tokens, told as %d", budget, got, a.Tokens)
			}
		}
	}
}

// PRD-5.2: what cannot be replayed is said with the line it is in.
func TestReplaySaysWhatItCannotRead(t *testing.T) {
	for name, c := range map[string]struct{ lines, questions, want string }{
		"no JSON":   {"{\n", "", "line 1"},
		"no id":     {`{"space":"a","from":"Kai","text":"x"}`, "", "id, space and from are needed"},
		"twice":     {twoRooms + `{"id":"a1","space":"family","from":"Kai","text":"x"}`, "", `there is another "a1"`},
		"no moment": {`{"id":"a","space":"a","from":"Kai","at":"noon","text":"x"}`, "", `"noon" is no moment`},
	} {
		if _, said, code := replayed(t, c.lines, c.questions); code == 0 || !strings.Contains(said, c.want) {
			t.Errorf("%s: exit %v, %q", name, code, said)
		}
	}
	if _, said, code := replayed(t, "", "", "--budget", "10"); code != apperr.Usage {
		t.Errorf("exit %v: %s", code, said)
	}
	if _, said, code := replayed(t, twoRooms, "", "--weigh", "fame=2"); code != apperr.Usage {
		t.Errorf("exit %v: %s", code, said)
	}
}

func FuzzReadRetold(f *testing.F) {
	f.Add(twoRooms)
	f.Add("\ufeff{\"id\":\"a\",\"space\":\"b\",\"from\":\"c\",\"at\":1e13,\"text\":\"\\u0000\"}")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := replay.ReadLines(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, l := range all {
			if l.ID == "" || l.Space == "" || l.From == "" {
				t.Errorf("%+v lacks something", l)
			}
		}
	})
}

// A question about a stretch of talk has the decisions of it in its frame, nothing beyond its
// month is chosen, and the frame keeps to the budget.
func TestAQuestionAboutAMonthHasItsDecisions(t *testing.T) {
	r := corpus.MakeLookBack(1, "hall")
	var lines, questions strings.Builder
	for _, l := range r.Lines {
		testutil.OK(t, json.NewEncoder(&lines).Encode(l))
	}
	for _, q := range r.Questions {
		testutil.OK(t, json.NewEncoder(&questions).Encode(q))
	}
	answers, said, code := replayed(t, lines.String(), questions.String(), "--budget", "8000")
	if code != 0 || len(answers) != len(r.Questions) {
		t.Fatalf("exit %v: %s", code, said)
	}
	for i, q := range r.Questions {
		found := 0
		for _, id := range q.Evidence {
			if slices.Contains(answers[i].Shown, id) {
				found++
			}
		}
		if 100*found < 75*len(q.Evidence) || answers[i].Tokens > 8000 || answers[i].Tokens < 7500 {
			t.Errorf("%q has %d of %d decisions in %d tokens", q.Text, found, len(q.Evidence), answers[i].Tokens)
		}
	}
}

// A running program gives most of its context to what stays from frame to frame, and
// lines that are recalled no more than the settings say; replay tells either.
func TestAReplayDividesItsBudgetAsARunningProgram(t *testing.T) {
	var lines strings.Builder
	at := time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC)
	for i := range 900 {
		fmt.Fprintf(&lines, `{"id":"l%d","space":"family","at":%q,"from":"Kai","text":"the kite number %d flew over the hill and the mill"}`+"\n", i, at.Add(time.Duration(i)*time.Minute).Format(time.RFC3339), i)
	}
	question := `{"id":"q","space":"family","at":"2026-05-21T08:00:00Z","from":"Nova","text":"which kite flew over the mill?"}`
	recalled := func(args ...string) int {
		frames := t.TempDir()
		answers, said, code := replayed(t, lines.String(), question, append(args, "--budget", "8000", "--frames", frames)...)
		if code != 0 || answers[0].Tokens > 8000 {
			t.Fatalf("exit %v: %s, answers %+v", code, said, answers)
		}
		text, err := os.ReadFile(filepath.Join(frames, "q.txt"))
		testutil.OK(t, err)
		_, lines, _ := strings.Cut(string(text), "RECALLED (")
		return new(hud.TokenCounter).Count(lines)
	}
	if n := recalled(); n < 5000 {
		t.Errorf("%d tokens are recalled, want most of the budget", n)
	}
	if n := recalled("--as-running"); n == 0 || n > 1700 {
		t.Errorf("%d tokens are recalled as in a running program, want about recall_tokens", n)
	}
}
