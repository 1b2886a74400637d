package server

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// While another model answers, health and the problems say so at once, and why.
func TestHealthNamesTheModelThatStandsIn(t *testing.T) {
	endpoint := func(status int, answer string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, answer)
		}))
		t.Cleanup(s.Close)
		return s.URL + "/v1"
	}
	fine := endpoint(200, `{"choices":[{"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}]}`)
	for _, test := range []struct {
		name, first string
		want        string // in the evidence; empty: no problem
	}{
		{"well", fine, ""},
		{"no credit", endpoint(402, `{"error":{"message":"Insufficient balance"}}`), "Insufficient balance"},
		{"no such model", endpoint(404, `{"error":{"message":"model big does not exist","code":"model_not_found"}}`), "does not exist"},
		{"limited", endpoint(429, `{"error":{"message":"slow down, retry in 60 s"}}`), "slow down"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			text := fmt.Sprintf("data: %s\nmodel: {base_url: %q, name: big, fallbacks: [small]}\nmodels: {small: {base_url: %q}}\nagents: {ada: {}, bo: {}}\n", dir, test.first, fine)
			file := filepath.Join(dir, "trestle.yaml")
			testutil.OK(t, os.WriteFile(file, []byte(text), 0o600))
			c, err := config.Load(config.LoadOptions{Path: file, Lookup: func(string) (string, bool) { return "", false }})
			testutil.OK(t, err)
			s := NewServer(c, slog.New(slog.DiscardHandler), io.Discard, false)
			ada := s.agents()[0]
			resp, err := ada.Model.Generate(t.Context(), llm.ModelRequest{Model: "big", Messages: []llm.TranscriptMessage{{Role: llm.User, Text: "hi"}}})
			if err != nil || (resp.Model == "small") != (test.want != "") {
				t.Fatalf("answer %+v, %v", resp, err)
			}
			if again := s.agents(); again[0].Model != ada.Model || again[1].Model != ada.Model {
				t.Error("what is known of the models is lost when the file is read again")
			}
			seen, err := s.probeModels().See(t.Context())
			testutil.OK(t, err)
			var evidence string
			for _, o := range seen {
				if o.Code == alerts.FellBack && o.Subject == "model" {
					evidence = o.Evidence
				}
			}
			health := s.modelComponents(time.Now())
			if test.want == "" {
				if evidence != "" || len(health) != 1 || !health[0].Healthy {
					t.Errorf("problem %q, health %+v", evidence, health)
				}
				return
			}
			if !strings.Contains(evidence, "small answers in place of big") || !strings.Contains(evidence, test.want) {
				t.Errorf("problem %q, want the stand-in and %q", evidence, test.want)
			}
			if len(health) != 1 || health[0].Name != "model" || health[0].State != "fallback" || health[0].Healthy {
				t.Errorf("health %+v", health)
			}
		})
	}
}
