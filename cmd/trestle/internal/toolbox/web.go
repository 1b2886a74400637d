package toolbox

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/webpage"
	"github.com/trestle-bridge/trestle/internal/websearch"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// The tools for the web and their arguments.
const (
	webFetch  = "fetch"
	webSearch = "search"

	fetchSchema  = `{"type":"object","properties":{"url":{"type":"string","description":"address of the page or document"}},"required":["url"]}`
	searchSchema = `{"type":"object","properties":{"query":{"type":"string"},"count":{"type":"integer","description":"results, at most 20; default 5"},"language":{"type":"string","description":"such as de or pt-BR"}},"required":["query"]}`
)

// A webSource fetches pages and searches the web.
type webSource struct {
	of     config.WebToolConfig
	pages  *webpage.PageClient     // nil: no pages are fetched
	search *websearch.SearchClient // nil: nothing is searched
}

func (b *Box) openWeb(of config.WebToolConfig) (toolSource, error) {
	w := &webSource{of: of}
	var err error
	if of.Fetch {
		if w.pages, err = webpage.New(webpage.FetchOptions{UserAgent: "trestle/" + b.options.Version, Own: b.options.OwnPages}); err != nil {
			return nil, err
		}
	}
	if of.SearchKind != "" {
		w.search, err = websearch.New(websearch.SearchOptions{Kind: websearch.ProviderKind(of.SearchKind), Address: of.SearchURL, Key: of.SearchKey})
	}
	return w, err
}

func (w *webSource) name() string { return config.WebTools }

func (w *webSource) isOf(entry any) bool { return entry == any(w.of) }

func (w *webSource) tools() ([]sourceTool, string) {
	var all []sourceTool
	tool := shell.OutsideTool{Tier: spaces.TierPlatform, ReadOnly: true, Repeats: true, Reaches: true}
	if w.pages != nil {
		tool.About, tool.Schema = "Read a page or document of the web as text.", json.RawMessage(fetchSchema)
		all = append(all, sourceTool{webFetch, tool})
	}
	if w.search != nil {
		tool.About, tool.Schema = "Search the web. Fetch a result to read it.", json.RawMessage(searchSchema)
		all = append(all, sourceTool{webSearch, tool})
	}
	return all, "web"
}

func (w *webSource) use(ctx context.Context, tool string, use shell.ToolUse) (shell.ToolAnswer, error) {
	var args struct {
		URL      string `json:"url"`
		Query    string `json:"query"`
		Count    int    `json:"count"`
		Language string `json:"language"`
	}
	if err := json.Unmarshal(use.Args, &args); err != nil {
		return shell.ToolAnswer{Text: "The arguments cannot be read.", Failed: true}, err
	}
	var text string
	var err error
	if tool == webFetch {
		text, err = w.fetch(ctx, args.URL)
	} else {
		text, err = w.find(ctx, websearch.SearchQuery{Text: args.Query, Count: args.Count, Language: args.Language})
	}
	if err != nil && ctx.Err() == nil {
		return shell.ToolAnswer{Text: err.Error(), Failed: true}, nil
	}
	return shell.ToolAnswer{Text: text}, err
}

func (w *webSource) fetch(ctx context.Context, address string) (string, error) {
	page, err := w.pages.Fetch(ctx, address)
	if err != nil {
		return "", err
	}
	text := "Address: " + page.Address + "\n"
	if page.Title != "" {
		text += "Title: " + page.Title + "\n"
	}
	text += "\n" + page.Markdown
	if page.Cut {
		text += "\n[the page says more than could be read]"
	}
	return text, nil
}

func (w *webSource) find(ctx context.Context, q websearch.SearchQuery) (string, error) {
	found, err := w.search.Search(ctx, q)
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "Nothing was found.", nil
	}
	var b strings.Builder
	for i, r := range found {
		fmt.Fprintf(&b, "%d. %s\n%s\n%s\n", i+1, r.Title, r.Address, r.Excerpt)
	}
	return b.String(), nil
}

func (w *webSource) close() {}
