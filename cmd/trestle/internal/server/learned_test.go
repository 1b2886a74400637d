package server

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/modelhttp"
	"github.com/trestle-bridge/trestle/internal/llm/openai"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// Every demand that a client can meet may be written in the configuration, and no other.
func TestCompatTakesTheNamesOfAllDemands(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trestle.yaml")
	var text strings.Builder
	text.WriteString("model:\n  base_url: http://a/v1\n  compat:\n")
	for _, name := range openai.DemandNames() {
		text.WriteString("    - " + name + "\n")
	}
	testutil.OK(t, os.WriteFile(file, []byte(text.String()), 0o600))
	c, err := config.Load(config.LoadOptions{Path: file, Lookup: func(string) (string, bool) { return "", false }})
	testutil.OK(t, err)
	if len(c.Problems) > 0 {
		t.Error(c.Problems)
	}
	s := NewServer(c, slog.New(slog.DiscardHandler), os.Stderr, false)
	client, err := s.OpenEndpoint(c.Model)
	testutil.OK(t, err)
	if got := llm.CapabilityOf(client, "m").Demands; len(got) != len(openai.DemandNames()) {
		t.Errorf("the client meets %q", got)
	}
	for _, name := range config.CompatWords() {
		if _, err := openai.New(modelhttp.ClientOptions{BaseURL: "http://a/v1", Compat: []string{name}}); err != nil {
			t.Error(err)
		}
	}
}

// What is learned is written by a process that runs, and by no other.
func TestLearnedFileIsWrittenByTheRunningProcessAlone(t *testing.T) {
	dir := t.TempDir()
	s := NewServer(&config.Config{Data: dir}, slog.New(slog.DiscardHandler), os.Stderr, false)
	save := func() {
		t.Helper()
		testutil.OK(t, (&learnedModels{s.learned, s.Log}).SaveCapability("http://a/v1", "m", llm.ModelCapability{Window: 8192}))
	}
	if save(); exists(filepath.Join(dir, LearnedFile)) {
		t.Error("a process that does not run has written the file")
	}
	s.learned.ReadOnly = false
	if save(); !exists(filepath.Join(dir, LearnedFile)) {
		t.Error("the file is missing")
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// A learned window that is smaller than context_tokens is a problem.
func TestLearnedWindowIsAProblemWhereMoreIsUsed(t *testing.T) {
	e := &endpointHealth{name: "model"}
	if got := e.seeWindow("m", 32_000); got != nil {
		t.Errorf("without a client: %v", got)
	}
	e.setClient(learnedWindow(8192))
	for used, want := range map[int]int{32_000: 1, 8192: 0, 4000: 0} {
		if got := e.seeWindow("m", used); len(got) != want {
			t.Errorf("context_tokens %d: %v", used, got)
		}
	}
}

// learnedWindow is a model with a window.
type learnedWindow int

func (learnedWindow) Generate(context.Context, llm.ModelRequest) (llm.ModelResponse, error) {
	return llm.ModelResponse{}, nil
}

func (w learnedWindow) Capability(string) llm.ModelCapability {
	return llm.ModelCapability{Window: int(w)}
}
