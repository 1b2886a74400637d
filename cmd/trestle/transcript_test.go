package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

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
	story := tellStory(t)
	for _, name := range commandNames(stage{}.program(nil, nil, nil).command()) {
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
				t.Errorf("%s (-want +got), rewrite with go test ./cmd/trestle -update:\n%s", file, diff)
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

const storyConfig = `agents:
  ada: {name: Ada, persona: "You keep track of things."}
  max: {name: Max, phases: one}
spaces:
  family: {name: Family, agents: [ada], wake: mention, chats: ["telegram:-1001000000001"]}
  ops: {name: "#ops", agents: [ada, max], wake: mention, chats: ["telegram:-1001000000002"]}
`

const storyUpdates = `chat family supergroup Maya Bob
chat ops supergroup Bob Maya
Bob@family: I booked a table for Friday.
Maya@family: @Ada when is lunch?
Bob@ops: @Max how is the deploy?
Bob@ops: @Ada tell family I am late
`

const storyModel = `ada thinks: Bob said so: Friday.
ada acts: send_message {"text":"On Friday, Maya."} || Responded to Maya about lunch. Named the day. Nothing is pending.
max acts: read_messages {"space":"vault"}
max acts: send_message {"text":"Two hosts to go."} || Responded to Bob about the deploy. Said how far it is.
ada thinks: I carry it.
ada acts: send_message {"space":"family","text":"Bob is late.","why":"Bob asked"}
ada acts: send_message {"text":"Done."} || Responded to Bob about being late. Told Family.
`

// tellStory plays the story once, in a bubble, and keeps what is left of it.
func tellStory(t *testing.T) *story {
	t.Helper()
	var told story
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, storyConfig, script(t, storyModel)...)
		s := &scene{world: w, labels: map[string]int64{}}
		for line := range strings.Lines(storyUpdates) {
			s.do(t, strings.TrimSpace(line))
		}
		w.settle()
		told.names = w.storyNames()
		w.stop()
		var err error
		if told.record, err = os.ReadFile(filepath.Join(w.dir, "data", "trestle.db")); err != nil {
			t.Fatal(err)
		}
		if told.config, err = os.ReadFile(filepath.Join(w.dir, "trestle.yaml")); err != nil {
			t.Fatal(err)
		}
	})
	for form, with := range map[string]string{ // nobody answers there, and no credential stands in a file
		`(?m)^data: .*$`: "data: ./data", `(?m)^model: .*\n`: "", `token: "[^"]*"`: `token: "$${TELEGRAM_BOT_TOKEN}"`,
		`http://telegram.test`: "http://127.0.0.1:1",
	} {
		told.config = regexp.MustCompile(form).ReplaceAll(told.config, []byte(with))
	}
	return &told
}

// storyNames numbers the runs and the rooms of a world in the order of time.
func (w *world) storyNames() map[string]string {
	names := map[string]string{}
	rooms, err := w.process.store.Console().Rooms(w.t.Context())
	testutil.OK(w.t, err)
	for i, r := range rooms {
		names[string(r.Space.ID)] = fmt.Sprintf("$SPACE%d", i+1)
	}
	for n := int64(1); n <= w.minted.Load(); n++ {
		id := fmt.Sprintf("00000000-0000-7000-8000-%012d", n)
		if run, err := w.process.store.Console().Run(w.t.Context(), id); err == nil && run.Cycle.ID == spaces.CycleID(id) {
			names[id] = fmt.Sprintf("$RUN%d", len(names)-len(rooms)+1)
		}
	}
	names[w.process.shell.Catalogue().Manifest().Hash] = "$ACTS"
	return names
}

// play runs a transcript in a copy of the story and returns it with the answers
// that were given.
func (y *story) play(t *testing.T, transcript string) string {
	t.Helper()
	s := stage{folder: t.TempDir(), env: "TELEGRAM_BOT_TOKEN=" + worldToken}
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
		out.WriteString(y.plain(s, stdout+stderr))
		if code != apperr.Done {
			fmt.Fprintf(&out, "(exit %s)\n", code)
		}
	}
	return out.String()
}

func (y *story) unpack(t *testing.T, folder string) {
	t.Helper()
	testutil.OK(t, os.Mkdir(filepath.Join(folder, "data"), 0o700))
	testutil.OK(t, os.WriteFile(filepath.Join(folder, "data", "trestle.db"), y.record, 0o600))
	testutil.OK(t, os.WriteFile(filepath.Join(folder, "trestle.yaml"), y.config, 0o600))
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

// A transcript without its command would be read by nobody.
func TestEveryTranscriptHasItsCommand(t *testing.T) {
	names := commandNames(stage{}.program(nil, nil, nil).command())
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
