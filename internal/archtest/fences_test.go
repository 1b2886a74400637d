package archtest

import (
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A fence says where something from outside may be imported. Tests are free.
type fence struct {
	what  string   // an import path, or a module with all its packages
	where []string // patterns of folders; "..." is everywhere
	why   string
}

// modules lists every module of others that the program may import. A suite
// that tests import (adaptertest, storetest, llmtest) is part of the program.
var modules = []fence{
	{"github.com/spf13/cobra", []string{"cmd/..."}, "only the command line parses flags"},
	{"github.com/goccy/go-yaml", []string{"internal/config", "internal/skills"}, "configuration is decoded and checked in one place; the front matter of a skill is not of it"},
	{"golang.org/x/term", []string{"cmd/...", "adapters/local/..."}, "only the terminal's room edits lines"},
	{"github.com/mattn/go-isatty", []string{"cmd/...", "adapters/local/..."}, "only what faces a terminal asks for one"},
	{"github.com/go-telegram-bot-api/telegram-bot-api/v5", []string{"adapters/telegram/...", "internal/bench/..."}, "only an adapter talks to its platform; the benchmark's bare baseline is built on the same library"},
	{"github.com/slack-go/slack", []string{"adapters/slack/..."}, "only an adapter talks to its platform"},
	{"github.com/bwmarrin/discordgo", []string{"adapters/discord/..."}, "only an adapter talks to its platform"},
	{"github.com/adhocore/gronx", []string{"internal/cron"}, "only the calendar reads lines of cron: the library does not know that clocks are set"},
	{"github.com/gorilla/websocket", []string{"adapters/slack/...", "adapters/discord/...", "adapters/httpx", "adapters/fake/..."}, "sockets are a platform's affair"},
	{"github.com/yuin/goldmark", []string{"adapters/markup", "adapters/fake/..."}, "one reader of CommonMark serves every platform; a fake one judges by a reading of its own"},
	{"golang.org/x/net", []string{"adapters/markup", "internal/document", "internal/webpage"}, "what is an address is asked in one place: its top-level domain is on the public suffix list; only documents are HTML; only pages have hosts that people write"},
	{"golang.org/x/text", []string{"internal/document"}, "only files come in other encodings than UTF-8"},
	{"github.com/JohannesKaufmann/html-to-markdown/v2", []string{"internal/document"}, "only documents become Markdown"},
	{"codeberg.org/readeck/go-readability/v2", []string{"internal/document"}, "the content of a page is found in one place"},
	{"github.com/xuri/excelize/v2", []string{"internal/document"}, "one package reads files of strangers, within its limits"},
	{"github.com/pdfcpu/pdfcpu", []string{"internal/document"}, "one package reads files of strangers, within its limits"},
	{"github.com/anthropics/anthropic-sdk-go", []string{"internal/llm/anthropic"}, "one package speaks the Messages API"},
	{"google.golang.org/genai", []string{"internal/llm/gemini"}, "one package speaks the Gemini API"},
	{"github.com/sashabaranov/go-openai", []string{"internal/llm/openai/...", "internal/bench/..."}, "one package speaks to endpoints; the benchmark's baseline makes the same call"},
	{"github.com/tiktoken-go/tokenizer", []string{"hud", "internal/llm/...", "internal/bench/...", "cmd/..."}, "tokens are counted where a frame is fitted, and where it is measured"},
	{"github.com/google/jsonschema-go", []string{"shell", "internal/config"}, "one validator for every tool; the file has schemas of command tools"},
	{"github.com/modelcontextprotocol/go-sdk", []string{"internal/mcpclient", "internal/mcpserver", "internal/crashtest"}, "one package speaks to tool servers, one is such a server, and one serves tools that note each call"},
	{"github.com/ncruces/go-sqlite3", []string{"internal/store/...", "internal/crashtest/..."}, "only a store opens a database; the auditor reads it after a kill"},
	{"github.com/jackc/pgx/v5", []string{"internal/store/...", "internal/pubsub/pgnotify", "internal/testservers"}, "only a store and LISTEN/NOTIFY open a database; tests create empty ones"},
	{"github.com/redis/go-redis/v9", []string{"internal/pubsub/..."}, "only a doorbell speaks to Redis"},
	{"github.com/pressly/goose/v3", []string{"internal/store/..."}, "only a store migrates"},
	{"github.com/prometheus/client_golang", []string{"internal/telemetry"}, "figures are exposed in one place"},
	{"go.opentelemetry.io/otel", []string{"internal/telemetry"}, "spans are made of the record in one place, and nothing on a message's way knows of them"},
	{"golang.org/x/time", []string{"activity/...", "adapters/fake/...", "adapters/hook", "adapters/slack/...", "internal/pubsub/..."}, "budgets of calls are kept at the border"},
	{"github.com/cenkalti/backoff/v5", []string{"activity", "internal/retry", "adapters/...", "internal/pubsub/...", "internal/pubsub/pgnotify", "internal/llm/...", "shell", "cmd/..."}, "whoever retries, waits with jitter"},
	{"github.com/google/uuid", []string{"activity", "spaces", "shell", "internal/...", "cmd/..."}, "ids are minted where things are born, never in the view"},
	{"golang.org/x/sync", []string{"..."}, "errgroup: whoever starts, waits"},
	{"golang.org/x/sys", []string{"internal/store/...", "internal/crashtest/...", "internal/bench/...", "internal/toolproc", "cmd/..."}, "locks, kinds of file systems, signals, limits of processes"},
	{"github.com/google/go-cmp", []string{"adapters/adaptertest", "internal/testutil", "internal/store/storetest"}, "deep comparison in suites"},
	{"pgregory.net/rapid", []string{"internal/store/storetest"}, "property tests in suites"},
	{"github.com/rogpeppe/go-internal", []string{"internal/console/api"}, "line differences of prompts; txtar and scripts in tests"},
}

// standard fences the packages of the standard library that tell what a
// package does to the world. What is not listed is free.
var standard = []fence{
	{"database/sql", []string{"internal/store/...", "internal/crashtest/..."}, "only a store holds SQL; the auditor reads it after a kill"},
	{"net/http", []string{"adapters/...", "internal/llm/...", "internal/mcpclient", "internal/mcpserver", "internal/safehttp", "internal/webpage", "internal/websearch", "internal/console/...", "internal/demo", "internal/alerts", "internal/doctor", "internal/clockskew", "internal/telemetry", "internal/crashtest/...", "internal/bench/...", "cmd/..."}, "only the outside speaks HTTP"},
	{"net", []string{"adapters/...", "internal/llm/...", "internal/safehttp", "internal/console", "internal/demo", "internal/config", "internal/systemd", "internal/doctor", "internal/testservers", "internal/store/postgres", "internal/crashtest/...", "internal/bench/...", "cmd/..."}, "only the outside opens sockets"},
	{"os/exec", []string{"internal/document", "internal/toolproc", "internal/testservers", "internal/crashtest/...", "internal/bench/...", "cmd/..."}, "one package starts the operator's tools, another pdftotext where it is installed; tests start private servers"},
	{"plugin", nil, "no code is loaded at run time"},
	{"unsafe", []string{"hud"}, "for a name alone: a library keeps for ever what is needed now and then"},
	{"reflect", []string{"internal/store/sqlite"}, "types are known where they are used; only cells of a table are put wherever their reader points"},
	{"log", nil, "log/slog, as a field"},
	{"os", []string{"adapters/fake/...", "adapters/local/...", "internal/...", "cmd/...", "shell/prompts"}, "the record, the view, the agent and the border touch no file and no environment; texts that an operator writes are read in one place"},
}

func TestDependenciesStayInTheirPlace(t *testing.T) {
	report(t, "These imports are outside their fence (modules and standard, in internal/archtest/fences_test.go):",
		slices.Concat(strayModules(load(t).program(), modules), strayStandard(load(t).program(), standard)))
}

func strayModules(tr tree, fences []fence) []string {
	var stray []string
	for _, f := range tr {
		for imported, at := range f.imports() {
			host, _, _ := strings.Cut(imported, "/")
			if !strings.Contains(host, ".") || imported == module || strings.HasPrefix(imported, module+"/") {
				continue
			}
			i := slices.IndexFunc(fences, func(fe fence) bool {
				return imported == fe.what || strings.HasPrefix(imported, fe.what+"/")
			})
			switch {
			case i < 0:
				stray = append(stray, fmt.Sprintf("%s: %s is not a dependency we chose", at, imported))
			case !matchesAny(f.pkg, fences[i].where):
				stray = append(stray, fmt.Sprintf("%s: %s belongs in %s: %s", at, imported, list(fences[i].where), fences[i].why))
			}
		}
	}
	slices.Sort(stray)
	return stray
}

func strayStandard(tr tree, fences []fence) []string {
	var stray []string
	for _, f := range tr {
		for imported, at := range f.imports() {
			i := slices.IndexFunc(fences, func(fe fence) bool { return imported == fe.what })
			if i >= 0 && !matchesAny(f.pkg, fences[i].where) {
				stray = append(stray, fmt.Sprintf("%s: %s belongs in %s: %s", at, imported, list(fences[i].where), fences[i].why))
			}
		}
	}
	slices.Sort(stray)
	return stray
}

// The view is pure: same events, same budget, same bytes. So it never asks for
// the time, a random number or a file.
func TestViewAsksTheWorldForNothing(t *testing.T) {
	report(t, "hud may not ask the world; what it needs is an argument:", impure(load(t).program()))
}

func impure(tr tree) []string {
	var found []string
	for _, f := range tr {
		if f.pkg != "hud" {
			continue
		}
		for imported, at := range f.imports() {
			if slices.Contains([]string{"math/rand", "math/rand/v2", "crypto/rand", "log/slog"}, imported) {
				found = append(found, at+": "+imported)
			}
		}
		calls(f, func(pkg, name string, n ast.Node) {
			if pkg == "time" && slices.Contains([]string{"Now", "Since", "Until", "After", "Sleep", "NewTimer", "NewTicker"}, name) {
				found = append(found, f.at(n.Pos())+": time."+name)
			}
		})
	}
	slices.Sort(found)
	return found
}

// calls visits every selector pkg.name of the file whose pkg is an identifier.
func calls(f *source, visit func(pkg, name string, n ast.Node)) {
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok {
				visit(x.Name, sel.Sel.Name, sel)
			}
		}
		return true
	})
}

