//go:build faultinject

package crashtest

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/internal/failpoint"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

var missionKills = flag.Int("missionkills", 8, "how often programs are killed that work on missions")

// killsPerMission is how often the program is killed over one mission.
const killsPerMission = 8

// missionPoints are the places near a move of a mission.
var missionPoints = []string{
	"mission.stepped", "wake.claimed", "model.before_call", "model.after_call", "acts.recorded", "cycle.before_commit", "cycle.after_commit", "outbox.sending", "send.accepted", "receipt.committed",
}

// A planner is a model that proposes a mission when it is asked for one, and does what the
// frame says of its tasks: what it does follows from the request alone.
type planner struct{}

var (
	wantsMission = regexp.MustCompile(`a mission (zk[0-9]{5})`)
	ownTask      = regexp.MustCompile(`(?m)^Your task (\d+): `)
)

// plannedTasks is the plan of each mission: the last task needs two others, which need the
// first.
const plannedTasks = `[{"title":"one","agent":"Max","done_when":"done"},{"title":"two","agent":"Ada","done_when":"done","after":[1]},{"title":"three","agent":"Max","done_when":"done","after":[1]},{"title":"four","agent":"Max","done_when":"done","after":[2,3]}]`

// Generate implements [llm.ChatModel].
func (planner) Generate(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
	if ctx.Err() != nil {
		return llm.ModelResponse{}, llm.Interrupted(ctx)
	}
	calls := 0
	for i := range r.Messages {
		calls += len(r.Messages[i].Calls)
	}
	call := func(name, args string) (llm.ModelResponse, error) {
		return llm.ModelResponse{Finish: llm.Called, Calls: []llm.ToolCall{{ID: fmt.Sprintf("call_%d", calls), Name: name, Args: args}}}, nil
	}
	tail := r.Messages[len(r.Messages)-1].Text
	offered := func(name string) bool {
		return slices.ContainsFunc(r.Tools, func(t llm.ToolSpec) bool { return t.Name == name })
	}
	switch asked := wantsMission.FindStringSubmatch(lastInbox(r.Messages)); {
	case r.NoCalls:
		return llm.ModelResponse{Text: "I will.", Finish: llm.Stopped}, nil
	case strings.Contains(tail, "You verify task "):
		return call("verify_task", `{"ok":true,"why":"it is done"}`)
	case ownTask.MatchString(tail):
		return call("submit_task", `{"result":"result of `+ownTask.FindStringSubmatch(tail)[1]+`"}`)
	case strings.Contains(tail, "The mission is over"):
		return call("send_message", `{"text":"All four are done."}`)
	case asked != nil && offered("propose_mission"):
		return call("propose_mission", `{"goal":"`+asked[1]+`","tasks":`+plannedTasks+`}`)
	}
	return llm.ModelResponse{Text: "Stayed silent. Nothing is for me.", Finish: llm.Stopped}, nil
}

// lastInbox returns the newest turn that shows what woke the agent.
func lastInbox(messages []llm.TranscriptMessage) string {
	for _, m := range slices.Backward(messages) {
		if m.Role == llm.User && strings.HasPrefix(m.Text, "INBOX") {
			return m.Text
		}
	}
	return ""
}

var _ llm.ChatModel = planner{}

// MISSIONS 6: killed near every move of a mission and at any moment, again and again, the
// program comes to its end: no task is done twice and none is lost, and the message in the
// room tells the truth.
func TestNoTaskIsLostOrDoneTwice(t *testing.T) {
	for n := range (*missionKills + killsPerMission - 1) / killsPerMission {
		seed := seedOf("missions", n)
		if *only != "" && *only != "K23" || *oneSeed != 0 && *oneSeed != seed {
			continue
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) { playMission(t, seed) })
	}
}

