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
)

// A change is a copy of a JSON value in which one place, named by its path, holds null, and
// one in which that place is missing.
type change struct{ path, null, missing string }

// changes returns a change for each field and element of a JSON value, at all depths.
func changes(t *testing.T, raw string) []change {
	t.Helper()
	var all []change
	var walk func(v any, path string, put func(any) any)
	var root any
	if err := json.Unmarshal([]byte(raw), &root); err != nil {
		t.Fatal(err)
	}
	text := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	walk = func(v any, path string, put func(any) any) {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				in := func(x any) any {
					c := maps.Clone(v)
					c[name] = x
					return put(c)
				}
				without := maps.Clone(v)
				delete(without, name)
				all = append(all, change{path + "." + name, text(in(nil)), text(put(without))})
				walk(v[name], path+"."+name, in)
			}
		case []any:
			for i := range v {
				in := func(x any) any {
					c := slices.Clone(v)
					c[i] = x
					return put(c)
				}
				at := fmt.Sprintf("%s[%d]", path, i)
				all = append(all, change{at, text(in(nil)), text(put(slices.Delete(slices.Clone(v), i, i+1)))})
				walk(v[i], at, in)
			}
		}
	}
	walk(root, "", func(x any) any { return x })
	return all
}

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
			for _, c := range changes(t, seeds[kind]) {
				n++
				if diff := cmp.Diff(told(t, kind, c.missing), told(t, kind, c.null)); diff != "" {
					t.Errorf("%s %s (-missing +null):\n%s", kind, c.path, diff)
				}
			}
		}
		if n < 100 {
			t.Errorf("%d fields were tried", n)
		}
	})
}
