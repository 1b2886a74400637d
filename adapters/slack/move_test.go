package slack_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/adapters"
	fakeslack "github.com/trestle-bridge/trestle/adapters/fake/slack"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// PLATFORMS 2.3: a channel that becomes shared has a new id and its old messages. The
// cursor moves to the new id, so that no message is read twice or missed.
func TestAChannelThatMovesKeepsItsPlace(t *testing.T) {
	listening(t, func(w *workspace, b *book) {
		t := w.t
		root := w.ops.Says(w.maya, "question", fakeslack.PostOptions{})
		w.ops.Says(w.maya, "answer", fakeslack.PostOptions{Thread: root})
		pass(time.Second)
		before := string(b.saved())
		w.app.Inject(fmt.Appendf(nil, `{"type":"channel_id_changed","old_channel_id":%q,"new_channel_id":"C0NEW","event_ts":"1612206778.000000"}`, w.ops.ID))
		pass(time.Second)
		testutil.Same(t, "told", []adapters.ChatMigrated{{To: "C0NEW", Same: true}}, heard[adapters.ChatMigrated](b))
		var had, has map[string]any
		if json.Unmarshal([]byte(strings.ReplaceAll(before, w.ops.ID, "C0NEW")), &had) != nil || json.Unmarshal(b.saved(), &has) != nil {
			t.Fatal("no cursor")
		}
		for _, part := range []string{"last", "threads", "newest"} {
			if diff := cmp.Diff(had[part], has[part]); had[part] == nil || diff != "" {
				t.Errorf("%s (-want +got):\n%s", part, diff)
			}
		}
	})
}

// PLATFORMS 2.3: what was told of a channel before it had another id is known when it is
// told again, and what comes late under the old id belongs to the channel as it is now.
func TestWhatAMovedChannelToldIsKnown(t *testing.T) {
	listening(t, func(w *workspace, b *book) {
		t := w.t
		inject := func(format string, args ...any) {
			w.app.Inject(fmt.Appendf(nil, format, args...))
			pass(time.Second)
		}
		edited := func(channel string) {
			inject(`{"type":"message","subtype":"message_changed","channel":%q,"channel_type":"channel","ts":"1612206770.000100","event_ts":"1612206770.000100",`+
				`"message":{"type":"message","user":%q,"text":"new","ts":"1612206760.000100","edited":{"user":%q,"ts":"1612206770.000000"}}}`, channel, w.maya.ID, w.maya.ID)
		}
		edited(w.ops.ID)
		inject(`{"type":"channel_id_changed","old_channel_id":%q,"new_channel_id":"C0NEW","event_ts":"1612206778.000000"}`, w.ops.ID)
		edited("C0NEW")
		edited(w.ops.ID)
		if n := len(heard[adapters.MessageEdit](b)); n != 1 {
			t.Errorf("one edit was told as %d", n)
		}
		inject(`{"type":"message","channel":%q,"channel_type":"channel","user":%q,"text":"late","ts":"1612206777.000100","event_ts":"1612206777.000100"}`, w.ops.ID, w.maya.ID)
		inject(`{"type":"channel_id_changed","old_channel_id":"C0NEW","new_channel_id":"C0NEWER","event_ts":"1612206788.000000"}`)
		edited("C0NEWER")
		inject(`{"type":"message","channel":%q,"channel_type":"channel","user":%q,"text":"later","ts":"1612206778.000100","event_ts":"1612206778.000100"}`, w.ops.ID, w.maya.ID)
		var told []string
		for _, u := range b.all() {
			told = append(told, u.Chat.ID+" "+u.Key)
		}
		want := []string{
			w.ops.ID + " edit:" + w.ops.ID + ":1612206760.000100:1612206770.000000", w.ops.ID + " migrate:" + w.ops.ID + ":C0NEW",
			"C0NEW message:C0NEW:1612206777.000100", "C0NEW migrate:C0NEW:C0NEWER", "C0NEWER message:C0NEWER:1612206778.000100",
		}
		testutil.Same(t, "told", want, told)
	})
}
