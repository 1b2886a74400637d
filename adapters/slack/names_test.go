package slack

import "testing"

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
