package server_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/cli"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/server"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

var update = flag.Bool("update", false, "rewrite the transcripts of testdata/commands")

// TestEveryCommandAnswersAsItsTranscript runs what the files in
// testdata/commands say and compares every byte, without ids, sizes and places.
// Every command of the tree has a file, named after it. A file is a transcript:
//
//	# what this shows; "# running" alone has a process serve the folder meanwhile,
//	# "# empty" alone is a folder without a record
//	$ trestle runs --agent ada       a command line in the folder of the story
//	< a line at its stdin
//	its stdout, then its stderr, then (exit N) unless it is 0
//
// In a command line $RUN1 is the oldest run of the story, $SPACE1 its oldest
// space, $ACTS the version of the acts it was offered; they stand for these in
// answers, too. -update rewrites the answers, and
// the difference is reviewed like code.
func TestEveryCommandAnswersAsItsTranscript(t *testing.T) {
	story := newStory(t)
	for _, name := range commandNames(new(cli.Environment).Command()) {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("testdata", "commands", strings.ReplaceAll(name, " ", "_")+".txt")
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("the command has no transcript: %v", err)
			}
			got := story.play(t, string(text))
			if *update {
				testutil.OK(t, os.WriteFile(file, []byte(got), 0o600))
				return
			}
			if diff := cmp.Diff(string(text), got); diff != "" {
				t.Errorf("%s (-want +got), rewrite with go test ./cmd/trestle/internal/server -update:\n%s", file, diff)
			}
		})
	}
}

// commandNames returns the names of all commands that can be called, the root
// itself as "trestle".
func commandNames(root *cobra.Command) []string {
	names := []string{root.Name()}
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		for _, below := range c.Commands() {
			if below.Name() == "help" || below.Name() == "completion" || below.Hidden {
				continue
			}
			names = append(names, strings.TrimPrefix(below.CommandPath(), root.Name()+" "))
			visit(below)
		}
	}
	visit(root)
	return names
}

// A story is an installation in which something has happened.
type story struct {
	config []byte
	record []byte
	names  map[string]string // ids by what transcripts call them
}

// storyToken is the token of the account in a story.
const storyToken = "7001:world-token"

// newStory returns the installation that [server.TellStory] left.
func newStory(t *testing.T) *story {
	t.Helper()
	var y story
	y.config, y.record, y.names = server.TellStory(t)
	return &y
}

// play runs a transcript in a copy of the story and returns it with the answers
// that were given.
func (y *story) play(t *testing.T, transcript string) string {
	t.Helper()
	s := stage{folder: t.TempDir(), env: "TELEGRAM_BOT_TOKEN=" + storyToken}
	if !strings.Contains(transcript, "# empty\n") {
		y.unpack(t, s.folder)
	}
	if strings.Contains(transcript, "# running\n") {
		s.serve(t)
	}
	var out strings.Builder
	said := strings.Split(strings.TrimSuffix(transcript, "\n"), "\n")
	for len(said) > 0 && !strings.HasPrefix(said[0], "$ ") {
		out.WriteString(said[0] + "\n") // what it shows
		said = said[1:]
	}
	for i := 0; i < len(said); i++ {
		command, ok := strings.CutPrefix(said[i], "$ trestle")
		if !ok {
			continue // an earlier answer
		}
		out.WriteString(said[i] + "\n")
		var stdin bytes.Buffer
		for i+1 < len(said) && strings.HasPrefix(said[i+1], "< ") {
			i++
			out.WriteString(said[i] + "\n")
			stdin.WriteString(strings.TrimPrefix(said[i], "< ") + "\n")
		}
		stdout, stderr, code := s.do(t, stdin.String(), y.words(command)...)
		out.WriteString(sortLogLines(y.plain(s, stdout+stderr)))
		if code != apperr.Done {
			fmt.Fprintf(&out, "(exit %s)\n", code)
		}
	}
	return out.String()
}

// sortLogLines sorts log lines that follow each other: parts of the program that start at once
// write them in any order.
func sortLogLines(text string) string {
	lines := strings.Split(text, "\n")
	isLog := func(i int) bool { return strings.HasPrefix(lines[i], "time=NOW ") }
	for i := 0; i < len(lines); i++ {
		from := i
		for i < len(lines) && isLog(i) {
			i++
		}
		slices.Sort(lines[from:i])
	}
	return strings.Join(lines, "\n")
}

