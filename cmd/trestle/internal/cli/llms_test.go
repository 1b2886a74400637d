package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

// llmsHead is what llms.txt begins with.
const llmsHead = `# Trestle

> LLM agents that live in Telegram chats, Slack channels and Discord servers. One Go program with an SQLite file, or many
> processes with Postgres and Redis. An agent keeps one memory over its rooms, sees a compressed view within a token budget, and
> acts through the same adapters that people use.

Try it without a token: ` + "`trestle run --demo`" + `. Every command takes ` + "`-o json`" + `. A finding or problem has a code such as TRS-T02, which is a heading of
docs/problems.md.

## Docs

`

// ECOSYSTEM 9: llms.txt lists every page of docs by its own title and first
// sentence. Rewritten with -update.
func TestLLMsFileListsEveryPage(t *testing.T) {
	root := filepath.Join("..", "..", "..", "..")
	pages := []string{"README.md", "ARCHITECTURE.md"}
	found, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(found) < 12 {
		t.Fatalf("%d pages, %v", len(found), err)
	}
	for _, file := range found {
		pages = append(pages, "docs/"+filepath.Base(file))
	}
	found, err = filepath.Glob(filepath.Join(root, "docs", "models", "*.md"))
	testutil.OK(t, err)
	for _, file := range found {
		pages = append(pages, "docs/models/"+filepath.Base(file))
	}
	var got strings.Builder
	got.WriteString(llmsHead)
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join(root, page))
		testutil.OK(t, err)
		title, about := headOf(string(text))
		if title == "" || about == "" {
			t.Errorf("%s has the title %q and begins with %q", page, title, about)
		}
		got.WriteString("- [" + title + "](" + page + "): " + about + "\n")
	}
	got.WriteString("\n## Optional\n\n- [Decisions](docs/adr/README.md): what was chosen, and what was given up\n- [Changes](CHANGELOG.md): release by release\n" +
		"- [API](internal/console/openapi.json): the console's JSON API as OpenAPI\n- [Configuration schema](docs/trestle.schema.json): every key as JSON schema\n")
	file := filepath.Join(root, "llms.txt")
	testutil.Golden(t, *update, file, got.String())
}

// Every page of docs says which kind it is, and the page of contents lists it under that kind.
func TestContentsListEveryPageByItsKind(t *testing.T) {
	docs := filepath.Join("..", "..", "..", "..", "docs")
	text, err := os.ReadFile(filepath.Join(docs, "README.md"))
	testutil.OK(t, err)
	listed := map[string]string{} // by the heading they are under
	for part := range strings.SplitSeq(string(text), "\n## ") {
		heading, pages, _ := strings.Cut(part, "\n")
		listed[heading] = pages
	}
	headings := map[string]string{
		"`tutorial`": "To learn", "`how-to`": "To do something", "`reference`": "To look up", "`explanation`": "To understand",
	}
	for _, pattern := range []string{"*.md", "models/*.md"} {
		found, err := filepath.Glob(filepath.Join(docs, pattern))
		testutil.OK(t, err)
		for _, file := range found {
			page, err := filepath.Rel(docs, file)
			testutil.OK(t, err)
			if page == "README.md" {
				continue
			}
			text, err := os.ReadFile(file)
			testutil.OK(t, err)
			kind := strings.Split(string(text), "\n")[2]
			if under := headings[kind]; under == "" || !strings.Contains(listed[under], "]("+page+")") {
				t.Errorf("%s says it is %q and is not listed under %q", page, kind, under)
			}
		}
	}
}

// headOf returns the title of a page and its first sentence.
func headOf(text string) (title, about string) {
	for part := range strings.SplitSeq(text, "\n\n") {
		part = strings.Join(strings.Fields(part), " ")
		switch {
		case title == "" && strings.HasPrefix(part, "# "):
			title = strings.TrimPrefix(part, "# ")
		case title != "" && part != "" && !strings.HasPrefix(part, "<!--") && !strings.HasPrefix(part, "#") && !strings.HasPrefix(part, "`"):
			about, _, _ = strings.Cut(part, ". ")
			return title, strings.TrimRight(about, ".:")
		}
	}
	return title, about
}
