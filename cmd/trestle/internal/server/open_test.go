package server

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/internal/console/api"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
	"github.com/trestle-bridge/trestle/spaces"
)

// PRD-5.2-A5: a run is ended in mid-turn over the API, keeps its stop reason, and
// says nothing.
func TestRunIsCancelledInMidTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "admit: open\nphases: one\n", llmtest.ScriptStep{Do: func(ctx context.Context, _ llm.ModelRequest) (llm.ModelResponse, error) {
			<-ctx.Done() // a model that does not come to an end
			return llm.ModelResponse{}, context.Cause(ctx)
		}})
		defer w.stop()
		w.addChat("kai", "direct", []string{"kai"})
		w.says(w.chats["kai"], w.people["kai"], "hello", 0, 0)
		pass(5 * time.Second)
		socket := w.process.newConsole().Socket()
		ask := func(method, path string, v any) int {
			t.Helper()
			rec := httptest.NewRecorder()
			socket.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), method, path, nil))
			if err := json.Unmarshal(rec.Body.Bytes(), v); err != nil {
				t.Fatalf("%s: %v in %s", path, err, rec.Body)
			}
			return rec.Code
		}
		var list struct{ Runs []api.RunRow }
		if ask(http.MethodGet, "/api/runs", &list); len(list.Runs) != 1 || list.Runs[0].State != spaces.CycleOpen {
			t.Fatalf("runs %+v", list.Runs)
		}
		run := string(list.Runs[0].Run)
		var answer map[string]any
		if code := ask(http.MethodPost, "/api/runs/"+run+"/cancel", &answer); code != http.StatusAccepted {
			t.Errorf("cancel: %d %v", code, answer)
		}
		w.settle()
		var after api.RunRow
		if ask(http.MethodGet, "/api/runs/"+run, &after); after.Stop != spaces.StopCancelled || after.State == spaces.CycleOpen {
			t.Errorf("the run is %+v", after)
		}
		if code := ask(http.MethodPost, "/api/runs/"+run+"/cancel", &answer); code != http.StatusConflict {
			t.Errorf("a second cancel: %d", code)
		}
		if got := w.chats["kai"].Sent(); len(got) != 1 || got[0].Text != "Stopped by a person." {
			t.Errorf("sent %+v, want nothing of the run and one word about its end", got)
		}
	})
}