// SECURITY S15: every direct dependency has its reason in a file, with the
// version in use.
func TestEveryDependencyIsExplained(t *testing.T) {
	top := root(t)
	mod, err := os.ReadFile(filepath.Join(top, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile(filepath.Join(top, "docs", "dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	report(t, "docs/dependencies.md must have a table row for each module that the tree imports, with its version in go.mod:",
		unexplained(load(t), string(mod), string(doc)))
}

func unexplained(tr tree, mod, doc string) []string {
	versions := map[string]string{} // module → version
	for line := range strings.Lines(mod) {
		words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(words) >= 2 && strings.HasPrefix(words[1], "v") {
			versions[words[0]] = words[1]
		}
	}
	var missing []string
	for _, f := range tr {
		for imported := range f.imports() {
			m := "" // the innermost module that holds the package
			for name := range versions {
				if (imported == name || strings.HasPrefix(imported, name+"/")) && len(name) > len(m) {
					m = name
				}
			}
			if row := fmt.Sprintf("| `%s` | %s |", m, versions[m]); m != "" && !strings.Contains(doc, row) {
				missing = append(missing, fmt.Sprintf("%s imports %s: no row that begins %q", f.path, m, row))
			}
		}
	}
	slices.Sort(missing)
	return slices.Compact(missing)
}

func TestStrayDependencyIsNamedWithItsPlace(t *testing.T) {
	tr := parse(t, map[string]string{
		"shell/wake.go":               "package shell\n\nimport (\n\t_ \"github.com/sashabaranov/go-openai\"\n\t_ \"database/sql\"\n)\n",
		"shell/new.go":                "package shell\n\nimport _ \"example.com/shiny\"\n",
		"internal/store/sqlite/db.go": "package sqlite\n\nimport (\n\t_ \"database/sql\"\n\t_ \"github.com/ncruces/go-sqlite3\"\n)\n",
		"hud/fit.go":                  "package hud\n\nimport (\n\t_ \"math/rand/v2\"\n\t\"time\"\n)\n\nvar now = time.Now()\n",
	})
	check := func(name string, got, want []string) {
		t.Helper()
		for i, s := range got {
			got[i], _, _ = strings.Cut(s, ": ")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	check("modules", strayModules(tr, modules), []string{"shell/new.go:3", "shell/wake.go:4"})
	check("standard", strayStandard(tr, standard), []string{"shell/wake.go:5"})
	check("impure", impure(tr), []string{"hud/fit.go:4", "hud/fit.go:8"})

	mod := "require (\n\tgithub.com/sashabaranov/go-openai v1.2.3\n\tgithub.com/ncruces/go-sqlite3 v0.37.0\n)\n"
	doc := "| `github.com/ncruces/go-sqlite3` | v0.36.0 | why |\n| `github.com/sashabaranov/go-openai` | v1.2.3 | why |\n"
	if got := unexplained(tr, mod, doc); len(got) != 1 || !strings.Contains(got[0], "github.com/ncruces/go-sqlite3") {
		t.Errorf("unexplained: got %q, want the stale version of github.com/ncruces/go-sqlite3 alone", got)
	}
}
