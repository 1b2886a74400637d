package history

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/adapters/telegram"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/jobs"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// ECOSYSTEM 7: what is done stays done, and the next start goes on; where ids tell
// nothing, what was heard live is not doubled.
func TestInterruptedImportGoesOn(t *testing.T) {
	dir := t.TempDir()
	store, err := sqlite.Open(t.Context(), sqlite.Options{Dir: dir, NewID: storeopen.NewID})
	testutil.OK(t, err)
	defer func() { _ = store.Close(context.WithoutCancel(t.Context())) }() // the test's folder goes with it
	room, err := store.Border().Open(t.Context(), spaces.OpenRequest{
		Name: "Kai", Direct: true, Closed: true, At: time.Now(), Agents: []spaces.AgentID{"ada"},
		Chats: []spaces.ChatMapping{{Account: "telegram:71", Chat: "5", Live: true}},
	})
	testutil.OK(t, err)
	live := spaces.MessagePosted{Text: "live", Ref: spaces.MessageRef{Account: "telegram:71", Chat: "5", Message: "1"}}
	_, err = store.Border().Record(t.Context(), spaces.IngestBatch{Account: "telegram:71", At: time.Now(), Items: []spaces.IngestItem{{
		Event: spaces.Event{Space: room.Space, Object: spaces.ChatObject, At: time.Unix(5000, 0), Source: "live", Body: live},
		From:  spaces.PlatformIdentity{Platform: "telegram", User: "5", Kind: spaces.Human, Name: "Kai"},
	}}})
	testutil.OK(t, err)
	var b strings.Builder
	b.WriteString(`{"name":"Ada","type":"bot_chat","id":71,"messages":[`)
	for i := 1; i <= 5500; i++ {
		fmt.Fprintf(&b, `{"id":%d,"type":"message","date_unixtime":"%d","from_id":"user%d","text":"%d"},`, i, i, []int{5, 71}[i%2], i)
	}
	b.WriteString(`{"id":9999,"type":"message","date_unixtime":"9999","from_id":"user5","text":"heard live"}]}`)
	file := filepath.Join(dir, "result.json")
	testutil.OK(t, os.WriteFile(file, []byte(b.String()), 0o600))
	work := ImportJob{Store: store, Log: slog.New(slog.DiscardHandler), Config: func() *config.Config { return new(config.Config) }}
	asked := ImportRequest{File: file, Account: "71", Chat: "5", Export: telegram.ExportedChat{ID: 71, Name: "Ada", Type: "bot_chat", Messages: 5501}}
	j, err := work.Add(t.Context(), asked)
	testutil.OK(t, err)
	interrupted := 0
	for {
		ctx, stop := context.WithCancel(t.Context())
		saved := 0
		r := jobs.JobRunner{
			Ledger: store.Jobs(), Kinds: map[string]jobs.Handler{ImportKind: work.Work}, Holder: "one", Logger: slog.New(slog.DiscardHandler),
			Changed: func(jobs.Job) {
				if saved++; saved == 8 {
					stop()
				}
			},
		}
		err := r.Do(ctx, j.ID)
		stop()
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		interrupted++
		if again, err := work.Add(t.Context(), asked); err != nil || again.ID != j.ID || again.Done == 0 {
			t.Fatalf("asked for once more, it is %+v, %v", again, err)
		}
	}
	if again, err := work.Add(t.Context(), asked); err != nil || again.ID == j.ID {
		t.Errorf("one that is over goes on: %+v, %v", again, err)
	}
	if interrupted < 3 {
		t.Errorf("interrupted %d times: the test tests nothing", interrupted)
	}
	events, err := store.Shell().Events(t.Context(), room.Space, spaces.Primary, 0, 10_000)
	testutil.OK(t, err)
	past, own := 0, 0
	for _, e := range events {
		if b, ok := e.Body.(spaces.MessagePosted); ok && b.Past {
			if past++; b.Text != fmt.Sprint(past) {
				t.Fatalf("the message after %d is %q", past-1, b.Text)
			}
			if e.Actor == spaces.AgentID("ada").Entity() {
				own++
			}
		}
	}
	if past != 4999 || own != 2500 {
		t.Errorf("%d past messages, %d of them Ada's; want 4999 and 2500", past, own)
	}
}
