package archtest

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// CARD-03, DESIGN 3: the top level is the idea; what it is on is below internal,
// and how it is packaged beside it.
func TestTheTopLevelIsTheIdea(t *testing.T) {
	folders := map[string]bool{}
	for _, s := range load(t) {
		first, _, below := strings.Cut(s.path, "/")
		if !below {
			t.Errorf("%s stands at the top level: it belongs in a folder", s.path)
		}
		folders[first] = true
	}
	want := []string{"activity", "adapters", "cmd", "hud", "internal", "migrations", "shell", "spaces"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(folders))); diff != "" {
		t.Errorf("folders with Go files (-want +got):\n%s", diff)
	}
	for _, name := range []string{"go.mod", "README.md"} {
		if _, err := os.Stat(filepath.Join(root(t), name)); err != nil {
			t.Error(err)
		}
	}
}

// CARD-01, CARD-11: one module and one program, in Go; what else has a main is a tool
// of the tree or lives below internal.
func TestThereIsOneProgram(t *testing.T) {
	var programs []string
	for _, s := range load(t).program() {
		if s.ast.Name.Name == "main" && !strings.HasPrefix(s.pkg, "internal/") && !slices.Contains(programs, s.pkg) {
			programs = append(programs, s.pkg)
		}
	}
	if diff := cmp.Diff([]string{"cmd/trestle"}, programs); diff != "" {
		t.Errorf("programs (-want +got):\n%s", diff)
	}
	var others []string
	walk(t, func(name string) bool { return strings.HasSuffix(name, ".mod") }, func(name, text string) {
		if strings.HasPrefix(text, "module ") && name != "go.mod" && name != "tools.mod" {
			others = append(others, name)
		}
	})
	report(t, "The tree is one module:", others)
}

// CARD-02: each platform, store and endpoint is spoken to by the client that was
// chosen for it, and by no other: a module without a fence fails
// TestDependenciesStayInTheirPlace.
func TestEachServiceHasItsClient(t *testing.T) {
	used := map[string]string{}
	for _, s := range load(t).program() {
		for imported := range s.imports() {
			for _, f := range modules {
				if imported == f.what || strings.HasPrefix(imported, f.what+"/") {
					used[f.what+" "+s.pkg] = s.path
				}
			}
		}
	}
	for client, folder := range map[string]string{
		"github.com/go-telegram-bot-api/telegram-bot-api/v5": "adapters/telegram",
		"github.com/slack-go/slack":                          "adapters/slack",
		"github.com/bwmarrin/discordgo":                      "adapters/discord",
		"github.com/redis/go-redis/v9":                       "internal/pubsub/redis",
		"github.com/jackc/pgx/v5":                            "internal/store/postgres",
		"github.com/sashabaranov/go-openai":                  "internal/llm/openai",
		"github.com/anthropics/anthropic-sdk-go":             "internal/llm/anthropic",
		"google.golang.org/genai":                            "internal/llm/gemini",
	} {
		if used[client+" "+folder] == "" {
			t.Errorf("%s does not use %s", folder, client)
		}
	}
}
