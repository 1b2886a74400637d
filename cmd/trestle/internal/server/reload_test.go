package server

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"

	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

const (
	carefulAda = "agents: {ada: {name: Ada, persona: \"You are careful.\"}}\nspaces: {den: {agents: [ada], wake: all, chats: [\"telegram:-1001000000001\"]}}\n"
	boldAda    = "agents: {ada: {name: Ada, persona: \"You are bold.\"}}\nspaces: {den: {agents: [ada], wake: all, chats: [\"telegram:-1001000000001\"]}}\n"
	noSuchKey  = "agents: {ada: {name: Ada, persnoa: \"You are odd.\"}}\nspaces: {den: {agents: [ada], wake: none, chats: [\"telegram:-1001000000001\"]}}\n"
)

// watching runs a reloader on the world until stop is called.
func (w *world) watching(asked chan os.Signal) (r *reloader, stop func()) {
	ctx, cancel := context.WithCancel(w.t.Context())
	file := filepath.Join(w.dir, "trestle.yaml")
	r = NewReloader(w.process.AccountManager, config.LoadOptions{Path: file, Lookup: func(string) (string, bool) { return "", false }}, config.Load, asked)
	var g errgroup.Group
	g.Go(func() error { return r.Run(ctx) })
	synctest.Wait()
	return r, func() {
		cancel()
		if err := g.Wait(); err != nil {
			w.t.Error(err)
		}
	}
}

// ECOSYSTEM 4: a changed file counts by itself, an invalid one changes nothing
// and is said, and the mend of it counts again.
func TestAChangedFileCountsWhileEverythingRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := llmtest.Says
		w := newWorld(t, carefulAda, answer("thinking"), answer("Responded to Kai."), answer("thinking"), answer("Responded to Kai."))
		w.addChat("den", "supergroup", []string{"Kai"})
		r, stop := w.watching(nil)
		kai := w.people["Kai"]

		w.write(noSuchKey)
		pass(5 * time.Second)
		if wrong := r.Invalid(); len(wrong) != 1 || !strings.Contains(wrong[0].Do, "persona") || wrong[0].Entry != "agents.ada" {
			t.Errorf("what is wrong: %+v", wrong)
		}
		if x := r.extensions(); len(x) != 1 || x[0].Healthy || !strings.Contains(x[0].Reason, "unknown key") {
			t.Errorf("health says %+v", x)
		}
		w.chats["den"].Says(kai, "hello", faketelegram.PostOptions{})
		w.settle()
		if !strings.Contains(w.system(), "You are careful.") {
			t.Error("an invalid file changed the persona")
		}

		w.write(boldAda)
		pass(5 * time.Second)
		if len(r.Invalid()) > 0 {
			t.Errorf("still invalid: %+v", r.Invalid())
		}
		w.chats["den"].Says(kai, "hello again", faketelegram.PostOptions{})
		w.settle()
		if !strings.Contains(w.system(), "You are bold.") {
			t.Error("the mended file does not count")
		}
		stop()
		w.stop()
	})
}

// A file that goes away is no wish to go on without one.
func TestAFileThatIsGoneChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, carefulAda)
		asked := make(chan os.Signal)
		r, stop := w.watching(asked)
		testutil.OK(t, os.Remove(filepath.Join(w.dir, "trestle.yaml")))
		asked <- syscall.SIGHUP
		synctest.Wait()
		if wrong := r.Invalid(); len(wrong) != 1 || wrong[0].Level != config.LevelFatal || len(w.process.Config().Spaces) != 1 {
			t.Errorf("what is wrong: %+v; spaces %+v", wrong, w.process.Config().Spaces)
		}
		stop()
		w.stop()
	})
}

// What only a start reads stays as it is, and its change is called so.
func TestWhatNeedsAStartIsNotTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, carefulAda)
		before := w.process.Config()
		w.config = carefulAda + "admit: open\nlimits: {outgoing: off}\nwebhook_listen: 127.0.0.1:1\n"
		next := w.load()
		var late []string
		for _, c := range config.CompareConfigs(before, next) {
			if c.AtStart {
				late = append(late, c.Path)
			}
		}
		if got := strings.Join(late, " "); got != "webhook_listen limits.outgoing" {
			t.Errorf("what waits for a start: %s", got)
		}
		testutil.OK(t, w.process.apply(t.Context(), next))
		now := w.process.Config()
		if now.Admit != "open" || now.Outgoing != "platform" || now.WebhookListen != "" || now.Data != before.Data {
			t.Errorf("in force is %+v", now)
		}
		w.stop()
	})
}

// write replaces the world's configuration on disk.
func (w *world) write(text string) {
	w.t.Helper()
	w.config = text
	w.save()
}

// system returns the system message that the model was last asked with.
func (w *world) system() string {
	requests := w.model.Requests()
	return requests[len(requests)-1].Messages[0].Text
}
