package server

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

var updateScenes = flag.Bool("update-scenes", false, "rewrite the expected parts of the scenes")

// TestScenes plays every conversation in testdata/scenes through the whole
// pipeline: the fake Telegram, the adapter, the border, SQLite, the shell, the
// HUD, and a scripted model, in a bubble of fake time. The first lines of a
// scene say which requirements it proves.
//
// A scene is a txtar file:
//
//	-- config --   agents, spaces and limits, as in trestle.yaml; telegram is there already
//	-- updates --  what people do, a line each; see [scene.do]
//	-- model --    what the model answers, a line each; see [scriptLine]
//	-- log --      what the spaces' logs hold afterwards
//	-- inner --    what the minds' inner logs hold
//	-- sent --     what is in the chats
//	-- seen --     what was in them at the lines "look" and "reactions"
//	-- presses --  what those who pressed buttons were told alone
//	-- sessions -- what Slack shows of an agent: the states of its sessions, titles, prompts
//	-- reactions -- reactions that bots set and took back
//	-- rated --    how people rated what agents said
//	-- replies --  what programs were answered, and what was posted to the address for replies
//	-- drafts --   what was shown in them that is no message
//	-- health --   what was not healthy at the lines "health", with the time since the start
//	-- problems -- what operators were told of
//	-- frame --    the last frame the model was shown; "-- frame 2 --" is the second
//
// Sections after model are compared when they are there; -update-scenes
// rewrites them, and the difference is reviewed like code.
func TestScenes(t *testing.T) {
	files, err := filepath.Glob("testdata/scenes/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenes found: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			testutil.OK(t, err)
			before := txtar.Format(archive)
			for _, platform := range platformsOf(archive) {
				t.Run(platform, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { playScene(t, archive, platform) })
				})
			}
			if after := txtar.Format(archive); *updateScenes && !bytes.Equal(before, after) && !t.Failed() {
				testutil.OK(t, os.WriteFile(file, after, 0o644))
			}
		})
	}
}

// everyPlatform is the first line of the configuration of a scene that is played on each
// platform, with the same outcome: in direct chats on Telegram, else in channels of a
// server. The kind of its chats is "here".
const everyPlatform = "# telegram, slack and discord\n"

// platformRooms is the configuration of a platform's rooms in such a scene.
var platformRooms = map[string]string{
	"telegram": "admit: open\n",
	"slack":    "servers: {\"acme:T0000001\": {agents: [ada], wake: mention}}\n",
	"discord":  "servers: {\"guild:3\": {agents: [ada], wake: mention}}\n",
}

// platformsOf returns the platforms on which a scene is played; "" where its configuration
// tells.
func platformsOf(a *txtar.Archive) []string {
	for _, f := range a.Files {
		if f.Name == "config" && strings.HasPrefix(string(f.Data), everyPlatform) {
			return []string{"telegram", "slack", "discord"}
		}
	}
	return []string{""}
}

// playScene runs one scene and compares, or with -update-scenes replaces, what
// it expects. What a scene expects on every platform is taken from the first one, and so
// are frames, in which chats have their kinds.
func playScene(t *testing.T, a *txtar.Archive, platform string) {
	t.Helper()
	parts := map[string]string{}
	for _, f := range a.Files {
		parts[f.Name] = string(f.Data)
	}
	kind := platform
	if platform == "telegram" {
		kind = "direct"
	}
	parts["updates"] = regexp.MustCompile(`(?m)^(chat \w+) here `).ReplaceAllString(parts["updates"], "$1 "+kind+" ")
	w := newWorld(t, strings.Replace(parts["config"], everyPlatform, "# "+platform+"\n"+platformRooms[platform], 1), script(t, parts["model"])...)
	s := &scene{world: w, parts: parts, labels: map[string]int64{}}
	for line := range strings.Lines(parts["updates"]) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			s.do(t, line)
		}
	}
	w.settle()
	for i, f := range a.Files {
		got, known := w.render(f.Name)
		got = pairingCode.ReplaceAllString(w.slack.named(got), "${1}CODE")
		elsewhere := platform == "slack" || platform == "discord"
		if !known || elsewhere && strings.HasPrefix(f.Name, "frame") {
			continue
		}
		if *updateScenes && !elsewhere {
			a.Files[i].Data = []byte(got)
		} else if diff := cmp.Diff(string(f.Data), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", f.Name, diff)
		}
	}
	if n := w.model.Left(); n > 0 {
		t.Errorf("%d answers of the model were never asked for", n)
	}
	w.stop()
}

