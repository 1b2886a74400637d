package sqlstore_test

import (
	"context"
	"errors"
	"testing"

	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/spaces"
)

func openRoom(t *testing.T, s *sqlstore.Store) spaces.SpaceID {
	t.Helper()
	p, err := s.Border().Open(t.Context(), spaces.OpenRequest{Name: "Family", Circle: "home", Agents: []spaces.AgentID{"ada"}, At: start})
	if err != nil {
		t.Fatal(err)
	}
	return p.Space
}

func message(room spaces.SpaceID) spaces.IngestBatch {
	return spaces.IngestBatch{Account: "telegram:1", At: start, Items: []spaces.IngestItem{{
		Event: spaces.Event{Space: room, Object: spaces.ChatObject, At: start, Source: "m1", Body: spaces.MessagePosted{Text: "Hello."}},
		From:  spaces.PlatformIdentity{Platform: "telegram", User: "7", Kind: spaces.Human, Name: "Zoe"},
	}}}
}

// What the writer remembers of a room is forgotten when its write is undone.
func TestUndoneWriteLeavesNoTraceInMemory(t *testing.T) {
	onEachEngine(t, func(t *testing.T, s *sqlstore.Store) {
		t.Helper()
		room := openRoom(t, s)
		undone := errors.New("undone")
		err := s.Write(t.Context(), func(ctx context.Context, tx *sqlstore.WriteTx) error {
			return errors.Join(tx.Take(ctx, message(room)), undone)
		})
		if !errors.Is(err, undone) {
			t.Fatal(err)
		}
		if got, err := s.Border().Record(t.Context(), message(room)); err != nil || got.New != 1 {
			t.Fatalf("recorded %+v, %v", got, err)
		}
		found, err := s.Audit(t.Context(), start)
		if err != nil || len(found) != 0 {
			t.Errorf("audit: %v %v", found, err)
		}
	})
}

// PRD-7.2-1: acts whose run was undone are not taken for kept: the next run keeps them.
func TestUndoneRunDoesNotVouchForItsActs(t *testing.T) {
	onEachEngine(t, func(t *testing.T, s *sqlstore.Store) {
		t.Helper()
		m := spaces.NewManifest([]spaces.ToolDefinition{{Name: "view", Schema: []byte(`{}`)}})
		undone := errors.New("undone")
		for _, end := range []error{undone, nil} {
			err := s.Write(t.Context(), func(ctx context.Context, tx *sqlstore.WriteTx) error {
				return errors.Join(tx.Offer(ctx, m, start), end)
			})
			if !errors.Is(err, end) {
				t.Fatal(err)
			}
		}
		if got, err := s.Console().Manifests(t.Context(), "", 10); err != nil || len(got) != 1 || got[0].Hash != m.Hash {
			t.Errorf("the record has %+v (%v), want the acts once", got, err)
		}
	})
}
