package commandtool

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/internal/toolproc"
)

// scriptOf returns a shell script as a command tool.
func scriptOf(t *testing.T, script string) CommandSettings {
	t.Helper()
	return CommandSettings{
		Program: toolproc.ToolProgram{
			Name: "command", Command: []string{"sh", "-c", script}, Folder: t.TempDir(), Limits: toolproc.DefaultLimits(),
		},
		Timeout: time.Minute,
	}
}

func failureIn(t *testing.T, err error, want FailureReason) *CommandError {
	t.Helper()
	f, ok := errors.AsType[*CommandError](err)
	if !ok || f.Reason != want {
		t.Fatalf("got %v, want a failure of reason %s", err, want)
	}
	return f
}

func TestArgumentsGoInAndTextComesOut(t *testing.T) {
	for arguments, want := range map[string]string{
		"": "{}", `{"place": "Rome\u0000", "n": [1,  2]}`: `{"place":"Rome\u0000","n":[1,2]}`,
	} {
		r, err := Run(t.Context(), scriptOf(t, "cat"), json.RawMessage(arguments))
		testutil.OK(t, err)
		testutil.Same(t, "text", want, r.Text)
	}
	for _, arguments := range []string{"null", "[]", `"text"`, "{", strings.Repeat(" ", maxArguments) + "{}"} {
		_, err := Run(t.Context(), scriptOf(t, "cat"), json.RawMessage(arguments))
		_ = failureIn(t, err, NotStarted)
	}
}

// A program that does not read its arguments, however long they are, answers all the same.
func TestUnreadArgumentsHoldNothing(t *testing.T) {
	long, err := json.Marshal(map[string]string{"text": strings.Repeat("x", 500_000)})
	testutil.OK(t, err)
	r, err := Run(t.Context(), scriptOf(t, "echo done"), long)
	testutil.OK(t, err)
	testutil.Same(t, "text", "done", r.Text)
}

func TestAnswerIsTextOrJSON(t *testing.T) {
	for output, want := range map[string]string{
		`{"text":"sunny"}`:             "sunny",
		`{"text":"sunny","files":[]}`:  "sunny",
		`{"text":"sunny","other":1}`:   `{"text":"sunny","other":1}`, // its own JSON, for the model
		`{}`:                           `{}`,
		`{"text":1}`:                   `{"text":1}`,
		`{"text":"a"} {"text":"b"}`:    `{"text":"a"} {"text":"b"}`,
		"plain \xff\x00text\n":         "plain \uFFFDtext",
		`["text"]`:                     `["text"]`,
		"  {\"text\": \"padded\"}\n\n": "padded",
	} {
		if got := answerOf([]byte(output), false, t.TempDir()); got.Text != want || got.Problem != "" {
			t.Errorf("%q: got %q (%s), want %q", output, got.Text, got.Problem, want)
		}
	}
}

func TestFilesComeFromTheWorkingFolderAlone(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	testutil.OK(t, os.WriteFile(secret, []byte("secret"), 0o600))
	s := scriptOf(t, `mkdir -p sub; echo chart > sub/chart.png; ln -s `+secret+` link; mkfifo pipe
cat <<END
{"text":"made","files":["sub/chart.png","$PWD/sub/chart.png","link","../command/../../x","`+secret+`","pipe","sub","absent",""]}
END`)
	r, err := Run(t.Context(), s, nil)
	testutil.OK(t, err)
	testutil.Same(t, "text", "made", r.Text)
	file := CommandFile{Name: "chart.png", Media: "image/png", Data: []byte("chart\n")}
	testutil.Same(t, "files", []CommandFile{file, file}, r.Files)
	for _, part := range []string{"link", "secret", "pipe", "sub", "absent"} {
		if !strings.Contains(r.Problem, part) {
			t.Errorf("%s is not a problem: %s", part, r.Problem)
		}
	}
}

func TestLargeFilesAreLeftOut(t *testing.T) {
	s := scriptOf(t, `head -c 15000000 /dev/zero >a; head -c 15000000 /dev/zero >b; echo c >c; echo '{"files":["a","b","c"]}'`)
	r, err := Run(t.Context(), s, nil)
	testutil.OK(t, err)
	if len(r.Files) != 2 || r.Files[1].Name != "c" || !r.Cut {
		t.Errorf("got %d files, cut %v", len(r.Files), r.Cut)
	}
}

func TestFailureTellsThePersonLittleAndTheOperatorMore(t *testing.T) {
	_, err := Run(t.Context(), scriptOf(t, "echo out; echo 'no key for /etc/x' >&2; exit 3"), nil)
	f := failureIn(t, err, Exited)
	testutil.Same(t, "detail", "no key for /etc/x", f.Detail)
	testutil.Same(t, "sentence", "The command failed.", f.Sentence())
	if !strings.Contains(f.Error(), "code 3") {
		t.Errorf("got %q", f.Error())
	}
	s := scriptOf(t, "")
	s.Program.Command = []string{"no-such-program"}
	_, err = Run(t.Context(), s, nil)
	_ = failureIn(t, err, NotStarted)
}

// Whatever a program does, a run ends: with its time, with its caller, and at the bound
// of its output; and what it has started ends with it.
func TestRunEnds(t *testing.T) {
	stubborn := "trap '' TERM; sleep 1000 & sleep 1000; sleep 1000"
	s := scriptOf(t, stubborn)
	s.Timeout, s.StopGrace = 50*time.Millisecond, 50*time.Millisecond
	_, err := Run(t.Context(), s, nil)
	testutil.Same(t, "sentence", "The command did not end in time and was stopped.", failureIn(t, err, TimedOut).Sentence())

	ctx, cancel := context.WithCancel(t.Context())
	s = scriptOf(t, "echo >started; "+stubborn)
	s.StopGrace = 50 * time.Millisecond
	time.AfterFunc(100*time.Millisecond, cancel)
	_, err = Run(ctx, s, nil)
	_ = failureIn(t, err, Cancelled)

	r, err := Run(t.Context(), scriptOf(t, "while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done"), nil)
	testutil.OK(t, err)
	if !r.Cut || len(r.Text) < maxText-1 || len(r.Text) > maxText {
		t.Errorf("got %d bytes, cut %v", len(r.Text), r.Cut)
	}
}
