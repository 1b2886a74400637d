package slack

import (
	"testing"

	"github.com/trestle-bridge/trestle/adapters"
)

// SEQ-96, S10: only what Slack itself keeps is shown elsewhere.
func TestOnlySlacksOwnPicturesAreShown(t *testing.T) {
	for address, want := range map[string]bool{
		"https://avatars.slack-edge.com/2026-11-21/1_72.png": true,
		"https://ca.slack-edge.com/T1-U1-0123456789ab-72":    true,
		"":                                       false,
		"http://avatars.slack-edge.com/1_72.png": false,
		"https://secure.gravatar.com/avatar/0bc8.jpg?s=72":  false,
		"https://avatars.slack-edge.com.example.org/1.png":  false,
		"https://who:secret@avatars.slack-edge.com/1.png":   false,
		"https://avatars.slack-edge.com/1.png?token=xoxe-1": false,
		"https://files.slack.com/files-pri/T1-F1/1.png":     false,
		"https://avatars.slack-edge.com/%zz":                false,
	} {
		got := portrait(address)
		if got != "" != want || want && got != address {
			t.Errorf("%q is shown as %q", address, got)
		}
	}
}

// S1: a conversation that Slack does not describe is none of the workspace's channels
// until an event says that it is one: it may be a group chat, which no entry of a
// server lets in.
func TestWhatNobodyDescribesBelongsToNoWorkspace(t *testing.T) {
	for kind, want := range map[string]adapters.Chat{
		"":        {ID: "C1", Kind: adapters.Channel},
		"mpim":    {ID: "C1", Kind: adapters.Group},
		"group":   {ID: "C1", Kind: adapters.Group, Group: "T1"},
		"channel": {ID: "C1", Kind: adapters.Channel, Group: "T1"},
	} {
		names := alone(t).c.names // asks a Slack that is not there
		if got := names.chat(t.Context(), "C1", "", "T1"); got.Group != "" || names.known("C1", "T1").Group != "" {
			t.Errorf("without a word about it: %+v", got)
		}
		for range 2 { // it stays what an event has said
			if got := names.chat(t.Context(), "C1", kind, "T1"); got != want {
				t.Errorf("%q: %+v, want %+v", kind, got, want)
			}
			kind = ""
		}
	}
}