// playMission is one case.
func playMission(t *testing.T, seed uint64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*caseLimit)
	defer cancel()
	rng := rand.New(rand.NewPCG(seed, 5))
	w := newWorld(t, seed, 1)
	w.model = &llmtest.Server{Model: planner{}}
	w.base = w.serve(t, w.model.Serve) + "/v1"
	prog := newProgram(t, w, "")
	text := fmt.Sprintf(`
listen: ""
model: {base_url: %q, api_key: none, name: planner}
adapters:
  telegram: {type: telegram, token: %q, api_url: %q}
admit: open
phases: one
limits: {outgoing: off}
agents:
  ada: {name: Ada}
  max: {name: Max}
spaces:
  workshop: {name: Workshop, agents: [ada, max], wake: mention, chats: ["telegram:%d"]}
`, w.base, botToken, w.api, w.forum.ID())
	testutil.OK(t, os.WriteFile(filepath.Clean(prog.config), []byte(text), 0o600))
	at := w.places[0]
	at.chat.Says(at.who, "@Ada a mission zk00001, please", faketelegram.PostOptions{Thread: at.thread})

	back := rng.IntN(killsPerMission) // the start with which a person has the mission go on from a checkpoint
	for start := range killsPerMission {
		var plan failpoint.FaultPlan
		if rng.IntN(4) > 0 {
			plan = failpoint.FaultPlan{{Point: missionPoints[rng.IntN(len(missionPoints))], Hit: 1 + rng.IntN(2), Action: failpoint.Kill}}
		}
		prog.start(t, plan)
		moment, tick := time.NewTimer(time.Duration(100+rng.IntN(500))*time.Millisecond), time.NewTicker(40*time.Millisecond)
		if plan != nil {
			moment.Reset(2 * time.Second)
		}
		for open := true; open; {
			select {
			case <-prog.ended:
				open = false
			case <-moment.C:
				open = false
			case <-tick.C:
				pressStart(at)
				if start >= back && goBack(at, 1+int(seed%3)) {
					back = killsPerMission
				}
			}
		}
		tick.Stop()
		moment.Stop()
		prog.kill()
		testutil.OK(t, prog.killed(ctx))
	}
	starts := prog.starts(t)
	prog.start(t, nil)
	told := func() bool {
		return slices.ContainsFunc(at.chat.Sent(), func(m faketelegram.ChatMessage) bool { return strings.Contains(m.Text, "All four are done.") })
	}
	rests := func() bool { return !callsAreOpen(ctx, prog) && !prog.busy(ctx) }
	if !await(ctx, func() bool {
		pressStart(at)
		return prog.starts(t) > starts && told() && rests()
	}) {
		t.Error("the program did not come to rest")
	}
	testutil.OK(t, prog.stop(ctx))
	for _, v := range prog.audited(t).checked {
		t.Errorf("%s: %s: %s", v.Invariant, v.Subject, v.Detail)
	}
	judgeMission(t, prog, at)
	if t.Failed() {
		t.Logf("again: -run %s -seed %d", t.Name(), seed)
	}
}

// pressStart presses the button below a proposal.
func pressStart(at place) {
	for _, m := range at.chat.Sent() {
		if slices.ContainsFunc(m.Buttons, func(b faketelegram.ButtonData) bool { return b.Text == "Start" }) {
			at.who.Presses(at.chat, m.ID, "Start")
		}
	}
}

// goBack has a person say that the mission is to go on from a checkpoint, once it has that
// one, and reports whether they said it.
func goBack(at place, checkpoint int) bool {
	for _, m := range at.chat.Sent() {
		head, rest, _ := strings.Cut(m.Text, ": ")
		number, found := strings.CutPrefix(head, "Mission ")
		i := strings.LastIndex(rest, " of 4")
		if found && i > 0 && !m.Deleted && int(rest[i-1]-'0')+1 >= checkpoint {
			at.chat.Says(at.who, fmt.Sprintf("mission resume %s from %d", number, checkpoint), faketelegram.PostOptions{Thread: at.thread})
			return true
		}
	}
	return false
}

// judgeMission compares the mission in the database with what may have happened, and with
// what people read.
func judgeMission(t *testing.T, prog *program, at place) {
	t.Helper()
	db, err := prog.look()
	testutil.OK(t, err)
	defer func() { _ = db.Close() }()
	var body string
	testutil.OK(t, db.QueryRowContext(t.Context(), `select body from missions where state <> 'cancelled'`).Scan(&body))
	var m spaces.Mission
	testutil.OK(t, json.Unmarshal([]byte(body), &m))
	testutil.Same(t, "state of the mission", spaces.MissionCompleted, m.State)
	rows, err := db.QueryContext(t.Context(), `select body from mission_moves where mission = ? order by n`, string(m.ID))
	testutil.OK(t, err)
	defer func() { _ = rows.Close() }()
	moves, left := map[string]int{}, map[string]int{}
	for rows.Next() {
		var v spaces.MissionMove
		testutil.OK(t, rows.Scan(&body))
		testutil.OK(t, json.Unmarshal([]byte(body), &v))
		moves[fmt.Sprintf("%d %s", v.Task, v.To)]++
		if v.To == string(spaces.TaskSuperseded) {
			left[fmt.Sprintf("%d %s", v.Task, v.From)]++
		}
	}
	testutil.OK(t, rows.Err())
	for n := range m.Tasks {
		// A task is done once, and once more for each time that it was left in that state or
		// a later one.
		again := 0
		for _, state := range []spaces.TaskState{spaces.TaskVerified, spaces.TaskSubmitted, spaces.TaskWorking} {
			key := fmt.Sprintf("%d %s", n+1, state)
			again += left[key]
			testutil.Same(t, key, 1+again, moves[key])
		}
	}
	t.Logf("%d checkpoints, went on from %d", m.Checkpoints, m.From)
	shown := 0
	for _, s := range at.chat.Sent() {
		if !s.Deleted && strings.Contains(s.Text, "Mission "+m.Number()) && strings.Contains(s.Text, "(4 of 4)") {
			shown++
		}
	}
	if shown == 0 {
		t.Errorf("people do not read that mission %s has come to its end", m.Number())
	}
}
