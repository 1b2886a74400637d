package telegram

import (
	"encoding/json"
	"testing"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// NEWS: Bot API 10.3 tells that a person stopped a draft; it names the chat, which is the
// person's own, and the topic.
func TestStopOfADraftIsAPressOfItsPerson(t *testing.T) {
	raw := json.RawMessage(`{"update_id":7,"stopped_message_generation":{"chat":{"id":5000000001,"type":"private","first_name":"Kai"},"message_thread_id":12,"draft_id":99}}`)
	_, updates := reader{}.decode(raw, 0)
	if len(updates) != 1 {
		t.Fatalf("read %+v", updates)
	}
	u := updates[0]
	testutil.Same(t, "body", adapters.UpdateBody(adapters.ChoicePicked{Stop: true}), u.Body)
	if u.Chat.ID != "5000000001" || u.Thread.ID != "12" || u.From.ID != "5000000001" || u.From.Kind != adapters.Human || u.From.Name != "Kai" || u.Key != "stop:5000000001:99" {
		t.Errorf("read %+v", u)
	}
	group := json.RawMessage(`{"update_id":8,"stopped_message_generation":{"chat":{"id":-100,"type":"group"},"draft_id":99}}`)
	_, updates = reader{}.decode(group, 0)
	if _, bad := updates[0].Body.(adapters.UnreadableUpdate); !bad {
		t.Error("a stop in a group was read: it does not say who pressed")
	}
}
