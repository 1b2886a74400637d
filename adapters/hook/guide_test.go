package hook_test

import (
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/hook"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// TestTheExamplesOfTheGuideWork posts the three examples of docs/hooks.md: that of curl, and what GitHub
// and Alertmanager send to the templates there.
func TestTheExamplesOfTheGuideWork(t *testing.T) {
	guide, err := os.ReadFile("../../docs/hooks.md")
	testutil.OK(t, err)
	curl := regexp.MustCompile(`(?s)-d '(\{.*?\})'`).FindSubmatch(guide)
	templates := regexp.MustCompile(`(?m)^ +text: '(.*)'$`).FindAllSubmatch(guide, -1)
	if curl == nil || len(templates) != 2 {
		t.Fatalf("the guide has the event %s and %d templates, want one and two", curl, len(templates))
	}
	github := `{"action": "opened", "number": 7, "pull_request": {"title": "Mend the door", "html_url": "https://github.example/7"}}`
	alert := `{"status": "firing", "alerts": [{"status": "firing", "labels": {"alertname": "DiskFull"}, "annotations": {"summary": "2 % left"}}]}`
	for _, example := range []struct{ text, body, want string }{
		{"", string(curl[1]), "@Ada build 7 failed"},
		{string(templates[0][1]), github, "Pull request 7 opened: Mend the door https://github.example/7"},
		{string(templates[0][1]), `{"zen": "Design for failure."}`, ""},
		{string(templates[1][1]), alert, "@Ada firing: DiskFull 2 % left"},
	} {
		synctest.Test(t, func(t *testing.T) {
			c, sink := running(t, hook.Options{Secret: secret, Text: example.text, Files: memory{}})
			status, said := call(c, post(t.Context(), example.body, "X-Hub-Signature-256", hub(example.body), "X-GitHub-Delivery", "d-1"))
			if example.want == "" {
				if status != http.StatusOK || len(sink.all()) != 0 {
					t.Errorf("%s: got %d %v, want it ignored", example.body, status, said)
				}
				return
			}
			if status != http.StatusAccepted {
				t.Fatalf("%s: got %d %v", example.body, status, said)
			}
			if got := sink.all()[0].Body.(adapters.IncomingMessage).Text; strings.TrimSpace(got) != example.want {
				t.Errorf("the text is %q, want %q", got, example.want)
			}
		})
	}
}
