package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/term"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/buildinfo"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/server"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/terminal"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/demo"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/store/readmodel"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
)

// hurried are the times of the connection that a demo cuts, short enough to be watched: until
// its silence closes connection spans, and between attempts to reach it.
func hurried() map[string]activity.ConnectionOptions {
	return map[string]activity.ConnectionOptions{"telegram": {SilenceLimit: 4 * time.Second, RetryMax: time.Second}}
}

// demoHold is how long a platform of the demo holds a poll open.
const demoHold = 3 * time.Second

// demoRoom is the room a person at the demo's terminal is in.
const demoRoom = "family"

// demoCommand answers `trestle run --demo`.
type demoCommand struct{ installation }

// demo serves a scripted conversation on fake platforms of this machine until it is
// interrupted. Its data is in a temporary folder.
func (cmd demoCommand) demo(ctx context.Context, modelURL string) (err error) {
	ctx, stop := stoppable(ctx)
	defer stop()
	dir, err := os.MkdirTemp("", "trestle-demo-")
	if err != nil {
		return &apperr.Error{What: "there is no room for the demo: " + err.Error(), Where: os.TempDir(), Remedy: "free some space, or point TMPDIR elsewhere", Code: apperr.Failed}
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	g, ctx := errgroup.WithContext(ctx)
	stage, err := demo.NewStage(ctx, listenLocally)
	if err != nil {
		return err
	}
	g.Go(func() error { return stage.Run(ctx) })
	g.Go(func() error {
		defer stop() // the platforms end with the program
		s, err := cmd.demoProcess(ctx, stage, dir, modelURL)
		if err != nil {
			return err
		}
		if s.Listener != nil {
			defer func() { _ = s.Listener.Close() }() // it may have been served, and is closed
		}
		return s.Run(ctx, func(ctx context.Context) error { return cmd.showDemo(ctx, s, stage) })
	})
	return g.Wait()
}

// listenLocally opens an address of this machine; "" chooses one.
func listenLocally(ctx context.Context, address string) (net.Listener, error) {
	return new(net.ListenConfig).Listen(ctx, "tcp", cmp.Or(address, "127.0.0.1:0"))
}

// demoProcess prepares the process of a demo with short times and, unless there is a real
// endpoint, the demo's model.
func (cmd demoCommand) demoProcess(ctx context.Context, stage *demo.PlatformSet, dir, modelURL string) (s *server.Server, err error) {
	endpoint, err := cmd.demoModel(ctx, modelURL)
	if err != nil {
		return nil, err
	}
	address, ln, err := cmd.demoAddress(ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil && ln != nil {
			_ = ln.Close() // it was not announced
		}
	}()
	file := filepath.Join(dir, "trestle.yaml")
	text := fmt.Sprintf("data: %q\nlisten: %q\n%s%s", dir, address, endpoint, stage.Config())
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	conf, err := config.Load(config.LoadOptions{Path: file, Lookup: func(string) (string, bool) { return "", false }})
	if err != nil {
		return nil, err
	}
	s = newServer(conf, cmd.logger(slog.LevelError), io.Discard, true)
	s.Times, s.Hold, s.Listener = hurried(), demoHold, ln
	if modelURL == "" {
		s.Models = func(config.ModelEndpoint) llm.ChatModel { return demo.StoryModel{} }
	}
	return s, nil
}

// demoModel returns the configuration of the model at url; empty without one.
func (cmd demoCommand) demoModel(ctx context.Context, url string) (string, error) {
	if url == "" {
		return "model: {base_url: \"http://demo.invalid\", name: scripted}\n", nil
	}
	key, _ := cmd.Lookup("OPENAI_API_KEY")
	name, _ := cmd.Lookup("TRESTLE_MODEL")
	if name == "" {
		var err error
		if name, err = demo.FirstModel(ctx, http.DefaultClient, url, key); err != nil {
			return "", &apperr.Error{What: "the endpoint names no model: " + err.Error(), Where: "--model " + url, Remedy: "start it, or name a model with TRESTLE_MODEL", Code: apperr.Failed}
		}
	}
	return fmt.Sprintf("model: {base_url: %q, api_key: %q, name: %q}\n", url, key, name), nil
}

// demoAddress returns where the demo serves health: the usual address or, if that is taken,
// any. Unless the address was named, it is open already, so that no other program can take it.
func (cmd demoCommand) demoAddress(ctx context.Context) (address string, ln net.Listener, err error) {
	if named, ok := cmd.Lookup("TRESTLE_LISTEN"); ok {
		return named, nil, nil
	}
	if ln, err = listenLocally(ctx, config.DefaultListen); err != nil {
		ln, err = listenLocally(ctx, "")
	}
	if err != nil {
		return "", nil, &apperr.Error{What: "no address of this machine can be listened on: " + err.Error(), Where: "run --demo", Remedy: "name one with TRESTLE_LISTEN", Code: apperr.TryAgain}
	}
	return ln.Addr().String(), ln, nil
}

// showDemo plays the story and prints it until ctx is done or the person at the terminal
// leaves.
func (cmd demoCommand) showDemo(ctx context.Context, s *server.Server, stage *demo.PlatformSet) error {
	select {
	case <-s.Ready:
	case <-ctx.Done():
		return nil
	}
	live := s.Bus.Open(1024)
	defer live.Close()
	t := &timelineWriter{json: cmd.output == "json" || cmd.output == "jsonl", out: cmd.Out, began: time.Now()}
	narrator := &demo.Narrator{Record: demoRecord{s.Store.Console(), s.Store.Shell()}, Live: live, Tell: t.tell}
	play := &demo.StoryPlayer{Stage: stage, Tell: t.tell, Recovered: narrator.Recovered}
	in, restore, err := cmd.demoInput(t)
	if err != nil {
		return err
	}
	defer restore()
	if !t.json {
		cmd.demoBanner(ctx, t.out, s, stage)
	}
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return narrator.Run(ctx) })
	g.Go(func() error { return play.Run(ctx) })
	g.Go(func() error {
		if in.next == nil {
			return nil
		}
		defer func() {
			if in.ends {
				leave()
			}
		}()
		return sayTyped(ctx, s, in, t)
	})
	g.Go(func() error { <-ctx.Done(); return nil })
	return g.Wait()
}

