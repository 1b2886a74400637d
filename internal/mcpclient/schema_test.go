package mcpclient

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

func decoded(tb testing.TB, text string) any {
	tb.Helper()
	var v any
	testutil.OK(tb, json.Unmarshal([]byte(text), &v))
	return v
}

func TestSchemaIsCleaned(t *testing.T) {
	for raw, want := range map[string]string{
		`null`: `{"properties":{},"type":"object"}`,
		`{}`:   `{"properties":{},"type":"object"}`,
		`{"$schema":"x","$id":"y","title":"T","type":"object","x-vendor":1,"examples":[{}],"properties":{"title":{"type":"string","title":"Title","description":"  a\u202eb\u200b "}},"required":["title","gone"]}`: `{"properties":{"title":{"description":"ab","type":"string"}},"required":["title"],"type":"object"}`,
		// references, as generators for Python write them
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/A","description":"own"}},"$defs":{"A":{"type":"object","description":"its","properties":{"b":{"$ref":"#/$defs/B~1C"}}},"B/C":{"enum":["x"],"type":"string"}}}`: `{"properties":{"a":{"description":"own","properties":{"b":{"enum":["x"],"type":"string"}},"type":"object"}},"type":"object"}`,
		// a tree refers to itself
		`{"type":"object","properties":{"n":{"$ref":"#/$defs/N"}},"$defs":{"N":{"type":"object","properties":{"child":{"$ref":"#/$defs/N"}}}}}`: `{"properties":{"n":{"properties":{"child":{}},"type":"object"}},"type":"object"}`,
		`{"$ref":"#"}`: `{"properties":{},"type":"object"}`,
		`{"type":"object","properties":{"a":{"$ref":"https://evil.example/s.json"},"b":{"$ref":"#/nowhere"},"c":{"$ref":"#/type"}}}`:                                                                                                                                                    `{"properties":{"a":{},"b":{},"c":{}},"type":"object"}`,
		`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null},"b":{"type":["integer","null"],"minimum":1,"maximum":"x"},"c":true,"d":{"type":"array","items":{"type":"string","pattern":"^a$"},"minItems":1}},"additionalProperties":false}`: `{"additionalProperties":false,"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null},"b":{"minimum":1,"type":["integer","null"]},"c":true,"d":{"items":{"pattern":"^a$","type":"string"},"minItems":1,"type":"array"}},"type":"object"}`,
		// names that endpoints refuse
		`{"type":"object","properties":{"ok":{"type":"string"},"not ok":{"type":"string"},"` + strings.Repeat("n", 65) + `":{}}}`: `{"properties":{"ok":{"type":"string"}},"type":"object"}`,
		// orders hidden in values
		`{"type":"object","properties":{"a":{"type":"string","enum":["x","y\u200b"],"default":"\u202e"}}}`:                     `{"properties":{"a":{"type":"string"}},"type":"object"}`,
		`{"type":"object","properties":{"a":{"type":"wrong","enum":"x","items":3,"anyOf":{},"required":"a","description":7}}}`: `{"properties":{"a":{}},"type":"object"}`,
	} {
		got, err := CleanSchema(decoded(t, raw))
		testutil.OK(t, err)
		if string(got) != want {
			t.Errorf("%s\n got %s\nwant %s", raw, got, want)
		}
	}
}

func TestSchemaBeyondBoundsIsRefused(t *testing.T) {
	deep := strings.Repeat(`{"type":"object","properties":{"a":`, maxDepth+2) + "{}" + strings.Repeat("}}", maxDepth+2)
	var bomb strings.Builder
	bomb.WriteString(`{"type":"object","properties":{"a":{"$ref":"#/$defs/d0"}},"$defs":{`)
	for i := range 10 {
		fmt.Fprintf(&bomb, `"d%d":{"anyOf":[%s]},`, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf(`{"$ref":"#/$defs/d%d"},`, i+1), 10), ","))
	}
	bomb.WriteString(`"d10":{"type":"string"}}}`)
	var wide strings.Builder
	wide.WriteString(`{"type":"object","properties":{`)
	for i := range 1000 {
		fmt.Fprintf(&wide, `"p%d":{"type":"string","description":"%s"},`, i, strings.Repeat("d", 100))
	}
	for name, raw := range map[string]string{
		"deep": deep, "bomb": bomb.String(), "wide": strings.TrimSuffix(wide.String(), ",") + "}}", "raw": `{"x":"` + strings.Repeat("x", maxRawSchema) + `"}`,
		"array": `[]`, "string": `"x"`, "array type": `{"type":"array"}`,
		"argument": `{"type":"object","properties":{"not ok":{}},"required":["not ok"]}`,
	} {
		if got, err := CleanSchema(decoded(t, raw)); err == nil {
			t.Errorf("%s: %d bytes are accepted", name, len(got))
		}
	}
}

