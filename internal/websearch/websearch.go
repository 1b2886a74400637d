// Package websearch asks a search provider that the operator has chosen: an instance
// of SearXNG by its JSON (docs.searxng.org/dev/search_api.html), or Brave's Web Search
// API (api-dashboard.search.brave.com/app/documentation/web-search). It reads no pages
// of results that are made for browsers.
package websearch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/safehttp"
)

// ProviderKind is a kind of search provider.
type ProviderKind string

// The kinds of providers.
const (
	SearXNG ProviderKind = "searxng"
	Brave   ProviderKind = "brave"
)

// braveAddress is where Brave's API is.
const braveAddress = "https://api.search.brave.com/"

// SearchOptions name a provider. A zero field has its default.
type SearchOptions struct {
	Kind ProviderKind
	// Address is the base URL of the provider, which may be at a private address; it
	// may name a user and a password. Default for Brave: that of its API.
	Address string
	// Key is sent to Brave in the header X-Subscription-Token. No error contains it.
	Key adapters.SecretString
	// Timeout limits one search. Default: 10 s.
	Timeout time.Duration
}

// A SearchQuery is what to look for.
type SearchQuery struct {
	Text string
	// Count is how many results are wanted, at most 20. Default: 5.
	Count int
	// Language is a code such as "de" or "pt-BR"; results in others may come too.
	// Default: the provider's choice.
	Language string
}

// A SearchResult is a page that the provider has found. Its texts are the page's
// own: plain text of bounded length, from outside.
type SearchResult struct {
	Title   string
	Address string // begins with http:// or https://
	Excerpt string
}

// Problems of a search, found with errors.Is in the error of [SearchClient.Search].
// Their texts say what a person can do.
var (
	ErrQuery       = errors.New("there is nothing to search for; a query has 1 to 400 characters")
	ErrKey         = errors.New("the search provider did not accept the key; the operator can set tools.web.search.key anew")
	ErrFormat      = errors.New("the search provider does not answer JSON; the operator of SearXNG can add json to search.formats in its settings.yml")
	ErrBusy        = errors.New("the search provider was asked too often; try again later")
	ErrUnreachable = errors.New("the search provider cannot be reached; try again later")
	ErrSlow        = errors.New("the search provider did not answer in time; try again later")
	ErrAnswer      = errors.New("the search provider did not give an answer that can be used; try again later")
)

// Bounds of a search.
const (
	maxQuery   = 400 // characters, of Brave
	maxResults = 20  // of Brave
	maxAnswer  = 2 << 20
	maxTitle   = 200 // characters
	maxExcerpt = 600
)

// A SearchClient asks one provider. It is safe for concurrent use.
type SearchClient struct {
	kind ProviderKind
	base *url.URL
	http *safehttp.Client
}

// New returns a client. It fails for an unknown kind, for an address that is no base
// URL, and for Brave without a key.
func New(o SearchOptions) (*SearchClient, error) {
	if o.Kind == Brave {
		o.Address = cmp.Or(o.Address, braveAddress)
	}
	base, err := url.Parse(o.Address)
	switch {
	case o.Kind != SearXNG && o.Kind != Brave:
		return nil, fmt.Errorf("websearch: unknown kind %q, want %s or %s", o.Kind, SearXNG, Brave)
	case err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https":
		return nil, errors.New("websearch: the address must begin with http:// or https:// and a host")
	case o.Kind == Brave && o.Key == "":
		return nil, errors.New("websearch: Brave needs a key")
	}
	user := base.User
	base.User = nil
	client, err := safehttp.New(safehttp.Options{
		Own: []string{base.String()}, Limit: maxAnswer, Timeout: cmp.Or(o.Timeout, 10*time.Second),
		Authorize: func(r *http.Request) {
			r.Header.Set("Accept", "application/json")
			if o.Kind == Brave {
				r.Header.Set("X-Subscription-Token", string(o.Key))
			}
			if password, ok := user.Password(); ok {
				r.SetBasicAuth(user.Username(), password)
			}
		},
	})
	return &SearchClient{o.Kind, base, client}, err
}

// Search returns what the provider finds, best first; nothing found is no error. Its
// errors are one of the problems above, or the error of ctx.
func (c *SearchClient) Search(ctx context.Context, q SearchQuery) ([]SearchResult, error) {
	q.Text = strings.Join(strings.Fields(q.Text), " ")
	if n := utf8.RuneCountInString(q.Text); n == 0 || n > maxQuery {
		return nil, ErrQuery
	}
	q.Count = min(cmp.Or(max(q.Count, 0), 5), maxResults)
	f, err := c.http.Get(ctx, c.address(q), 0)
	if err != nil {
		return nil, c.problem(ctx, err)
	}
	defer f.Close() //nolint:errcheck // what was read is whole
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, c.problem(ctx, err)
	}
	if c.kind == Brave {
		return readBrave(text, q.Count)
	}
	return readSearXNG(text, q.Count)
}