// pairingCode is a code or the id of a pairing, which are drawn anew each time.
var pairingCode = regexp.MustCompile(`(code is |trestle pair |letin |refuse |link )[2-9A-Z]{4}-?[2-9A-Z]{4}\b`)

// linkCode is a code that links accounts. In a line of a scene LINKCODE is the last one that was sent.
var linkCode = regexp.MustCompile(`link ([2-9A-Z]{8})\b`)

// A scene is a world with the names its lines use.
type scene struct {
	*world
	parts  map[string]string // of the scene's file, by name
	labels map[string]int64  // message ids by label
}

// The lines of -- updates --. A line that begins with "& " is followed at once
// by the next; after every other line the world comes to rest first.
//
//	chat NAME direct|group|forum|supergroup|elsewhere PERSON…
//	topic CHAT NAME
//	PERSON@CHAT: text            PERSON@CHAT/TOPIC =label re other: text
//	edit PERSON@CHAT label: text
//	react PERSON@CHAT label: 👍  pin PERSON@CHAT label
//	PERSON@CHAT: link LINKCODE   the code that was sent last
//	press PERSON@CHAT label: Once   a button, by its label or its value; the label "last" is
//	                                what a bot said last in the chat
//	stops PERSON@CHAT               the platform's own Stop
//	asks PERSON@CHAT: @ada_bot hi   in a chat of the kind "elsewhere", which the bot is no member of
//	joins PERSON@CHAT            leaves PERSON@CHAT
//	rename PERSON@CHAT: title    promote PERSON@CHAT (the bot, by them)
//	file PERSON@CHAT: name.csv [content]
//	kick CHAT                    add CHAT               migrate CHAT
//	pair PERSON [ROLE]           pair telegram:CHAT
//	event HOOK KEY: {"text": …}  a program posts, and the answer is noted
//	wait 5m                      restart                & stop … start
//	health                       notes what is not healthy, and looks for problems
//	look                         notes what is in the chats now
//	reactions                    notes what reactions bots set and took back until now
//	reload NAME                  takes over the section "config NAME" while it runs
//	fault METHOD REFUSE-STATUS [RETRY-AFTER]
//	fault status                 has Slack refuse the status of a run from now on
//	fault reactions              has every platform refuse reactions from now on
//	fault posts                  has the platform refuse the next message
var sceneLine = regexp.MustCompile(`^(?:(slash|asks|press|stops|opens|looks|edit|react|pin|joins|leaves|rename|promote|delete|file) )?(\w+)@(\w+)(?:/(\w+))?((?: =\w+)?)((?: re \w+)?)((?: \w+)?)(?:: (.*))?$`)

func (s *scene) do(t *testing.T, line string) {
	t.Helper()
	if strings.Contains(line, "LINKCODE") {
		codes := linkCode.FindAllStringSubmatch(s.sent(), -1)
		if len(codes) == 0 {
			t.Fatal("no code that links accounts was sent")
		}
		line = strings.ReplaceAll(line, "LINKCODE", codes[len(codes)-1][1])
	}
	line, burst := strings.CutPrefix(line, "& ")
	words := strings.Fields(line)
	switch m := sceneLine.FindStringSubmatch(line); {
	case words[0] == "chat":
		s.addChat(words[1], words[2], words[3:])
	case words[0] == "topic":
		s.addTopic(words[1], words[2])
	case words[0] == "event":
		_, body, _ := strings.Cut(line, ": ")
		said, err := s.door.posts(t.Context(), words[1], strings.TrimSuffix(words[2], ":"), body)
		testutil.OK(t, err)
		s.door.mu.Lock()
		s.door.replies.WriteString(said)
		s.door.mu.Unlock()
	case words[0] == "wait":
		d, err := time.ParseDuration(words[1])
		testutil.OK(t, err)
		pass(d)
	case words[0] == "health":
		s.noteHealth()
	case words[0] == "look":
		fmt.Fprintf(&s.seen, "after %s\n%s", s.since(time.Now()), s.sent())
	case words[0] == "reactions":
		fmt.Fprintf(&s.seen, "after %s\n%s", s.since(time.Now()), s.reactions())
	case words[0] == "reload":
		s.reload(s.parts["config "+words[1]])
	case words[0] == "restart":
		s.restart()
	case words[0] == "stop": // messages posted until the start arrive together
		s.end()
	case words[0] == "start":
		s.start()
	case words[0] == "kick", words[0] == "add", words[0] == "migrate":
		s.membership(words[0], words[1])
	case words[0] == "pair":
		s.pairs(words[1], words[2:])
	case words[0] == "fault":
		s.fault(words[1:])
	case words[0] == "redeliver": // the last events, as Slack may
		s.slack.app.Redeliver(4)
	case words[0] == "lose":
		s.discord.lose(words[1])
	case m != nil && s.slack.has(m[3]):
		s.slack.person(t, m)
	case m != nil && s.discord.has(m[3]):
		s.discord.acts(t, m)
	case m != nil:
		s.person(t, m)
	default:
		t.Fatalf("the scene has a line nobody understands: %s", line)
	}
	if !burst {
		s.settle()
	}
}