// demoRecord implements what a narrator reads.
type demoRecord struct {
	readmodel.ReadModel
	sqlstore.AgentStore
}

func (cmd demoCommand) demoBanner(ctx context.Context, w io.Writer, s *server.Server, stage *demo.PlatformSet) {
	fmt.Fprintf(w, "  trestle %s   demo: nothing leaves this machine, nothing is kept\n", buildinfo.Current().Version)
	if s.ListenAt != "" {
		fmt.Fprintf(w, "  console   %s\n", s.LoginAddress(ctx))
	}
	if s.Models == nil {
		fmt.Fprintf(w, "  model     %s at %s\n", s.Config().Model.Name, s.Config().Model.BaseURL)
	} else {
		fmt.Fprintf(w, "  model     offline: a scripted stand-in, it only knows this demo\n")
		if found := demo.Found(ctx, http.DefaultClient, cmd.Endpoints); found != "" {
			fmt.Fprintf(w, "  found     a model endpoint at %s, not used: trestle run --demo --model %s\n", found, found)
		}
	}
	fmt.Fprintf(w, "  rooms     %s       * served by trestle itself\n", stage.Legend())
	fmt.Fprintf(w, "  join      trestle chat %s --data %s", demoRoom, s.Config().Data)
	if cmd.input() != inputNone {
		fmt.Fprintf(w, "   or type here: you are in %s, and @Ada wakes her", demoRoom)
	}
	fmt.Fprintf(w, "        next: trestle init\n\n")
}

// A timelineWriter writes what happens in columns, each line with the time since it
// began. It is safe for concurrent use.
type timelineWriter struct {
	json bool

	mu    sync.Mutex // guards out
	out   io.Writer
	began time.Time
}

// timelineEvent is one line of the demo as JSON.
type timelineEvent struct {
	Seconds float64 `json:"seconds"` // since the demo began
	Where   string  `json:"where"`   // a room, an agent or a platform; empty for the demo itself
	Text    string  `json:"text"`
}

func (t *timelineWriter) tell(where, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	since := time.Since(t.began)
	if t.json {
		_ = json.NewEncoder(t.out).Encode(timelineEvent{since.Seconds(), where, text}) // the reader may have gone
		return
	}
	seconds := int(since.Seconds())
	fmt.Fprintf(t.out, "  %02d:%02d  %-12s %s\n", seconds/60, seconds%60, where, textout.EscapeControls(text))
}

// typing reads what a person at the demo writes, line by line.
type typing struct {
	next func() (string, error) // nil: no person
	ends bool                   // their leaving ends the demo
}

// demoInput returns a reader of the person at stdin, and a function that restores the terminal.
// In a terminal the story is printed around the line that is being written.
func (cmd demoCommand) demoInput(t *timelineWriter) (in typing, restore func(), err error) {
	switch cmd.input() {
	case inputNone:
		return typing{}, func() {}, nil
	case inputLines:
		lines := bufio.NewScanner(cmd.In)
		return typing{next: func() (string, error) {
			if lines.Scan() {
				return lines.Text(), nil
			}
			return "", errors.Join(lines.Err(), io.EOF)
		}}, func() {}, nil
	case inputTerminal:
	}
	file := cmd.In.(*os.File)
	state, err := term.MakeRaw(int(file.Fd()))
	if err != nil {
		return typing{}, nil, err
	}
	screen := terminal.OpenTerminal(file, cmd.Out)
	t.out = screen
	return typing{screen.ReadMessage, true}, func() { terminal.CloseTerminal(screen, file, state, cmd.Out) }, nil
}

// sayTyped posts typed lines as the person in the demo's room. A read cannot be interrupted, so
// one may remain when the program ends.
func sayTyped(ctx context.Context, s *server.Server, in typing, t *timelineWriter) error {
	place, err := s.EnterRoom(ctx, demoRoom)
	if err != nil {
		return err
	}
	defer s.Leave(ctx, place)
	ctx, leave := context.WithCancel(ctx)
	var reasons sync.WaitGroup
	defer reasons.Wait()
	defer leave()
	return terminal.ForEachMessage(ctx, in.next, func(text string) error {
		message, err := place.Say(ctx, text)
		if err == nil {
			reasons.Go(func() {
				if reason, err := place.Reason(ctx, message); err == nil && reason != "" {
					t.tell(demoRoom, reason)
				}
			})
		}
		return err
	})
}
