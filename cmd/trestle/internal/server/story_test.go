package server

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

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

// TellStory plays the story once, in a bubble, and keeps what is left of it.
func TellStory(t *testing.T) (config, record []byte, names map[string]string) {
	t.Helper()
	var told struct {
		config, record []byte
		names          map[string]string
	}
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
	for form, with := range map[string]string{ // no server answers there, and no credential is in a file
		`(?m)^data: .*$`: "data: ./data", `(?m)^model: .*\n`: "", `token: "[^"]*"`: `token: "$${TELEGRAM_BOT_TOKEN}"`,
		`http://telegram.test`: "http://127.0.0.1:1",
	} {
		told.config = regexp.MustCompile(form).ReplaceAll(told.config, []byte(with))
	}
	return told.config, told.record, told.names
}

// storyNames numbers the runs and the rooms of a world in the order of time.
func (w *world) storyNames() map[string]string {
	names := map[string]string{}
	rooms, err := w.process.Store.Console().Rooms(w.t.Context())
	testutil.OK(w.t, err)
	for i, r := range rooms {
		names[string(r.Space.ID)] = fmt.Sprintf("$SPACE%d", i+1)
	}
	for n := int64(1); n <= w.minted.Load(); n++ {
		id := fmt.Sprintf("00000000-0000-7000-8000-%012d", n)
		if run, err := w.process.Store.Console().Run(w.t.Context(), id); err == nil && run.Cycle.ID == spaces.CycleID(id) {
			names[id] = fmt.Sprintf("$RUN%d", len(names)-len(rooms)+1)
		}
	}
	names[w.process.shell.Catalogue().Manifest().Hash] = "$ACTS"
	return names
}
