package slack

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/adaptertest"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// neededFields are the fields without which an event says something else: of another type
// than Slack documents, they make it unreadable.
var neededFields = regexp.MustCompile(`^(\.type|\.team_id|\.event(\.(type|subtype|event_ts|ts|thread_ts|channel|channel_type|user|bot_id|team|text|deleted_ts|reaction|item|channel_id|inviter|actor_id|(previous_)?message|` +
	`(channel|user)\.(id|team_id|deleted|is_im|is_mpim|is_private)|item\.\w+|item\.message\.ts|(previous_)?message\.(type|subtype|ts|thread_ts|channel|channel_type|user|bot_id|team|text)))?)$`)

// unread is what fieldsRead returns for an update that cannot be read. Its reason, chat and
// bytes are not compared.
const unread = "unreadable\n"

// fieldsRead returns what is read of a delivery, without its bytes.
func fieldsRead(t *testing.T, r reader, payload string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // Slack is not asked
	var text strings.Builder
	for _, u := range r.read(ctx, &delivery{id: "Ev1", kind: "events_api", payload: json.RawMessage(payload)}) {
		if bad, ok := u.Body.(adapters.UnreadableUpdate); ok {
			if bad.Panicked {
				t.Errorf("%s panics", payload)
			}
			text.WriteString(unread)
			continue
		}
		u.Raw = nil
		said, err := json.Marshal(u)
		testutil.OK(t, err)
		fmt.Fprintf(&text, "%T %s\n", u.Body, said)
	}
	return text.String()
}

// withoutBlocks returns an event without the blocks and attachments of its messages, which
// are read one by one and are most of its bytes.
func withoutBlocks(t *testing.T, raw []byte) string {
	t.Helper()
	var whole struct {
		Event map[string]any `json:"event"`
	}
	var fields map[string]any
	testutil.OK(t, json.Unmarshal(raw, &whole))
	testutil.OK(t, json.Unmarshal(raw, &fields))
	if whole.Event == nil {
		return string(raw)
	}
	messages := []map[string]any{whole.Event}
	for _, name := range []string{"message", "previous_message"} {
		if inner, ok := whole.Event[name].(map[string]any); ok {
			messages = append(messages, inner)
		}
	}
	for _, m := range messages {
		delete(m, "blocks")
		delete(m, "attachments")
	}
	fields["event"] = whole.Event
	short, err := json.Marshal(fields)
	testutil.OK(t, err)
	return string(short)
}

// A field that is null reads as one that is missing, and one of another type than
// documented leaves the event readable, unless the event says something else without it.
func TestFieldsOfOtherTypesLeaveEventsReadable(t *testing.T) {
	r, n := alone(t), 0
	files, err := filepath.Glob("testdata/events/*.json")
	testutil.OK(t, err)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		testutil.OK(t, err)
		whole := withoutBlocks(t, filled(t, raw))
		readable := fieldsRead(t, r, whole) != unread
		for _, c := range adaptertest.FieldChanges(t, whole) {
			n++
			if diff := cmp.Diff(fieldsRead(t, r, c.Missing), fieldsRead(t, r, c.Null)); diff != "" {
				t.Errorf("%s %s (-missing +null):\n%s", filepath.Base(file), c.Path, diff)
			}
			if got := fieldsRead(t, r, c.Other); readable && got == unread && !neededFields.MatchString(c.Path) {
				t.Errorf("%s %s of another type makes it unreadable: %s", filepath.Base(file), c.Path, c.Other)
			}
		}
	}
	if n < 1000 {
		t.Errorf("%d fields were tried", n)
	}
}