var languageCode = regexp.MustCompile(`^[A-Za-z]{2,3}(-[A-Za-z]{2,4})?$`)

// address returns the URL of a search.
func (c *SearchClient) address(q SearchQuery) string {
	v := url.Values{"q": {q.Text}}
	language := ""
	if languageCode.MatchString(q.Language) {
		language = q.Language
	}
	path := "search"
	if c.kind == Brave {
		path = "res/v1/web/search"
		v.Set("count", strconv.Itoa(q.Count))
		v.Set("text_decorations", "false")
		v.Set("result_filter", "web")
		if language != "" {
			v.Set("search_lang", braveLanguage(language))
		}
	} else {
		v.Set("format", "json")
		if language != "" {
			v.Set("language", language)
		}
	}
	u := c.base.JoinPath(path)
	u.RawQuery = v.Encode()
	return u.String()
}

// braveLanguage returns a language as the API's list has it: without a region, but
// for those that are written differently in theirs.
func braveLanguage(code string) string {
	code = strings.ToLower(code)
	language, region, _ := strings.Cut(code, "-")
	switch {
	case language == "zh" && (region == "tw" || region == "hk" || region == "hant"):
		return "zh-hant"
	case language == "zh":
		return "zh-hans"
	case language == "pt" && region == "pt", language == "en" && region == "gb":
		return code
	case language == "pt":
		return "pt-br"
	case language == "ja":
		return "jp"
	}
	return language
}

// problem returns what an error of the request means, unless ctx has ended.
func (c *SearchClient) problem(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	status, _ := errors.AsType[safehttp.StatusError](err)
	switch {
	case status.Code == http.StatusTooManyRequests:
		return fmt.Errorf("%w (HTTP %d)", ErrBusy, status.Code)
	case c.kind == SearXNG && status.Code == http.StatusForbidden:
		return fmt.Errorf("%w (HTTP %d)", ErrFormat, status.Code)
	case status.Code == http.StatusUnauthorized, status.Code == http.StatusForbidden, c.kind == Brave && status.Code == http.StatusUnprocessableEntity:
		return fmt.Errorf("%w (HTTP %d)", ErrKey, status.Code)
	case status.Code != 0:
		return fmt.Errorf("%w (HTTP %d)", ErrAnswer, status.Code)
	case errors.Is(err, context.DeadlineExceeded):
		return ErrSlow
	case errors.Is(err, safehttp.ErrTooLarge), errors.Is(err, safehttp.ErrForbidden):
		return ErrAnswer
	}
	return ErrUnreachable
}

// readBrave reads an answer of Brave's API.
func readBrave(text []byte, count int) ([]SearchResult, error) {
	var answer struct {
		Type string
		Web  struct {
			Results []struct{ Title, URL, Description string }
		}
	}
	if err := json.Unmarshal(text, &answer); err != nil || answer.Type != "search" {
		return nil, ErrAnswer
	}
	var found []SearchResult
	for _, r := range answer.Web.Results {
		found = addResult(found, r.Title, r.URL, r.Description, count)
	}
	return found, nil
}

// readSearXNG reads an answer of SearXNG. An instance whose search engines all fail
// answers with no results and their names.
func readSearXNG(text []byte, count int) ([]SearchResult, error) {
	var answer struct {
		Results      []struct{ Title, URL, Content string }
		Unresponsive []json.RawMessage `json:"unresponsive_engines"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, ErrFormat
	}
	var found []SearchResult
	for _, r := range answer.Results {
		found = addResult(found, r.Title, r.URL, r.Content, count)
	}
	if len(found) == 0 && len(answer.Unresponsive) > 0 {
		return nil, ErrAnswer
	}
	return found, nil
}

// addResult adds a result with the address of a page that is not among found yet.
func addResult(found []SearchResult, title, address, excerpt string, count int) []SearchResult {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || len(address) > 2000 || len(found) >= count {
		return found
	}
	for _, f := range found {
		if f.Address == u.String() {
			return found
		}
	}
	return append(found, SearchResult{plainText(title, maxTitle), u.String(), plainText(excerpt, maxExcerpt)})
}

// tag is an element of HTML, which excerpts mark words with.
var tag = regexp.MustCompile(`</?[a-zA-Z][^<>]{0,100}>`)

// plainText returns text without marks of HTML and control characters, at most n
// characters of it.
func plainText(text string, n int) string {
	text = html.UnescapeString(tag.ReplaceAllString(text, ""))
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, ""), func(r rune) bool {
		return r <= ' ' || r >= 0x7f && r <= 0xa0 || r == '\u2028' || r == '\u2029'
	}), " ")
	if runes := []rune(text); len(runes) > n {
		return strings.TrimSpace(string(runes[:n-1])) + "…"
	}
	return text
}
