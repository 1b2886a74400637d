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
)

// PLATFORMS 2.3: a channel that becomes shared has a new id and its old messages. Where
// receiving stands goes on under it, so that nothing is read twice or missed.
func TestAChannelThatMovesKeepsItsPlace(t *testing.T) {
	listening(t, func(w *workspace, b *book) {
		t := w.t
		root := w.ops.Says(w.maya, "question", fakeslack.Said{})
		w.ops.Says(w.maya, "answer", fakeslack.Said{Thread: root})
		pass(time.Second)
		before := string(b.saved())
		w.app.Inject(fmt.Appendf(nil, `{"type":"channel_id_changed","old_channel_id":%q,"new_channel_id":"C0NEW","event_ts":"1612206778.000000"}`, w.ops.ID))
		pass(time.Second)
		if diff := cmp.Diff([]adapters.Migrated{{To: "C0NEW", Same: true}}, heard[adapters.Migrated](b)); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
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
