package discord

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/bwmarrin/discordgo"
	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/adaptertest"
)

// told returns what is read of an event, and of a message that follows it.
func told(t *testing.T, kind, raw string) string {
	t.Helper()
	r := unconnected(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // Discord is not asked
	var out strings.Builder
	for _, e := range [][2]string{{kind, raw}, {"MESSAGE_CREATE", eventSeeds["MESSAGE_CREATE"]}} {
		updates, err := r.read(ctx, event{Event: discordgo.Event{Operation: opDispatch, Type: e[0], RawData: []byte(e[1])}})
		fmt.Fprintf(&out, "error: %t\n", err != nil)
		for _, u := range updates {
			if bad, unread := u.Body.(adapters.UnreadableUpdate); unread {
				if bad.Panicked {
					t.Errorf("%s %s panics", kind, raw)
				}
				u = adapters.Update{Chat: u.Chat, Body: adapters.UnreadableUpdate{}} // why, and its bytes, may differ
			}
			u.Raw = nil
			text, err := json.Marshal(u)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&out, "%T %s\n", u.Body, text)
		}
	}
	return out.String()
}

// NEWS: a field that Discord makes nullable reads as one that is missing, and an element
// that is null as none: nothing panics, and nothing beside it is lost.
func TestNullReadsAsMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seeds := maps.Clone(eventSeeds)
		seeds["MESSAGE_UPDATE"] = strings.Replace(eventSeeds["MESSAGE_CREATE"], `"type":0`, `"edited_timestamp":"2020-01-01T00:00:00Z","application_id":"8","components":[{"type":10,"content":"x"}],"sticker_items":[{"id":"3","name":"s"}],"type":0`, 1)
		n := 0
		for _, kind := range slices.Sorted(maps.Keys(seeds)) {
			for _, c := range adaptertest.FieldChanges(t, seeds[kind]) {
				n++
				if diff := cmp.Diff(told(t, kind, c.Missing), told(t, kind, c.Null)); diff != "" {
					t.Errorf("%s %s (-missing +null):\n%s", kind, c.Path, diff)
				}
			}
		}
		if n < 100 {
			t.Errorf("%d fields were tried", n)
		}
	})
}
