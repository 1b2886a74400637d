package slack

import "testing"

// PLATFORMS 2.1: the library wants its address to end in a slash, and people write it
// in many ways.
func TestABaseURLIsTakenAsPeopleWriteIt(t *testing.T) {
	for written, want := range map[string]string{
		"":                          "https://slack.com",
		"https://slack.com":         "https://slack.com",
		"https://slack.com/api/":    "https://slack.com",
		"http://localhost:8082/":    "http://localhost:8082",
		"http://localhost:8082/api": "http://localhost:8082",
		"https://proxy.test/slack/": "https://proxy.test/slack",
		"localhost:8082":            "",
		"https://":                  "",
		"https://slack.com?x=1":     "",
		"https://me@slack.com":      "",
	} {
		got := ""
		c, err := New(Options{BotToken: "xoxb-1", AppToken: "xapp-1", APIURL: written})
		if err == nil {
			got = c.base
		}
		if got != want {
			t.Errorf("%q is taken as %q, %v; want %q", written, got, err, want)
		}
	}
}