// What comes out is bounded, canonical, unchanged by a second cleaning, and a schema
// that the validator of arguments takes.
func FuzzSchema(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"$ref":"#/$defs/A"}}}`,
		`{"anyOf":[{"type":"string"}],"items":true,"not":{},"required":["a"],"properties":{"a":false}}`,
		`{"properties":{"a":{"type":["string",null],"enum":[1,{}],"const":{"a":[]},"multipleOf":0,"minLength":-1.5,"pattern":"("}}}`,
		`{"patternProperties":{"(":{}},"prefixItems":[1,{}],"uniqueItems":3,"maxItems":1e300}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		var v any
		if json.Unmarshal([]byte(raw), &v) != nil {
			return
		}
		got, err := CleanSchema(v)
		if err != nil {
			return
		}
		if len(got) > maxSchema || !isObject(got) {
			t.Fatalf("got %d bytes: %.100s", len(got), got)
		}
		again, err := CleanSchema(decoded(t, string(got)))
		testutil.OK(t, err)
		if string(again) != string(got) {
			t.Fatalf("cleaned twice\n%s\n%s", got, again)
		}
		var schema jsonschema.Schema
		if err := json.Unmarshal(got, &schema); err != nil {
			t.Fatalf("%s\n%v", got, err)
		}
		if _, err := schema.Resolve(nil); err != nil {
			t.Fatalf("%s\n%v", got, err)
		}
	})
}

func TestToolsThatCannotBeOfferedAreNamed(t *testing.T) {
	s := &ToolServer{name: "files"}
	object := map[string]any{"type": "object"}
	no := false
	tools, skipped := s.readTools([]*mcp.Tool{
		nil,
		{Name: "read", InputSchema: object, Title: " A \n B ", Description: "Reads.\u200b\U000E0041 \u202enow", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		{Name: "write", InputSchema: object, Annotations: &mcp.ToolAnnotations{DestructiveHint: &no, OpenWorldHint: &no, IdempotentHint: true, Title: "Write"}},
		{Name: "READ", InputSchema: object},
		{Name: "", InputSchema: object},
		{Name: "send message", InputSchema: object},
		{Name: "se\u043fd", InputSchema: object}, // a Cyrillic letter
		{Name: "../up", InputSchema: object},
		{Name: strings.Repeat("n", 59), InputSchema: object},
		{Name: strings.Repeat("m", 58), InputSchema: object},
		{Name: "list", InputSchema: map[string]any{"type": "array"}},
		{Name: "long", InputSchema: object, Description: strings.Repeat("d", 10_000)},
	})
	var names, reasons []string
	for _, tool := range tools {
		names = append(names, tool.Name)
	}
	for _, one := range skipped {
		reasons = append(reasons, one.Name+": "+one.Reason)
	}
	testutil.Same(t, "names", []string{"long", strings.Repeat("m", 58), "read", "write"}, names)
	if len(skipped) != 7 {
		t.Errorf("skipped: %s", strings.Join(reasons, "\n"))
	}
	read, write := tools[2], tools[3]
	testutil.Same(t, "title", "A B", read.Title)
	testutil.Same(t, "description", "Reads. now", read.Description)
	testutil.Same(t, "hints", ToolHints{ReadOnly: true, OpenWorld: true}, read.Hints)
	testutil.Same(t, "hints", ToolHints{Idempotent: true}, write.Hints)
	if len(tools[0].Description) > maxDescription+3 {
		t.Errorf("a description of %d bytes", len(tools[0].Description))
	}
}

// Whatever a person or a model is shown of a tool, and what approvals rest on, is pinned.
func TestHashPinsAllThatIsShown(t *testing.T) {
	schema := decoded(t, `{"type":"object","properties":{"a":{"type":"string"},"b":{}}}`)
	base := func() *mcp.Tool { return &mcp.Tool{Name: "n", Title: "t", Description: "d", InputSchema: schema} }
	hash := func(change func(*mcp.Tool)) string {
		tool := base()
		change(tool)
		info, err := readTool(tool)
		testutil.OK(t, err)
		return info.Hash
	}
	same := hash(func(*mcp.Tool) {})
	if got := hash(func(tool *mcp.Tool) {
		tool.InputSchema = decoded(t, `{"properties":{"b":{},"a":{"type":"string"}},"type":"object","title":"T"}`)
	}); got != same {
		t.Error("the order of keys changes the hash")
	}
	yes := true
	for what, change := range map[string]func(*mcp.Tool){
		"name":        func(tool *mcp.Tool) { tool.Name = "m" },
		"title":       func(tool *mcp.Tool) { tool.Title = "u" },
		"description": func(tool *mcp.Tool) { tool.Description = "e" },
		"schema":      func(tool *mcp.Tool) { tool.InputSchema = map[string]any{"type": "object"} },
		"read only":   func(tool *mcp.Tool) { tool.Annotations = &mcp.ToolAnnotations{ReadOnlyHint: true} },
		"idempotent":  func(tool *mcp.Tool) { tool.Annotations = &mcp.ToolAnnotations{IdempotentHint: true} },
		"moved":       func(tool *mcp.Tool) { tool.Title, tool.Description = "", "t" },
	} {
		if hash(change) == same {
			t.Errorf("a change of the %s keeps the hash", what)
		}
	}
	if hash(func(tool *mcp.Tool) { tool.Annotations = &mcp.ToolAnnotations{DestructiveHint: &yes} }) != same {
		t.Error("a hint that says the default changes the hash")
	}
	a, err := readTool(base())
	testutil.OK(t, err)
	b, c := a, a
	b.Name, c.Description = "b", "changed"
	changes := CompareTools([]ToolInfo{a, b}, []ToolInfo{c, {Name: "new"}})
	var got []string
	for _, change := range changes {
		got = append(got, fmt.Sprintf("%s %v %v", change.Name, change.Old != nil, change.New != nil))
	}
	testutil.Same(t, "changes", []string{"b true false", "n true true", "new false true"}, got)
	if len(CompareTools([]ToolInfo{a, b}, []ToolInfo{b, a})) > 0 {
		t.Error("the order of tools is a change")
	}
}
