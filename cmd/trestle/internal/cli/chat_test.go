package cli

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/adapters/local"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/control"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/server"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/terminal"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// ECOSYSTEM 3.2: chat --as speaks as another, --show tells what is there
// behind an answer, both through a running process and without one.
func TestChatSpeaksUnderANameAndShowsWhatIsBehind(t *testing.T) {
	for name, running := range map[string]bool{"running": true, "alone": false} {
		t.Run(name, func(t *testing.T) {
			s := stage0(t)
			if running {
				s.serve(t)
			}
			out, errs, code := s.do(t, "hello\n", "chat", "--as", "Zoe", "--show", "hud,steps")
			if code != apperr.Done || strings.Count(out, "hello") != 1 {
				t.Fatalf("exit %s: %q %s", code, out, errs)
			}
			for _, want := range []string{"  hud    ", "keyframe", "engagement", "send_message {", "  ended  completed"} {
				if !strings.Contains(errs, want) {
					t.Errorf("%q is not shown in\n%s", want, errs)
				}
			}
			if out, _, _ := s.do(t, "", "events"); !strings.Contains(out, `Zoe   "hello"`) {
				t.Errorf("nobody called Zoe has spoken:\n%s", out)
			}
			if _, errs, _ := s.do(t, "again\n", "chat"); strings.Contains(errs, "hud") {
				t.Errorf("shown without being asked: %s", errs)
			}
		})
	}
}

// ECOSYSTEM 1 rule 8: a person who writes in a room where plain messages wake no agent
// is told so; in other rooms it is not said.
func TestChatSaysHowAgentsAreWoken(t *testing.T) {
	const named = "in den agents answer when they are named: "
	const away = "adapters: {telegram: {type: telegram, token: \"1:a\", api_url: \"http://127.0.0.1:1\"}}\n"
	for text, want := range map[string]string{
		"agents: {ada: {name: Ada}}\nspaces: {den: {agents: [ada]}}\n":                                   "",
		"agents: {ada: {name: Ada}}\nspaces: {den: {agents: [ada], wake: all}}\n":                        "",
		"agents: {ada: {name: Ada}}\nspaces: {den: {agents: [ada], wake: mention}}\n":                    named + "@Ada\n",
		"agents: {ada: {name: Ada}}\nspaces: {den: {agents: [ada], wake: none}}\n":                       named + "@Ada\n",
		"agents: {ada: {name: Ada}, max: {name: Max}}\nspaces: {den: {agents: [ada, max]}}\n":            named + "@Ada, @Max\n",
		"agents: {ada: {name: Ada}, max: {name: Max, wake: all}}\nspaces: {den: {agents: [ada, max]}}\n": "",
		away + "agents: {ada: {name: Ada}}\nspaces: {den: {agents: [ada], chats: [\"telegram:-1\"]}}\n":  named + "@Ada\n",
		away + "agents: {ada: {name: Ada}}\nspaces: {home: {agents: [ada], chats: [\"telegram:-1\"]}}\n": "in home agents answer when they are named: @Ada\n",
		"wake: mention\nagents: {ada: {name: Ada}}\n":                                                    "",
		"agents: {ada: {name: Ada, wake: none}}\n":                                                       "in home agents answer when they are named: @Ada\n",
	} {
		s := stage0(t)
		s.write(t, text, 0o600)
		for _, word := range []string{"chat", "run"} {
			if word == "run" && strings.HasPrefix(text, away) {
				continue // it serves what is away
			}
			out, errs, code := s.do(t, "hello\n", word, "-q")
			if code != apperr.Done || !strings.HasPrefix(errs, want) || strings.Contains(errs, "are named") != (want != "") || (out != "") != (want == "") {
				t.Errorf("%s with\n%sexit %s: %q, said %q, want %q", word, text, code, out, errs, want)
			}
		}
	}
}

// A line that wakes no agent is answered with the reason, through a running process and without
// one; a command and a line that wakes an agent are not.
func TestChatSaysWhyALineWakesNoAgent(t *testing.T) {
	const unnamed = "not addressed: no agent of this room was named; write @Ada or @Max for an answer"
	for name, running := range map[string]bool{"running": true, "alone": false} {
		t.Run(name, func(t *testing.T) {
			s := stage0(t)
			s.write(t, "agents: {ada: {name: Ada}, max: {name: Max}}\nspaces: {den: {agents: [ada, max]}}\n", 0o600)
			if running {
				s.serve(t)
			}
			for _, c := range []struct{ text, want string }{
				{"hello", unnamed},
				{"@Ada hello", ""},
				{"/help", ""},
				{"/mute", ""},
				{"hello again", "not answered: no agent was woken (Ada: the agent is muted here; Max: the agent is muted here)"},
			} {
				_, errs, code := s.do(t, c.text+"\n", "chat", "-q")
				var told []string
				for line := range strings.Lines(errs) {
					if strings.HasPrefix(line, "not ") {
						told = append(told, strings.TrimSpace(line))
					}
				}
				if got := strings.Join(told, "|"); code != apperr.Done || got != c.want {
					t.Errorf("%q: exit %s, told %q, want %q", c.text, code, got, c.want)
				}
			}
		})
	}
}

