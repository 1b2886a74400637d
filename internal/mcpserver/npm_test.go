//go:build npm

package mcpserver

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/spaces"
)

// noRooms has no rooms.
type noRooms struct{}

func (noRooms) ShowRooms(_ context.Context, _ spaces.EntityID, show func(*hud.MindView)) error {
	show(new(hud.MindView))
	return nil
}

func (noRooms) SendMessage(context.Context, spaces.AgentID, Message) (int64, error) { return 0, nil }

// conformance are the scenarios of the protocol's conformance suite for what the server has:
// tools, the transport and the stages of a connection, with the checks that it cannot pass.
// Other scenarios ask for tools, resources, prompts and tasks of the suite's own server.
var conformance = map[string][]string{
	"server-initialize": nil,
	"server-stateless": { // these call tools of the suite's own server
		"sep-2575-server-rejects-undeclared-capability", "sep-2575-missing-capability-http-400",
		"sep-2575-http-server-no-independent-requests-on-stream", "sep-2575-server-no-log-without-loglevel",
	},
	"ping":       nil,
	"tools-list": nil,
	"caching": { // there are no prompts and resources
		"sep-2549-prompts-list-caching-hints", "sep-2549-resources-list-caching-hints", "sep-2549-resources-templates-list-caching-hints",
	},
	"http-header-validation":                    nil,
	"input-required-result-unsupported-methods": nil,
}

// verdict is a line of the suite's report.
var verdict = regexp.MustCompile(`\[([a-z0-9-]+) *\] (SUCCESS|FAILURE)`)

// colour is what the suite writes around words for terminals.
var colour = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// The server passes the official conformance suite. That its address cannot be
// reached under another host's name is the console's part, see [NewHandler].
func TestNpmConformance(t *testing.T) {
	programs := filepath.Join(os.Getenv("NPM_MODULES"), ".bin")
	if !filepath.IsAbs(programs) {
		t.Fatal("NPM_MODULES is not set; run make mcp")
	}
	s := httptest.NewServer(NewHandler(Options{
		Rooms: noRooms{}, Version: "test", Logger: slog.New(slog.DiscardHandler),
		Access: func(*http.Request) Access { return Access{Person: "p", Name: "Maya", Agent: "ada", Send: true} },
	}))
	defer s.Close()
	passed := 0
	for scenario, exceptions := range conformance {
		t.Run(scenario, func(t *testing.T) {
			suite := exec.CommandContext(t.Context(), filepath.Join(programs, "node"), filepath.Join(programs, "conformance"), "server", "--scenario", scenario, "--url", s.URL)
			suite.Dir = t.TempDir()
			out, _ := suite.CombinedOutput() // it fails where an exception does
			found := verdict.FindAllStringSubmatch(colour.ReplaceAllString(string(out), ""), -1)
			good := 0
			for _, v := range found {
				switch {
				case v[2] == "SUCCESS":
					good++
				case !slices.Contains(exceptions, v[1]):
					t.Errorf("%s failed", v[1])
				}
			}
			if passed += good; good == 0 || t.Failed() {
				t.Errorf("%d checks passed:\n%s", good, out)
			}
		})
	}
	t.Logf("%d checks passed", passed)
}