func (s *scene) person(t *testing.T, m []string) {
	t.Helper()
	verb, who, where, topic, text := m[1], m[2], m[3], m[4], m[8]
	label, reply, about := strings.TrimPrefix(m[5], " ="), strings.TrimPrefix(m[6], " re "), strings.TrimSpace(m[7])
	text = strings.ReplaceAll(text, `\n`, "\n")
	chat, person := s.chats[where], s.people[who]
	if chat == nil {
		t.Fatalf("no chat %q", where)
	}
	if person == nil {
		person = s.addPerson(who)
	}
	if sent := chat.Sent(); about == "last" && len(sent) > 0 {
		about = strconv.FormatInt(sent[len(sent)-1].ID, 10)
	}
	switch verb {
	case "edit":
		chat.Edits(s.message(about), text)
	case "press":
		if !person.Presses(chat, s.message(about), text) {
			person.PressesData(chat, s.message(about), text) // as a client may that was made for it
		}
	case "asks":
		person.AsksGuest(chat, s.bot, text, faketelegram.PostOptions{ReplyTo: s.message(reply)})
	case "stops":
		if !person.StopsDraft(chat) {
			t.Errorf("%s sees no draft to stop", who)
		}
	case "react":
		chat.Reacts(person, s.message(about), strings.Fields(text)...)
	case "pin":
		chat.Pins(person, s.message(about))
	case "joins":
		chat.Joins(person)
	case "leaves":
		chat.Leaves(person, person)
	case "rename":
		chat.Renames(person, text)
	case "promote":
		chat.Promotes(person, s.bot)
	case "file":
		name, content, given := strings.Cut(text, " ")
		if !given {
			content = "a,b"
		}
		file := faketelegram.SharedFile{Kind: "document", Name: name, MIME: "text/csv", Data: []byte(content)}
		chat.Says(person, "", faketelegram.PostOptions{File: &file})
	default:
		id := s.says(chat, person, text, s.message(reply), s.topics[where+"/"+topic])
		if label != "" {
			s.labels[label] = id
		}
	}
}

// message returns the message that a scene names by its label, or by its number
// in the chat: copies have no label.
func (s *scene) message(name string) int64 {
	if n, err := strconv.ParseInt(name, 10, 64); err == nil {
		return n
	}
	return s.labels[name]
}

// script reads -- model --: what the agents' model answers, a line each, in the
// order it is asked by that agent.
func script(t *testing.T, text string) []llmtest.ScriptStep {
	t.Helper()
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	var steps []llmtest.ScriptStep
	for i, line := range lines {
		if goesOn(lines[i+1:], line) {
			line = message.ReplaceAllString(line, `$1{"more":true,`)
			line = messageTag.ReplaceAllString(line, `<$1 more="true" k=`)
		}
		steps = append(steps, scriptLine(t, line, len(steps)))
	}
	return steps
}

// message is the beginning of a call that says something, or of a tag that does.
var message = regexp.MustCompile(`((?:^\w+ (?:acts|slowly \S+|grows \S+): |&& )send_(?:message|reply|file) )\{`)

