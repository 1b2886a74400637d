package server

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
)

// Issue 7, PRD-6.2: what a conversation leaves in the figures of a process.
func TestAConversationShowsInTheFigures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "admit: open\n", script(t, "ada thinks: A greeting.\nada acts: send_message {\"text\":\"Hello.\"}\nada rests: Responded to ann about hello.")...)
		defer w.stop()
		w.addPerson("ann")
		w.addChat("dm", "direct", []string{"ann"})
		w.says(w.chats["dm"], w.people["ann"], "hello", 0, 0)
		w.settle()
		answer := httptest.NewRecorder()
		w.process.telemetry.Metrics().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
		for _, want := range []string{
			`trestle_adapter_connected{adapter="telegram"} 1`, `trestle_cycles_total{agent="ada",stop=`,
			`trestle_inbox_rows 0`, `trestle_outbox_actions 0`, `trestle_live_events_skipped_total 0`,
		} {
			if !strings.Contains(answer.Body.String(), want) {
				t.Errorf("the figures lack %s:\n%s", want, answer.Body)
			}
		}
	})
}
