package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
)

const docs = "../../docs/"

// ECOSYSTEM 4: the schema that is checked in is the one that the program prints.
func TestSchemaFileIsTheProgramsOwn(t *testing.T) {
	file := docs + SchemaFile
	if *update {
		if err := os.WriteFile(file, Schema(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(Schema()), string(text)); diff != "" {
		t.Errorf("%s; write it with: go test ./internal/config -update (-program +file)\n%s", file, diff)
	}
}

// A page that differs from the program is worse than none.
func TestConfigurationPageIsTheProgramsOwn(t *testing.T) {
	file := docs + "configuration.md"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	page, seen := string(text), 0
	for _, name := range []string{"top", "model", "adapters", "alarms", "telemetry", "people", "agents", "spaces", "servers", "settings"} {
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
		if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(page, string(text)); diff != "" {
		t.Errorf("%s; write it with: go test ./internal/config -update (-program +page)\n%s", file, diff)
	}
}

func resolvedSchema(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal(Schema(), &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What an editor is told and what the program does are the same: the files that
// load satisfy the schema, and those with a key or a word that nobody knows do
// not.
func TestSchemaAgreesWithTheProgram(t *testing.T) {
	r := resolvedSchema(t)
	judge := func(text string) error {
		var v any
		cover := shieldFor(text)
		if err := yaml.Unmarshal([]byte(cover.cover(text)), &v); err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(cover.uncover(string(raw))), &v); err != nil {
			t.Fatal(err)
		}
		return r.Validate(v)
	}
	good, err := filepath.Glob("testdata/shapes/*.yaml")
	if err != nil || len(good) == 0 {
		t.Fatal("no shapes", err)
	}
	for _, file := range good {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
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
