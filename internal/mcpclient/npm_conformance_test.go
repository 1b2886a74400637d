//go:build npm

package mcpclient

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

// suiteClient names the environment variable without which this executable is no client of
// the suite, which adds the address of its server to the arguments.
const suiteClient = "MCP_SUITE_CLIENT"

// TestNpmSuiteClient is what the suite runs.
func TestNpmSuiteClient(t *testing.T) {
	if os.Getenv(suiteClient) != "" {
		testutil.OK(t, callAll(flag.Arg(0)))
	}
}

// callAll lists the tools of a server and calls each of them, accepting what it asks for with
// the defaults.
func callAll(url string) error {
	ctx, cancel := context.WithTimeout(contextOfProcess, 20*time.Second)
	defer cancel()
	s, err := New("suite", ServerSettings{URL: url, StopGrace: time.Second, Version: "1"}, ServerDeps{})
	if err != nil {
		return err
	}
	defer s.Close()
	tools, err := s.Tools(ctx)
	if err != nil {
		return err
	}
	for _, tool := range tools {
		r := CallRequest{Tool: tool.Name, ID: tool.Name, Arguments: arguments(tools, tool), Ask: func(_ context.Context, q InputQuestion) InputAnswer { return answered(q) }}
		for range 3 { // as often as it asks
			got, err := s.Call(ctx, r)
			if err != nil {
				return err
			}
			if r.Questions = got.Questions; r.Questions == nil {
				break
			}
			r.Answers = map[string]InputAnswer{}
			for _, q := range r.Questions.Questions {
				r.Answers[q.ID] = answered(q)
			}
		}
	}
	return nil
}

// arguments returns a value for each property of a tool's schema but booleans, which are left
// out; for a tool that takes a schema, that of the first tool.
func arguments(all []ToolInfo, tool ToolInfo) json.RawMessage {
	var schema struct {
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
	}
	_ = json.Unmarshal(tool.InputSchema, &schema) // one of another form has no properties here
	values := map[string]any{}
	for name, p := range schema.Properties {
		switch p.Type {
		case "string":
			values[name] = "Zürich, \"12\" "
		case "integer", "number":
			values[name] = 5
		case "object":
			values[name] = all[0].InputSchema
		}
	}
	raw, err := json.Marshal(values)
	if err != nil {
		panic(err)
	}
	return raw
}

// answered accepts a question with its defaults.
func answered(q InputQuestion) InputAnswer {
	a := InputAnswer{Accept: true, Values: map[string]any{}}
	for _, f := range q.Fields {
		var value any
		if json.Unmarshal(f.Default, &value) != nil {
			value = map[FieldKind]any{TextField: "x", NumberField: 1.5, IntegerField: 1, YesNoField: true}[f.Kind]
		}
		a.Values[f.Name] = value
	}
	return a
}

// conformance are the scenarios of the protocol's conformance suite for clients, but those of
// extensions and of authorization: tokens come from the configuration here, and the client asks
// no authorization server for one.
var conformance = []string{
	"initialize", "tools_call", "request-metadata", "sse-retry", "http-standard-headers", "http-custom-headers", "http-invalid-tool-headers",
	"json-schema-ref-no-deref", "json-schema-2020-12-preservation", "sep-2322-client-request-state", "elicitation-sep1034-client-defaults",
}

// The client passes the official conformance suite.
func TestNpmConformance(t *testing.T) {
	verdict := regexp.MustCompile(`\[([a-z0-9-]+) *\] (SUCCESS|FAILURE)`)
	colour := regexp.MustCompile(`\x1b\[[0-9;]*m`)
	passed := 0
	for _, scenario := range conformance {
		t.Run(scenario, func(t *testing.T) {
			words := npmCommand(t, "conformance", "client", "--scenario", scenario, "--command", os.Args[0]+" -test.run=^TestNpmSuiteClient$")
			suite := exec.CommandContext(t.Context(), words[0], words[1:]...)
			suite.Dir, suite.Env = t.TempDir(), append(os.Environ(), suiteClient+"=1")
			out, _ := suite.CombinedOutput() // what fails is in its report
			good := 0
			for _, v := range verdict.FindAllStringSubmatch(colour.ReplaceAllString(string(out), ""), -1) {
				if v[2] == "SUCCESS" {
					good++
				} else {
					t.Errorf("%s failed", v[1])
				}
			}
			if passed += good; good == 0 || t.Failed() {
				t.Errorf("%d checks passed:\n%s", good, strings.TrimSpace(string(out)))
			}
		})
	}
	t.Logf("%d checks passed", passed)
}
