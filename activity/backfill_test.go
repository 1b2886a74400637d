package activity_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// SEQ-04: history first, then the triggering message; what comes by both ways is there once.
func TestHistoryComesBeforeTheMessageAndOnce(t *testing.T) {
	store, err := sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir(), NewID: newID})
	testutil.OK(t, err)
	t.Cleanup(func() { testutil.OK(t, store.Close(context.WithoutCancel(t.Context()))) })
	port := store.Border()
	mapping := activity.NewSpaceMapping(port, port)
	us := adapters.BotAccount{Platform: "telegram", ID: "77", Name: "Ada"}
	room, err := mapping.Open(t.Context(), spaces.OpenRequest{
		Key: "hub", Name: "Hub", Circle: "home", Agents: []spaces.AgentID{"ada"}, At: time.Now(),
		Chats: []spaces.ChatMapping{{Account: us.Key(), Chat: "-1", Live: true}},
	})
	testutil.OK(t, err)
	in := activity.NewIngress(us, mapping, port, port, port, activity.IngressOptions{Named: map[spaces.SpaceID][]spaces.AgentID{room.Space: {"ada"}}})
	kai := adapters.Person{ID: "5", Kind: adapters.Human, Name: "Kai"}
	said := func(id, text string, from adapters.Person) adapters.Update {
		return adapters.Update{
			Key: "message:-1:" + id, Chat: adapters.Chat{ID: "-1", Kind: adapters.Group}, From: from, At: time.Unix(1_500_000_000, 0),
			Body: adapters.IncomingMessage{ID: id, Text: text, ToUs: true, Command: &adapters.ChatCommand{Name: "stop"}},
		}
	}
	page := []adapters.Update{
		said("1", "the door code is green", kai), said("2", "noted", adapters.Person{ID: "77"}),
		{Key: "left", Chat: adapters.Chat{ID: "-1"}, Body: adapters.PeopleLeft{People: []adapters.Person{kai}}},
	}
	for _, want := range []activity.HistoryImportCount{{New: 2, Skipped: 1}, {Known: 2, Skipped: 1}} {
		got, err := in.ImportHistory(t.Context(), page)
		if err != nil || got != want {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
	testutil.OK(t, in.Accept(t.Context(), adapters.UpdateBatch{Updates: []adapters.Update{said("1", "the door code is green", kai), said("3", "what was the code?", kai)}}))
	events, err := store.Shell().Events(t.Context(), room.Space, spaces.Primary, 0, 100)
	testutil.OK(t, err)
	var got []string
	for _, e := range events {
		if b, ok := e.Body.(spaces.MessagePosted); ok {
			got = append(got, string(e.Actor[:min(9, len(e.Actor))])+" "+b.Text)
			if b.Past == (b.Text == "what was the code?") || b.Past && (b.ToUs || b.Command != "" || !e.At.Equal(time.Unix(1_500_000_000, 0))) {
				t.Errorf("got %+v at %s", b, e.At)
			}
		}
	}
	if len(got) != 3 || got[1] != "agent:ada noted" {
		t.Error(cmp.Diff([]string{"kai's", "agent:ada noted", "kai's"}, got))
	}
	page[0].Chat.ID = "-2"
	if _, err := in.ImportHistory(t.Context(), page[:1]); !errors.Is(err, activity.ErrUnmapped) {
		t.Errorf("a chat of no space: got %v", err)
	}
}
