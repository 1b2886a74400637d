package config

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

const docs = "../../docs/"

// The checked-in schema is the one that the program prints.
func TestSchemaFileIsGenerated(t *testing.T) {
	file := docs + SchemaFile
	testutil.Golden(t, *update, file, string(JSONSchema()))
}

// The tables of docs/configuration.md are generated from the program.
func TestConfigurationPageIsGenerated(t *testing.T) {
	file := docs + "configuration.md"
	text, err := os.ReadFile(file)
	testutil.OK(t, err)
	page, seen := string(text), 0
	for _, name := range []string{"top", "model", "models", "adapters", "limits", "alarms", "telemetry", "people", "tools", "tools.servers", "tools.commands", "tools.web", "tools.web.search", "agents", "spaces", "servers", "settings"} {
		begin, end := "<!-- keys: "+name+" -->\n", "<!-- end of keys -->\n"
		before, rest, ok := strings.Cut(page, begin)
		_, after, ended := strings.Cut(rest, end)
		part, known := generated(name)
		if !ok || !ended || !known {
			t.Fatalf("%s has lost the marks around %s", file, name)
		}
		page = before + begin + part + end + after
		seen++
	}
	if *update {
		testutil.OK(t, os.WriteFile(file, []byte(page), 0o644))
		return
	}
	if diff := cmp.Diff(page, string(text)); diff != "" {
		t.Errorf("%s; write it with: go test ./internal/config -update (-program +page)\n%s", file, diff)
	}
}

func resolvedSchema(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	var s jsonschema.Schema
	testutil.OK(t, json.Unmarshal(JSONSchema(), &s))
	r, err := s.Resolve(nil)
	testutil.OK(t, err)
	return r
}

// Files that load satisfy the schema, and files with an unknown key or word do not.
func TestSchemaAgreesWithTheProgram(t *testing.T) {
	r := resolvedSchema(t)
	judge := func(text string) error {
		var v any
		cover := newRefEscaper(text)
		testutil.OK(t, yaml.Unmarshal([]byte(cover.escape(text)), &v))
		raw, err := json.Marshal(v)
		testutil.OK(t, err)
		testutil.OK(t, json.Unmarshal([]byte(cover.unescape(string(raw))), &v))
		return r.Validate(v)
	}
	good, err := filepath.Glob("testdata/shapes/*.yaml")
	if err != nil || len(good) == 0 {
		t.Fatal("no shapes", err)
	}
	for _, file := range good {
		text, err := os.ReadFile(file)
		testutil.OK(t, err)
		if err := judge(string(text)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	for _, bad := range []string{
		"adaptors: {}", "admit: everybody", "agents: {ada: {phases: three}}", "model: {namee: x}", "budget: {per_moon: 3}",
		"max_steps: 0", "high_water: 80", "spaces: {den: {chats: {a: b}}}", "wait.timeout: soon", "adapters: {x: {type: irc}}",
		"model: {limits: {per_week: 3}}", "servers: {x: {name: y}}",
	} {
		if judge(bad) == nil {
			t.Errorf("the schema takes %q", bad)
		}
	}
}

// generated returns a generated part of docs/configuration.md: a section of the
// file, or "settings".
func generated(name string) (text string, ok bool) {
	if name == "settings" {
		return settingsPage(), true
	}
	if name == "top" {
		return keysPage(topKeys), true
	}
	keys := topKeys
	for part := range strings.SplitSeq(name, ".") {
		i := slices.IndexFunc(keys, func(k keyRow) bool { return k.name == part && len(k.form.of) > 0 })
		if i < 0 {
			return "", false
		}
		keys = keys[i].form.of
	}
	return keysPage(keys), true
}

func keysPage(keys []keyRow) string {
	var out strings.Builder
	out.WriteString("| key | default | meaning |\n| --- | --- | --- |\n")
	for _, k := range keys {
		fmt.Fprintf(&out, "| `%s` | %s | %s |\n", k.name, inCode(k.fallback), k.meaning)
	}
	return out.String()
}

func settingsPage() string {
	var out strings.Builder
	out.WriteString("| key | default | meaning |\n| --- | --- | --- |\n")
	for _, k := range settingKeys {
		meaning := k.description()
		if k.value.kind == oneWord {
			meaning += ": `" + strings.Join(k.value.words, "`, `") + "`"
		}
		fmt.Fprintf(&out, "| `%s` | `%s` | %s |\n", k.name, k.fallback, meaning)
	}
	return out.String()
}

// inCode formats a default as code unless it is a phrase.
func inCode(fallback string) string {
	if fallback == "" || strings.ContainsAny(fallback, " `") {
		return fallback
	}
	return "`" + fallback + "`"
}
