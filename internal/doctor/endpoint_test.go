package doctor_test

import (
	"context"
	"flag"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/doctor"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
	"github.com/trestle-bridge/trestle/internal/llm/openai"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// testdata is absolute: some tests change the working folder.
var testdata = func() string {
	path, err := filepath.Abs("testdata")
	if err != nil {
		panic(err)
	}
	return path
}()

// golden compares text with testdata/NAME.txt; what changes from run to run is
// masked.
func golden(t *testing.T, name, text string) {
	t.Helper()
	for _, m := range []struct{ what, with string }{
		{`answers in \d+\.\d s`, "answers in N s"}, {`127\.0\.0\.1:\d+`, "127.0.0.1:N"},
	} {
		text = regexp.MustCompile(m.what).ReplaceAllString(text, m.with)
	}
	file := filepath.Join(testdata, strings.ReplaceAll(name, " ", "_")+".txt")
	testutil.Golden(t, *update, file, text)
}

// printed examines one part and returns the report as people see it.
func printed(t *testing.T, part string, examine func(context.Context) []adapters.AccountDiagnosis) (string, doctor.CheckReport) {
	t.Helper()
	r := doctor.Examine(t.Context(), []doctor.Check{{Name: part, Examine: examine}}, doctor.Options{})
	var out strings.Builder
	r.Print(&out)
	return out.String(), r
}

// attentive knows the password when its first line was read, and calls the tool that
// it is told to call.
type attentive struct{}

func (attentive) Generate(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
	said := r.Messages[0].Text
	if len(r.Tools) > 0 {
		return llm.ModelResponse{Calls: []llm.ToolCall{{ID: "1", Name: r.Tools[0].Name, Args: `{"text":"heron-4711"}`}}, Finish: llm.Called}, nil
	}
	if _, rest, ok := strings.Cut(said, "The password is "); ok {
		word, _, _ := strings.Cut(rest, ".")
		return llm.ModelResponse{Text: word, Finish: llm.Stopped}, nil
	}
	return llm.ModelResponse{Text: "yes", Finish: llm.Stopped}, nil
}

// talker answers what attentive does, but with words where a tool is to be called.
type talker struct{ instead string }

func (m talker) Generate(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
	if len(r.Tools) > 0 {
		return llm.ModelResponse{Text: m.instead, Finish: llm.Stopped}, nil
	}
	return attentive{}.Generate(ctx, r)
}

// quarter counts as the fake endpoint does.
func quarter(text string) int { return (len(text) + 3) / 4 }

// Issue 3, ECOSYSTEM 1 rule 6: what is wrong with an endpoint is found, with its mend.
func TestExaminationOfAnEndpointFindsThePlantedFault(t *testing.T) {
	for _, test := range []struct {
		name  string
		code  string
		plant func(*llmtest.Server)
		count func(string) int
	}{
		{"model well", "", func(*llmtest.Server) {}, quarter},
		{"model key dead", "TRS-M01", func(s *llmtest.Server) { s.Key = "another" }, quarter},
		{"model missing", "TRS-M02", func(s *llmtest.Server) { s.Names = []string{"other"} }, quarter},
		{"model window cut", "TRS-M03", func(s *llmtest.Server) { s.Window = 4096 }, quarter},
		{"model window refused", "TRS-M03", func(s *llmtest.Server) {
			s.Fault = func(_ int, r llm.ModelRequest) llmtest.EndpointFault {
				if len(r.Messages[0].Text) > 20_000 {
					return llmtest.EndpointFault{Kind: llmtest.ContextExceeded}
				}
				return llmtest.EndpointFault{}
			}
		}, quarter},
		{"model tools refused", "TRS-M04", func(s *llmtest.Server) {
			s.Fault = func(_ int, r llm.ModelRequest) llmtest.EndpointFault {
				if len(r.Tools) > 0 {
					return llmtest.EndpointFault{Kind: llmtest.BadTranscript}
				}
				return llmtest.EndpointFault{}
			}
		}, quarter},
		{"model calls no tool", "TRS-M07", func(s *llmtest.Server) { s.Model = talker{"yes"} }, quarter},
		{"model writes its call", "TRS-M07", func(s *llmtest.Server) {
			s.Model = talker{`<tool_call>{"name":"note","arguments":{"text":"heron-4711"}}</tool_call>`}
		}, quarter},
		{"model counts otherwise", "TRS-M06", func(*llmtest.Server) {}, func(text string) int { return len(text) / 12 }},
		{"model limited", "TRS-M10", func(s *llmtest.Server) {
			s.Fault = func(int, llm.ModelRequest) llmtest.EndpointFault { return llmtest.EndpointFault{Kind: llmtest.TooMany} }
		}, quarter},
		{"model is a web page", "TRS-M11", func(s *llmtest.Server) {
			s.Fault = func(int, llm.ModelRequest) llmtest.EndpointFault { return llmtest.EndpointFault{Kind: llmtest.HTML} }
		}, quarter},
		{"model cut off", "TRS-M11", func(s *llmtest.Server) {
			s.Fault = func(int, llm.ModelRequest) llmtest.EndpointFault {
				return llmtest.EndpointFault{Kind: llmtest.CutQuietly}
			}
		}, quarter},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &llmtest.Server{Model: attentive{}, Keep: 10}
			test.plant(s)
			server := httptest.NewServer(s)
			defer server.Close()
			e := doctor.ModelEndpoint{Model: client(t, server.URL+"/v1"), Name: "gpt-5-mini", Entry: "model", Window: 6800, Count: test.count}
			text, r := printed(t, "model", e.Examine)
			if r.Findings[0].Code != test.code {
				t.Errorf("found %q, want %q", r.Findings[0].Code, test.code)
			}
			golden(t, test.name, text)
		})
	}
	t.Run("acts by tags", func(t *testing.T) { // who needs no tools is not asked for any
		server := httptest.NewServer(&llmtest.Server{Model: talker{"yes"}})
		defer server.Close()
		e := doctor.ModelEndpoint{Model: client(t, server.URL+"/v1"), Name: "gpt-5-mini", Entry: "model", Window: 6800, Count: quarter, Tags: true}
		if _, r := printed(t, "model", e.Examine); r.Findings[0].Code != "" {
			t.Errorf("found %+v, want nothing", r.Findings)
		}
	})
	t.Run("no vectors", func(t *testing.T) {
		server := httptest.NewServer(&llmtest.Server{Model: attentive{}, Names: []string{"gpt-5-mini", "small"}})
		defer server.Close()
		e := doctor.ModelEndpoint{Model: client(t, server.URL+"/v1"), Name: "gpt-5-mini", Entry: "model", Window: 6800, Count: quarter}
		for name, want := range map[string]string{"": "", "small": "", "smal": "TRS-M12"} {
			e.Embeddings = name
			_, r := printed(t, "model", e.Examine)
			if r.Findings[0].Code != want {
				t.Errorf("with vectors by %q found %+v, want %q", name, r.Findings, want)
			}
		}
	})
	t.Run("model with demands", func(t *testing.T) {
		s := &llmtest.Server{Model: attentive{}, Rules: slices.DeleteFunc(llmtest.EndpointRules(), func(r llmtest.EndpointRule) bool {
			return !strings.HasPrefix(r.Name, "Mistral: ") && r.Name != "stream_options"
		})}
		server := httptest.NewServer(s)
		defer server.Close()
		e := doctor.ModelEndpoint{Model: client(t, server.URL+"/v1"), Name: "gpt-5-mini", Entry: "model", Window: 6800, Count: quarter}
		text, _ := printed(t, "model", e.Examine)
		golden(t, "model with demands", text)
		s.Rules = []llmtest.EndpointRule{{Name: "no calls", Status: 400, Body: `{"error":"no"}`, Breaks: func(r *llmtest.RawRequest) bool {
			return len(r.Messages) > 3
		}}}
		if _, r := printed(t, "model", e.Examine); r.Findings[0].Code != "TRS-M13" {
			t.Errorf("an endpoint that refuses every transcript: %+v", r.Findings)
		}
	})
	t.Run("model behind no such path", func(t *testing.T) {
		server := httptest.NewServer(http.NotFoundHandler())
		defer server.Close()
		e := doctor.ModelEndpoint{Model: client(t, server.URL), Name: "gpt-5-mini", Entry: "model", Window: 8000, Count: quarter}
		text, r := printed(t, "model", e.Examine)
		if r.Findings[0].Code != "TRS-M11" {
			t.Errorf("found %q", r.Findings[0].Code)
		}
		golden(t, "model behind no such path", text)
	})
	t.Run("model unreachable", func(t *testing.T) {
		server := httptest.NewServer(http.NotFoundHandler())
		server.Close()
		e := doctor.ModelEndpoint{Model: client(t, server.URL+"/v1"), Name: "gpt-5-mini", Entry: "agents.ada.model", Window: 8000, Count: quarter}
		text, r := printed(t, "ada", e.Examine)
		if r.Findings[0].Code != "TRS-M05" {
			t.Errorf("found %q", r.Findings[0].Code)
		}
		golden(t, "model unreachable", text)
	})
}

func client(t *testing.T, url string) llm.ChatModel {
	t.Helper()
	c, err := openai.New(openai.Options{BaseURL: url, APIKey: "sk-test", Total: 10 * time.Second})
	testutil.OK(t, err)
	return c
}

// An endpoint that does not say what it read is judged by what it remembers.
func TestSilentEndpointIsJudgedByItsMemory(t *testing.T) {
	for name, remembers := range map[string]bool{"model silent and whole": true, "model silent and cut": false} {
		e := doctor.ModelEndpoint{Name: "m", Entry: "model", Window: 8000, Count: quarter, Model: silent{remembers}}
		text, r := printed(t, "model", e.Examine)
		if (r.Worst() == adapters.Fine) != remembers {
			t.Errorf("%s: found %+v", name, r.Findings)
		}
		golden(t, name, text)
	}
}

type silent struct{ remembers bool }

func (s silent) Generate(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
	if !s.remembers {
		r.Messages = []llm.TranscriptMessage{{Text: r.Messages[0].Text[len(r.Messages[0].Text)/2:]}}
	}
	resp, err := attentive{}.Generate(ctx, r)
	resp.Usage = llm.TokenUsage{Prompt: 1, Estimated: true}
	return resp, err
}
