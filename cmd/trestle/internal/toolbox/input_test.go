package toolbox

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trestle-bridge/trestle/internal/mcpclient"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/shell"
)

// sizes is an MCP server whose tool asks for a size, and says with what it was answered.
func sizes(t *testing.T) string {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "order", Description: "Order a shirt."}, func(_ context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		if r.Params.InputResponses == nil {
			form := &mcp.ElicitParams{Message: "Which size?", RequestedSchema: json.RawMessage(
				`{"type":"object","properties":{"size":{"type":"string","enum":["s","m"],"enumNames":["Small","Medium"]},"note":{"type":"string"}},"required":["size"]}`)}
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"q": form}, RequestState: "state-1"}, nil, nil
		}
		said, _ := json.Marshal(r.Params.InputResponses)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: r.Params.RequestState + " " + string(said)}}}, nil, nil
	})
	server := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true}))
	t.Cleanup(server.Close)
	return server.URL
}

// A form that is a choice becomes options for a person, and the call is made again with
// the one that was chosen.
func TestAServerAsksForAChoice(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir, load(t, dir, "tools: {servers: {shop: {url: \""+sizes(t)+"\"}}}\nagents: {ada: {tools: [shop]}}\n"))
	eventually(t, b, "shop_order")
	use := shell.ToolUse{ID: "1", Tool: "shop_order", Agent: "ada", Args: json.RawMessage(`{}`)}
	got, err := b.Use(t.Context(), use)
	testutil.OK(t, err)
	if got.Failed || got.Text != "" || got.Input.Question != "Which size?" || !slices.Equal(got.Input.Options, []string{"Small", "Medium"}) {
		t.Fatalf("answer %+v", got)
	}
	use.Input = got.Input
	use.Input.Choice = 2
	got, err = b.Use(t.Context(), use)
	testutil.OK(t, err)
	testutil.Same(t, "answer", `state-1 {"q":{"action":"accept","content":{"size":"m"}}}`, got.Text)
}

func TestWhichFormsAreChoices(t *testing.T) {
	text := func(required bool, choices ...string) mcpclient.InputField {
		f := mcpclient.InputField{Name: "f", Kind: mcpclient.TextField, Required: required}
		for _, c := range choices {
			f.Choices = append(f.Choices, mcpclient.FieldChoice{Value: c})
		}
		return f
	}
	for name, c := range map[string]struct {
		fields []mcpclient.InputField
		want   []string
	}{
		"a plain yes":                {nil, []string{"Yes", "No"}},
		"yes or no":                  {[]mcpclient.InputField{{Name: "f", Kind: mcpclient.YesNoField}}, []string{"Yes", "No"}},
		"values":                     {[]mcpclient.InputField{text(false, "a", "b\u202e")}, []string{"a", "b"}},
		"a value without a name":     {[]mcpclient.InputField{text(false, "a", "")}, []string{"a", "2"}},
		"one value":                  {[]mcpclient.InputField{text(true, "a")}, nil},
		"too many values":            {[]mcpclient.InputField{text(true, "1", "2", "3", "4", "5", "6", "7", "8")}, nil},
		"any text":                   {[]mcpclient.InputField{text(true)}, nil},
		"another that is optional":   {[]mcpclient.InputField{text(true, "a", "b"), text(false)}, []string{"a", "b"}},
		"two that are required":      {[]mcpclient.InputField{text(true, "a", "b"), text(true, "c", "d")}, nil},
		"two that are both optional": {[]mcpclient.InputField{text(false, "a", "b"), text(false, "c", "d")}, nil},
	} {
		in := inputOf(&mcpclient.InputRequired{Questions: []mcpclient.InputQuestion{{ID: "q", Message: "m", Fields: c.fields}}})
		if !slices.Equal(in.Options, c.want) || (in.Question != "") != (c.want != nil) {
			t.Errorf("%s: %q %q, want %q", name, in.Question, in.Options, c.want)
		}
	}
}
