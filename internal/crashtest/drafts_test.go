//go:build faultinject

package crashtest

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/internal/failpoint"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// draftPoints are where a run is killed whose answer grows as a message.
var draftPoints = []string{"draft.begun", "draft.posted", "draft.kept", "draft.edited", "outbox.sending", "send.accepted", "receipt.committed"}

// DELIVERY 2.3, K22: killed anywhere between the first words that people see and the
// receipt of what was decided, the answer is in the chat once. Where the platform
// cannot be asked what it took, one unfinished beginning may be left.
func TestAGrowingAnswerSurvivesAKillWithoutACopy(t *testing.T) {
	var playing sync.WaitGroup
	turn := make(chan struct{}, *hands)
	for platform, open := range map[string]func(*testing.T, uint64) *stage{"telegram": telegramStage, "slack": slackStage, "discord": discordStage} {
		for _, name := range draftPoints {
			if *only != "" && *only != "K22" {
				continue
			}
			playing.Go(func() {
				turn <- struct{}{}
				defer func() { <-turn }()
				t.Run(platform+"/"+name, func(t *testing.T) {
					left := 0
					if platform == "telegram" && name == "draft.posted" {
						left = 1
					}
					grows(t, open(t, seedOf(platform+name, 0)), name, left)
				})
			})
		}
	}
	playing.Wait()
}

// grows is one case: a person asks for a long answer, the program is killed at the
// point, and the next one ends what it began. left bounds the beginnings that are left
// behind.
func grows(t *testing.T, s *stage, name string, left int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*caseLimit)
	defer cancel()
	s.model.Gap = 12 * time.Millisecond // a long answer takes some seconds
	prog := s.program(t, false, "streaming: edits\non_stale: send\n")
	if s.resumes {
		prog.start(t, nil)
		s.connects(ctx, t, prog)
		if !await(ctx, func() bool { return !prog.busy(ctx) }) {
			t.Fatal("the program did not come to rest")
		}
		testutil.OK(t, prog.stop(ctx))
	}
	prog.start(t, failpoint.FaultPlan{{Point: name, Hit: 1, Action: failpoint.Kill}})
	s.connects(ctx, t, prog)
	s.speaks(1, false)
	testutil.OK(t, prog.killed(ctx))
	if want, known := map[string]int{"draft.begun": 0, "draft.posted": 1, "draft.kept": 1, "draft.edited": 1}[name]; known && len(s.posted()) != want {
		t.Errorf("at the kill people see %d messages, want %d", len(s.posted()), want)
	}
	if n := draftsIn(t, copyRecord(t, prog.data)); name != "receipt.committed" && n != 1 {
		t.Errorf("at the kill the record has %d drafts, want one", n)
	}
	if i := slices.IndexFunc(s.posted(), func(m posted) bool { return m.face != "Ada" }); s.more != "" && i >= 0 {
		t.Errorf("the growing answer is no webhook's: %+v", s.posted()[i])
	}
	s.speaks(3, false)
	prog.start(t, nil)
	if !await(ctx, func() bool { return len(s.unheard()) == 0 && s.unacked() == 0 && !prog.busy(ctx) }) {
		t.Errorf("%v have no answer, %d events are not acknowledged", s.unheard(), s.unacked())
	}
	if err := prog.stop(ctx); err != nil {
		t.Error(err)
	}
	if n := len(unfinished(s)); n > left {
		t.Errorf("K22: %d beginnings are left, want at most %d", n, left)
	}
	all := s.posted
	s.posted = func() []posted {
		return slices.DeleteFunc(all(), func(m posted) bool { return strings.HasSuffix(m.text, "…") })
	}
	end := readRecord(t, copyRecord(t, prog.data))
	s.audits(t, &end)
	if n := draftsIn(t, copyRecord(t, prog.data)); n > 0 {
		t.Errorf("the record still has %d drafts", n)
	}
}

// unfinished returns the messages that still grow, as people see them.
func unfinished(s *stage) []posted {
	return slices.DeleteFunc(s.posted(), func(m posted) bool { return !strings.HasSuffix(m.text, "…") })
}

// draftsIn counts the drafts of a database without a writer; one that was recorded as
// lost is not counted.
func draftsIn(t *testing.T, dir string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(dir, sqlite.FileName))
	testutil.OK(t, err)
	defer func() { _ = db.Close() }()
	testutil.OK(t, db.QueryRowContext(t.Context(), `select count(*) from drafts where length(text) > 0`).Scan(&n))
	return n
}

// telegramStage is a group with two topics, and a direct chat.
func telegramStage(t *testing.T, seed uint64) *stage {
	t.Helper()
	s := &stage{world: newWorld(t, seed, 1)}
	s.config = fmt.Sprintf("adapters:\n  telegram: {type: telegram, token: %q, api_url: %q}\n"+
		"spaces:\n  workshop: {name: Workshop, agents: [ada], wake: all, chats: [\"telegram:%d\"]}\n", botToken, s.api, s.forum.ID())
	corners := []place{{s.forum, 0, s.places[0].who}, s.places[0], s.places[1], s.places[2]}
	s.says = func(in corner, text string, _ bool) {
		p := corners[in]
		p.chat.Says(p.who, text, faketelegram.PostOptions{Thread: p.thread})
	}
	s.posted = func() (all []posted) {
		for _, c := range s.chats() {
			for _, m := range c.Sent() {
				if !m.Deleted {
					all = append(all, posted{text: m.Text, key: strconv.FormatInt(c.ID(), 10) + " " + m.Text})
				}
			}
		}
		return all
	}
	s.ready = func() bool {
		return slices.ContainsFunc(s.telegram.Ledger().Calls, func(c faketelegram.APICall) bool { return c.Method == "getUpdates" })
	}
	s.unacked = func() int { return 0 }
	return s
}
