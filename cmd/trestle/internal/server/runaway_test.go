package server

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// A runawayModel answers every request with 5 MB, whatever tokens it counts: as words, or as the arguments of one
// or several calls.
type runawayModel struct{ asked atomic.Int64 }

func (m *runawayModel) Generate(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
	n := m.asked.Add(1)
	words := strings.Repeat("word ", 1<<20)
	resp := llm.ModelResponse{Finish: llm.Stopped, Usage: llm.TokenUsage{Prompt: 100, Output: 100}}
	switch args := fmt.Sprintf(`{"text":%q}`, words); n % 4 {
	case 0:
		resp.Text = words
	case 1:
		resp.Finish, resp.Calls = llm.Called, []llm.ToolCall{{ID: fmt.Sprint("a", n), Name: "send_message", Args: args}}
	case 2:
		resp.Finish, resp.Calls = llm.Called, []llm.ToolCall{{ID: fmt.Sprint("a", n), Name: "remember", Args: args}, {ID: fmt.Sprint("b", n), Name: "send_message", Args: args}}
	case 3:
		resp.Finish, resp.Calls = llm.Called, []llm.ToolCall{{ID: fmt.Sprint("a", n), Name: words, Args: "{}"}}
	}
	if r.Hear != nil {
		r.Hear(resp)
	}
	return resp, nil
}

// Seventy answers of 5 MB leave a small record and a small process.
func TestRunawayAnswersKeepTheRecordSmall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := &runawayModel{}
		w := newWorldOf(t, `
agents: {ada: {name: Ada, phases: two}}
spaces:
  family: {agents: [ada], wake: mention, chats: ["telegram:-1001000000001"]}
`, model)
		defer w.stop()
		w.addChat("family", "supergroup", []string{"Kai"})
		w.settle()
		idle := heapInUse()
		for i := 0; model.asked.Load() < 70 && i < 100; i++ {
			w.chats["family"].Says(w.people["Kai"], fmt.Sprintf("@Ada question %d?", i), faketelegram.PostOptions{})
			w.settle()
			pass(10 * time.Minute)
			w.settle()
		}
		if n := model.asked.Load(); n < 70 {
			t.Fatalf("the model was asked %d times", n)
		}
		if grown := heapInUse() - idle; grown > 40<<20 {
			t.Errorf("the heap has grown by %d MB", grown>>20)
		}
		if size := filesIn(t, w.dir); size > 40<<20 {
			t.Errorf("the data have %d MB", size>>20)
		}
	})
}

// heapInUse returns the bytes of the heap that are in use.
func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// filesIn returns the bytes of all files below a folder.
func filesIn(t *testing.T, dir string) (size int64) {
	t.Helper()
	testutil.OK(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	}))
	return size
}