func (y *story) unpack(t *testing.T, folder string) {
	t.Helper()
	testutil.OK(t, os.Mkdir(filepath.Join(folder, "data"), 0o700))
	testutil.OK(t, os.WriteFile(filepath.Join(folder, "data", "trestle.db"), y.record, 0o600))
	testutil.OK(t, os.WriteFile(filepath.Join(folder, "trestle.yaml"), y.config, 0o600))
	testutil.OK(t, os.Mkdir(filepath.Join(folder, "prompts"), 0o700))
	testutil.OK(t, os.WriteFile(filepath.Join(folder, "prompts", "offer@2.md"), []byte("NEW ROOM: you may offer to set it up.\n"), 0o600))
	testutil.OK(t, os.WriteFile(filepath.Join(folder, "prompts", "ofer@3.md"), []byte("NEW ROOM.\n"), 0o600))
}

// words splits a command line, with names in place of what they stand for.
func (y *story) words(command string) []string {
	var args []string
	for _, word := range regexp.MustCompile(`"[^"]*"|\S+`).FindAllString(command, -1) {
		word = strings.Trim(word, `"`)
		run, step, stepped := strings.Cut(word, ":")
		for id, name := range y.names {
			if run == name {
				run = id
			}
		}
		if stepped {
			run += ":" + step
		}
		args = append(args, run)
	}
	return args
}

// plain returns an answer without what differs from run to run: ids, places,
// sizes, versions, and the present time (the story's own is in the year 2000).
func (y *story) plain(s stage, answer string) string {
	answer = strings.ReplaceAll(answer, s.folder, "FOLDER")
	for id, name := range y.names {
		answer = strings.ReplaceAll(answer, id, name)
	}
	for _, mask := range []struct{ form, with string }{
		{`(\$(?:RUN\d|SPACE\d|ACTS)) {3,}`, "$1   "},
		{`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`, "ID"},
		{`\b20[1-9]\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`, "NOW"},
		{`[0-9a-f]{64}`, "SHA256"},
		{`\b[0-9a-f]{16}\b`, "HASH"},
		{`~[0-9a-z]{8}\b`, "~MESSAGE"},
		{`\d+(\.\d+)? [kMG]?B\b`, "N kB"},
		{`"bytes": \d+`, `"bytes": N`},
		{`"schema": \d+`, `"schema": N`},
		{`schema \d+\b`, "schema N"},
		{`FOLDER/data {3,}`, "FOLDER/data   "},
		{`"(seconds|duration_ms|total_duration_ms)": [0-9.e-]+`, `"$1": N`},
		{`\d+\.\d s\b`, "N s"},
		{`in \d+ms`, "in N ms"},
		{`"(tokens_used|prompt|cached|output|estimated|tokens)": \d+`, `"$1": N`},
		{`\b\d{2,7}( cached| out| of| tokens)`, "N$1"},
		{`\b(keyframe|log|recalled|tail) \d+`, "$1 N"},
		{` \d{4,7} +`, " N   "},
		{`(?m)^( {11}(?:left out|\S+)) +\d+  `, "$1   N  "},
		{`"fixed": \d+`, `"fixed": N`},
		{`tokens( +)\d+: N`, "tokens${1}N: N"},
		{`\(devel\)`, "VERSION"},
		{`go1\.\d+(\.\d+)?`, "go1"},
		{`linux/\w+|darwin/\w+`, "SYSTEM"},
		{`127\.0\.0\.1:\d{4,5}`, "127.0.0.1:PORT"},
	} {
		answer = regexp.MustCompile(mask.form).ReplaceAllString(answer, mask.with)
	}
	return answer
}

// A transcript without its command would be compared with nothing.
func TestEveryTranscriptHasItsCommand(t *testing.T) {
	names := commandNames(new(cli.Environment).Command())
	files, err := filepath.Glob("testdata/commands/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts found: %v", err)
	}
	for _, file := range files {
		name := strings.ReplaceAll(strings.TrimSuffix(filepath.Base(file), ".txt"), "_", " ")
		if !slices.Contains(names, name) {
			t.Errorf("%s: there is no command %q", file, name)
		}
	}
}

// PRD-7.2-1: what has changed since a run is said in words: its version is in the record,
// although the configuration and with it the acts are others by now.
func TestActsAreComparedWithThoseOfARun(t *testing.T) {
	story := newStory(t)
	story.config = append(story.config, "\nattachments: {send: true}\n"...)
	got := story.play(t, "$ trestle tools diff $ACTS\n$ trestle tools\n")
	if want := "from $ACTS to HASH\n  added    send_file\n"; !strings.Contains(got, want) {
		t.Errorf("it is not said that %q:\n%s", want, got)
	}
	if want := "$ACTS   17 "; !strings.Contains(got, want) || !strings.Contains(got, "version HASH\n") {
		t.Errorf("the list of versions lacks %q:\n%s", want, got)
	}
}
