package sqlstore

import (
	"testing"

	"github.com/trestle-bridge/trestle/spaces"
)

// What one account of a space hears of another is stored already, also on a platform
// whose users have ids of their team.
func TestMessagesOfOwnAccountsAreKnown(t *testing.T) {
	r := &spaceState{chats: []chatState{{account: "slack:T1-UADA", id: "C1"}, {account: "telegram:7", id: "-1"}}}
	said := spaces.Event{Body: spaces.MessagePosted{Text: "hi"}}
	for _, c := range []struct {
		who  spaces.PlatformIdentity
		want bool
	}{
		{spaces.PlatformIdentity{Platform: "slack", Scope: "T1", User: "UADA"}, true},
		{spaces.PlatformIdentity{Platform: "slack", Scope: "T2", User: "UADA"}, false},
		{spaces.PlatformIdentity{Platform: "slack", Scope: "T1", User: "UKAI"}, false},
		{spaces.PlatformIdentity{Platform: "telegram", User: "7"}, true},
		{spaces.PlatformIdentity{Platform: "telegram", User: "8"}, false},
	} {
		if got := r.isOwnMessage(spaces.IngestItem{Event: said, From: c.who}); got != c.want {
			t.Errorf("a message of %+v is ours: %v, want %v", c.who, got, c.want)
		}
	}
}