var messageTag = regexp.MustCompile(`<(msg|reply) k=`)

// goesOn reports whether the run that a line is part of has another line among the next
// ones: then a message in it must not end the run.
func goesOn(next []string, line string) bool {
	agent, _, _ := strings.Cut(line, " ")
	for _, l := range next {
		if who, what, _ := strings.Cut(l, " "); who == agent {
			return !strings.HasPrefix(what, "thinks") && !strings.Contains(line, " || ")
		}
	}
	return false
}

var scriptForm = regexp.MustCompile(`^(\w+) (thinks|acts|rests|fails|hangs|slowly|grows)(?: (\S+))?: ?(.*)$`)

// scriptLine reads one line:
//
//	ada thinks: free text
//	ada acts: send_message {"text":"hi"} && note {"text":"x"} || text beside the acts
//	ada rests: Responded to Kai about lunch. …
//	ada fails: timeout                         ada fails: denied Insufficient balance     ada fails: too_long 8192
//	ada hangs:                                 for five minutes, or until it is not waited for
//	ada slowly 5s: send_message {"text":"hi"}
//	ada grows 1s: send_message {"text":"hi"}   four words a second
func scriptLine(t *testing.T, line string, n int) llmtest.ScriptStep {
	t.Helper()
	m := scriptForm.FindStringSubmatch(line)
	if m == nil {
		t.Fatalf("the script has a line nobody understands: %s", line)
	}
	agent, verb, arg, rest := m[1], m[2], m[3], strings.ReplaceAll(m[4], `\n`, "\n")
	thinking := verb == "thinks"
	step := llmtest.ScriptStep{When: func(r llm.ModelRequest) bool {
		return strings.Contains(r.Messages[0].Text, "(entity agent:"+agent+")") && (!thinking || r.NoCalls) && (verb == "fails" || verb == "hangs" || thinking == r.NoCalls)
	}}
	switch verb {
	case "thinks", "rests":
		step.Response = llmtest.Says(rest).Response
	case "fails":
		kind, words, _ := strings.Cut(rest, " ")
		failure := llmtest.Fails(kindNamed(t, kind)).Err.(*llm.Error) //nolint:errorlint,forcetypeassert // as it is made
		switch window, err := strconv.Atoi(words); {
		case err == nil:
			failure.Window = window
		case words != "":
			failure.Err = errors.New(words)
		}
		step.Err = failure
	case "hangs":
		step.Err = &llm.Error{Kind: llm.Timeout, Hung: true, Err: errors.New("no word of an answer")}
		return delayed(t, step, "5m")
	default:
		calls, beside, _ := strings.Cut(rest, " || ")
		for i, call := range strings.Split(calls, " && ") {
			name, args, _ := strings.Cut(call, " ")
			step.Response.Calls = append(step.Response.Calls, llm.ToolCall{ID: fmt.Sprintf("call%d_%d", n+1, i+1), Name: name, Args: args})
		}
		step.Response.Text, step.Response.Finish = beside, llm.Called
	}
	if verb == "grows" {
		gap, err := time.ParseDuration(arg)
		testutil.OK(t, err)
		step.Gap = gap
	}
	if verb != "slowly" {
		arg = "1s" // so that whatever the last step set off is over
	}
	return delayed(t, step, arg)
}

func kindNamed(t *testing.T, name string) llm.ErrorKind {
	t.Helper()
	for k := llm.Unavailable; k <= llm.TooLong; k++ {
		if k.String() == name {
			return k
		}
	}
	t.Fatalf("the model has no failure %q", name)
	return 0
}

// delayed gives the step's answer only after a while.
func delayed(t *testing.T, step llmtest.ScriptStep, wait string) llmtest.ScriptStep {
	t.Helper()
	d, err := time.ParseDuration(wait)
	testutil.OK(t, err)
	res, failure := step.Response, step.Err
	step.Do = func(ctx context.Context, _ llm.ModelRequest) (llm.ModelResponse, error) {
		select {
		case <-time.After(d):
			return res, failure
		case <-ctx.Done():
			return llm.ModelResponse{}, llm.Interrupted(ctx)
		}
	}
	return step
}
