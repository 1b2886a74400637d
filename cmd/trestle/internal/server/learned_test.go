package server

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/openai"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// Every demand that a client can meet may be written in the configuration, and no other.
func TestCompatTakesTheNamesOfAllDemands(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trestle.yaml")
	text := "model:\n  base_url: http://a/v1\n  compat:\n"
	for _, name := range openai.DemandNames() {
		text += "    - " + name + "\n"
	}
	testutil.OK(t, os.WriteFile(file, []byte(text), 0o600))
	c, err := config.Load(config.LoadOptions{Path: file, Lookup: func(string) (string, bool) { return "", false }})
	testutil.OK(t, err)
	if len(c.Problems) > 0 {
		t.Error(c.Problems)
	}
	s := NewServer(c, slog.New(slog.DiscardHandler), os.Stderr, false)
	client, err := s.OpenEndpoint(c.Model)
	testutil.OK(t, err)
	if got := client.Capability("m").Demands; len(got) != len(openai.DemandNames()) {
		t.Errorf("the client meets %q", got)
	}
	for _, name := range config.CompatWords() {
		if _, err := openai.New(openai.Options{BaseURL: "http://a/v1", Compat: []string{name}}); err != nil {
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
