package cli

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	fakeslack "github.com/trestle-bridge/trestle/adapters/fake/slack"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// A slackStage is a folder with a configuration, and a Slack in which the channel
// of its space is.
type slackStage struct {
	stage
	slack *fakeslack.Server
	app   *fakeslack.WorkspaceApp
	maya  *fakeslack.HumanUser
	ops   *fakeslack.WorkspaceChannel
}

func newSlackStage(t *testing.T) *slackStage {
	t.Helper()
	s := &slackStage{stage: stage0(t), slack: fakeslack.New(fakeslack.Options{})}
	s.slack.Behind(72 * time.Hour)
	s.app = s.slack.AddApp(fakeslack.AppProfile{Name: "Ada", BotToken: "xoxb-ada", AppToken: "xapp-ada"})
	s.maya = s.slack.AddPerson(fakeslack.UserProfile{Name: "Maya"})
	s.ops = s.slack.NewChannel("ops", s.maya)
	s.ops.Invites(s.maya, s.app)
	api := httptest.NewServer(s.slack)
	t.Cleanup(api.Close)
	conf := "listen: \"\"\nadapters:\n  acme: {type: slack, bot_token: \"xoxb-ada\", app_token: \"xapp-ada\", api_url: \"" + api.URL + "\"}\n" +
		fmt.Sprintf("spaces:\n  ops: {name: Operations, wake: none, chats: [\"acme:%s\"]}\n", s.ops.ID)
	testutil.OK(t, os.WriteFile(filepath.Join(s.folder, "trestle.yaml"), []byte(conf), 0o600))
	return s
}

// log returns what was said in the space, and which of it is past.
func (s *slackStage) log(t *testing.T) (said []string) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Options{Dir: filepath.Join(s.folder, "data"), NewID: storeopen.NewID})
	testutil.OK(t, err)
	defer func() {
		if err := store.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	chats, err := store.Border().Chats(t.Context(), "slack:"+s.slack.Team()+"-"+s.app.User(), "")
	if err != nil || len(chats) == 0 {
		t.Fatalf("the channel has no space: %v", err)
	}
	events, err := store.Shell().Events(t.Context(), chats[0].Space, spaces.Primary, 0, 1000)
	testutil.OK(t, err)
	for _, e := range events {
		if b, ok := e.Body.(spaces.MessagePosted); ok {
			said = append(said, fmt.Sprintf("%s past=%t", b.Text, b.Past))
		}
	}
	return said
}

// SEQ-04, ECOSYSTEM 7: messages from before the app was connected are read from
// history, once, with their threads, and wake no agent.
func TestHistoryIsBroughtInOnce(t *testing.T) {
	s := newSlackStage(t)
	var want []string
	for i := range 25 {
		words := fmt.Sprintf("past %d", i)
		root := s.ops.Says(s.maya, words, fakeslack.PostOptions{})
		want = append(want, words+" past=true")
		if i%10 == 0 {
			s.ops.Says(s.maya, words+" answered", fakeslack.PostOptions{Thread: root})
			want = append(want, words+" answered past=true")
		}
	}
	s.app.Forget()
	s.slack.Behind(0)
	t.Run("running", func(t *testing.T) {
		s.serve(t)
		for range 2 { // the second changes nothing
			if out, errs, code := s.do(t, "", "backfill", "Operations", "--since", "30d"); code != apperr.Done || !strings.Contains(out, "28 messages") {
				t.Fatalf("exit %s\n%s%s", code, out, errs)
			}
		}
	})
	testutil.Same(t, "the log", want, s.log(t))
}

// SEQ-04: where no process is connected to the platforms, the command reads the
// history itself; what cannot be read is said with its reason.
func TestHistoryIsBroughtInWithoutARunningProcess(t *testing.T) {
	s := newSlackStage(t)
	root := s.ops.Says(s.maya, "past words", fakeslack.PostOptions{})
	s.ops.Says(s.maya, "and an answer", fakeslack.PostOptions{Thread: root})
	s.app.Forget()
	s.slack.Behind(0)
	t.Run("opened", func(t *testing.T) { s.serve(t) }) // so that the space is there
	for _, space := range []string{"Operations", "ops"} {
		if out, errs, code := s.do(t, "", "backfill", space, "--since", "30d"); code != apperr.Done || !strings.Contains(out, "2 messages") {
			t.Fatalf("%s: exit %s\n%s%s", space, code, out, errs)
		}
	}
	testutil.Same(t, "the log", []string{"past words past=true", "and an answer past=true"}, s.log(t))
	s.app.Revoke()
	if _, errs, code := s.do(t, "", "backfill", "ops"); code != apperr.Failed || !strings.Contains(errs, "token_revoked") {
		t.Errorf("with a dead token: exit %s: %s", code, errs)
	}
	if _, errs, code := s.do(t, "", "backfill", "nowhere"); code != apperr.Failed || !strings.Contains(errs, "trestle spaces") {
		t.Errorf("of an unknown space: exit %s: %s", code, errs)
	}
}