// ECOSYSTEM 3.2: in a room of several agents the terminal shows who of them speaks;
// people's words from another chat say so themselves.
func TestChatShowsWhichAgentSpeaks(t *testing.T) {
	s := stage0(t)
	s.write(t, "agents: {ada: {name: Ada}, max: {name: Max}}\nspaces: {kitchen: {agents: [ada, max]}}\n", 0o600)
	s.serve(t)
	ctx, leave := context.WithCancel(t.Context())
	c, _ := control.DialSocket(ctx, filepath.Join(s.folder, "data", control.SocketName))
	far, left := terminal.NewRemoteRoom(c, terminal.ChatOptions{Room: "kitchen"}), make(chan struct{})
	go func() {
		defer close(left)
		_ = c.Stream(ctx, "/chat?space=kitchen", func(body io.Reader) error { return far.ReadStream(ctx, body) }) // it is told to leave
	}()
	defer func() {
		leave()
		<-left
	}()
	<-far.Opened
	for _, name := range []string{"Max", "Ada"} {
		_, err := far.Say(ctx, "@"+name+" hello")
		testutil.OK(t, err)
		for {
			h, err := far.Hear(ctx)
			testutil.OK(t, err)
			if h.Kind != "posted" {
				continue
			}
			if got, want := terminal.LineText(h, terminal.LineForm{Names: true}), name+": (offline model) You said"; !strings.HasPrefix(got, want) {
				t.Errorf("shown is %q, want %q", got, want)
			}
			break
		}
	}
}

// Beside one agent alone whatever is done has its name; what several share has that
// of the account.
func TestChatNamesWhoActs(t *testing.T) {
	for text, want := range map[string][]string{
		"agents: {ada: {name: Ada}}\nspaces: {den: {agents: [ada]}}\n": {"Ada: hi", "Ada: hi", "**Lee** (Telegram): hi", "Ada 👍"},
		"agents: {ada: {name: Ada}, max: {name: Max}}\nspaces: {den: {agents: [ada, max]}}\n": {
			"Trestle: hi", "Ada: hi", "**Lee** (Telegram): hi", "Trestle 👍",
		},
	} {
		s := stage0(t)
		s.write(t, text, 0o600)
		conf, err := s.program(nil, io.Discard, io.Discard).load()
		testutil.OK(t, err)
		place := &server.LocalRoom{Spaces: server.NewServer(conf, slog.New(slog.DiscardHandler), io.Discard, false).SpaceManager, Room: conf.Spaces[0]}
		var got []string
		for _, shown := range []local.RoomEvent{
			local.MessagePosted{Text: "hi"}, local.MessagePosted{From: "Ada", Text: "hi"}, local.MessagePosted{From: "Lee (Telegram)", Text: "**Lee** (Telegram): hi"}, local.ReactionSet{Emoji: "👍"},
		} {
			got = append(got, terminal.LineText(place.Line(shown), terminal.LineForm{Names: true}))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("shown in\n%s(-want +got):\n%s", text, diff)
		}
	}
}

// ECOSYSTEM 3.2: what is shown is of the room that is talked in, which without a
// name is the first of the configuration, not the oldest of the record.
func TestChatShowsWhatIsBehindTheRoomItIsIn(t *testing.T) {
	s := stage0(t)
	den, hall := "den: {agents: [ada], wake: all}", "hall: {agents: [ada], wake: all}"
	for i, rooms := range []string{den, hall + ", " + den} {
		testutil.OK(t, os.WriteFile(filepath.Join(s.folder, "trestle.yaml"), []byte("agents: {ada: {name: Ada}}\nspaces: {"+rooms+"}\n"), 0o600))
		if i == 1 {
			s.serve(t)
		}
		_, errs, code := s.do(t, "hello\n", "chat", "--show", "steps")
		if code != apperr.Done || !strings.Contains(errs, "  ended  completed") {
			t.Errorf("with the rooms %s: exit %s, shown %q", rooms, code, errs)
		}
	}
}

// cutShort is a model whose answers are all cut at the limit of their tokens.
type cutShort struct{}

func (cutShort) Generate(context.Context, llm.ModelRequest) (llm.ModelResponse, error) {
	return llm.ModelResponse{Finish: llm.Length}, nil
}

// ECOSYSTEM 1 rule 6: a person in a terminal is told why there is no answer, and where
// to read more.
func TestChatSaysWhyThereIsNoAnswer(t *testing.T) {
	s := stage{folder: t.TempDir(), env: "OPENAI_BASE_URL=" + onModel(t, &llmtest.Server{Model: cutShort{}})}
	out, errs, code := s.do(t, "hello\n", "chat")
	if code != apperr.Done || !strings.HasPrefix(out, "I could not answer this") || !strings.Contains(errs, "  no answer: answers were cut at the token limit; see trestle explain ") {
		t.Errorf("exit %s: %q, said %q", code, out, errs)
	}
}

// leaver is a model that is asked as a person loses patience.
type leaver struct{ leave func() }

func (m leaver) Generate(context.Context, llm.ModelRequest) (llm.ModelResponse, error) {
	m.leave()
	return llm.ModelResponse{}, &llm.Error{Kind: llm.Denied}
}

// ECOSYSTEM 3.1: interrupting the wait for an answer is not reported as a failure.
func TestInterruptedChatIsNoFailure(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	s := stage{folder: t.TempDir(), env: "OPENAI_BASE_URL=" + onModel(t, &llmtest.Server{Model: leaver{stop}})}
	var errs screen
	code := s.program(strings.NewReader("hello\n"), io.Discard, &errs).Run(ctx, []string{"chat"})
	if code != apperr.Interrupted || !strings.Contains(errs.String(), "trestle: interrupted") {
		t.Errorf("exit %s: %s", code, &errs)
	}
}
