package doctor_test

import (
	"bytes"
	"context"
	"flag"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/doctor"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
	"github.com/trestle-bridge/trestle/internal/llm/modelhttp"
	"github.com/trestle-bridge/trestle/internal/llm/openai"
	"github.com/trestle-bridge/trestle/internal/llm/provider"
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
		{`\d+\.\d s\b`, "N s"}, {`127\.0\.0\.1:\d+`, "127.0.0.1:N"},
	} {
		text = regexp.MustCompile(m.what).ReplaceAllString(text, m.with)
	}
	file := filepath.Join(testdata, strings.ReplaceAll(name, " ", "_")+".txt")
	testutil.Golden(t, *update, file, text)
}

// printed examines one part and returns the report as people see it.
func printed(t *testing.T, part string, examine func(context.Context) []adapters.AccountDiagnosis) (string, doctor.CheckReport) {
	t.Helper()
	return report(t.Context(), doctor.Check{Name: part, Examine: examine})
}

// examined examines a model and returns the report as people see it.
func examined(t *testing.T, part string, e doctor.ModelEndpoint) (string, doctor.CheckReport) {
	t.Helper()
	e.WindowFrom = "as the configuration says"
	return report(t.Context(), doctor.Check{Name: part, Examine: e.Examine, Card: e.Card})
}

func report(ctx context.Context, c doctor.Check) (string, doctor.CheckReport) {
	r := doctor.Examine(ctx, []doctor.Check{c}, doctor.Options{})
	var out strings.Builder
	r.Print(&out)
	return out.String(), r
}

// attentive knows the password when its first line was read, and calls the tool that
// it is told to call.
type attentive struct{}

func (attentive) Generate(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
	said := r.Messages[0].Text
	switch {
	case len(r.Tools) > 0 && strings.Contains(said, "two times"):
		return llm.ModelResponse{Calls: []llm.ToolCall{
			{ID: "1", Name: r.Tools[0].Name, Args: `{"text":"one"}`}, {ID: "2", Name: r.Tools[0].Name, Args: `{"text":"two"}`},
		}, Finish: llm.Called}, nil
	case len(r.Tools) > 0:
		return llm.ModelResponse{Calls: []llm.ToolCall{{ID: "1", Name: r.Tools[0].Name, Args: `{"text":"heron-4711"}`}}, Finish: llm.Called}, nil
	case len(r.Messages[0].Pictures) > 0:
		img, err := png.Decode(bytes.NewReader(r.Messages[0].Pictures[0].Data))
		if err != nil {
			return llm.ModelResponse{}, err
		}
		if left, right := img.At(9, 9), img.At(99, 9); left == (color.RGBA{R: 255, A: 255}) && right == (color.RGBA{B: 255, A: 255}) {
			return llm.ModelResponse{Text: "Red and blue.", Finish: llm.Stopped}, nil
		}
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
			text, r := examined(t, "model", e)
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
		if _, r := examined(t, "model", e); r.Findings[0].Code != "" {
			t.Errorf("found %+v, want nothing", r.Findings)
		}
	})
	t.Run("no vectors", func(t *testing.T) {
		server := httptest.NewServer(&llmtest.Server{Model: attentive{}, Names: []string{"gpt-5-mini", "small"}})
		defer server.Close()
		e := doctor.ModelEndpoint{Model: client(t, server.URL+"/v1"), Name: "gpt-5-mini", Entry: "model", Window: 6800, Count: quarter}
		for name, want := range map[string]string{"": "", "small": "", "smal": "TRS-M12"} {
			e.Embeddings = name
			_, r := examined(t, "model", e)
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
		text, _ := examined(t, "model", e)
		golden(t, "model with demands", text)
		s.Rules = []llmtest.EndpointRule{{Name: "no calls", Status: 400, Body: `{"error":"no"}`, Breaks: func(r *llmtest.RawRequest) bool {
			return len(r.Messages) > 3
		}}}
		if _, r := examined(t, "model", e); r.Findings[0].Code != "TRS-M13" {
			t.Errorf("an endpoint that refuses every transcript: %+v", r.Findings)
		}
	})
	t.Run("model behind no such path", func(t *testing.T) {
		server := httptest.NewServer(http.NotFoundHandler())
		defer server.Close()
		e := doctor.ModelEndpoint{Model: client(t, server.URL), Name: "gpt-5-mini", Entry: "model", Window: 8000, Count: quarter}
		text, r := examined(t, "model", e)
		if r.Findings[0].Code != "TRS-M11" {
			t.Errorf("found %q", r.Findings[0].Code)
		}
		golden(t, "model behind no such path", text)
	})
	t.Run("model unreachable", func(t *testing.T) {
		server := httptest.NewServer(http.NotFoundHandler())
		server.Close()
		e := doctor.ModelEndpoint{Model: client(t, server.URL+"/v1"), Name: "gpt-5-mini", Entry: "agents.ada.model", Window: 8000, Count: quarter}
		text, r := examined(t, "ada", e)
		if r.Findings[0].Code != "TRS-M05" {
			t.Errorf("found %q", r.Findings[0].Code)
		}
		golden(t, "model unreachable", text)
	})
}

func client(t *testing.T, url string) llm.ChatModel {
	t.Helper()
	c, err := openai.New(modelhttp.ClientOptions{BaseURL: url, APIKey: "sk-test", Total: 10 * time.Second})
	testutil.OK(t, err)
	return c
}

// The examination says what an endpoint can do, and what it cannot.
func TestExaminationOfAnEndpointShowsWhatItCan(t *testing.T) {
	for name, rule := range map[string]string{"model card": "", "model card without tools": "Ollama: no tools", "model card without streams": "o1: no streaming"} {
		t.Run(name, func(t *testing.T) {
			s := &llmtest.Server{Model: attentive{}, Rules: slices.DeleteFunc(llmtest.EndpointRules(), func(r llmtest.EndpointRule) bool { return r.Name != rule }), Keep: 10}
			server := httptest.NewServer(s)
			defer server.Close()
			e := doctor.ModelEndpoint{
				Model: client(t, server.URL+"/v1"), Name: "gpt-5-mini", Entry: "model", Window: 6800,
				Price: "0.25 USD for a million tokens read, 2.00 USD written", PriceFrom: "as is published", Count: quarter,
			}
			text, _ := examined(t, "model", e)
			golden(t, name, text)
		})
	}
}

// An endpoint of each provider's own API has a card as well.
func TestExaminationShowsWhatEachProviderCan(t *testing.T) {
	for _, dialect := range []llmtest.ProviderDialect{llmtest.AnthropicDialect(), llmtest.GeminiDialect()} {
		t.Run(dialect.Name, func(t *testing.T) {
			server := httptest.NewServer(&dialectServer{dialect: dialect})
			defer server.Close()
			model, err := provider.OpenModel(dialect.Name, provider.ClientOptions{BaseURL: server.URL, APIKey: "sk-test", Total: 10 * time.Second})
			testutil.OK(t, err)
			text, _ := examined(t, "model", doctor.ModelEndpoint{
				Model: model, Name: "m", Entry: "model", Window: 6800,
				Price: "0.25 USD for a million tokens read, 2.00 USD written", PriceFrom: "as is published", Count: quarter,
			})
			golden(t, "model card of "+dialect.Name, text)
		})
	}
}

// A dialectServer answers what attentive does in the API of a provider, and keeps the
// beginning of the last prompt.
type dialectServer struct {
	dialect llmtest.ProviderDialect

	mu   sync.Mutex // guards last
	last string
}

func (s *dialectServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		_, _ = io.WriteString(w, s.dialect.Model)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	q, err := s.dialect.Read(r.URL.Path, body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var request llm.ModelRequest
	for _, m := range q.Messages {
		if n := len(request.Messages); n > 0 && request.Messages[n-1].Role == m.Role {
			request.Messages[n-1].Text += m.Text
			request.Messages[n-1].Pictures = append(request.Messages[n-1].Pictures, m.Pictures...)
			continue
		}
		request.Messages = append(request.Messages, m)
	}
	for _, name := range q.Tools {
		request.Tools = append(request.Tools, llm.ToolSpec{Name: name})
	}
	resp, err := attentive{}.Generate(r.Context(), request)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	usage := s.count(request.Messages)
	w.Header().Set("Content-Type", "text/event-stream")
	half := len(resp.Text) / 2
	_, _ = io.WriteString(w, s.dialect.Answer(llmtest.DialectAnswer{Pieces: []string{resp.Text[:half], resp.Text[half:]}, Calls: resp.Calls, Finish: resp.Finish, Usage: usage}))
}

// count returns the tokens of a prompt, and how many of them began the one before.
func (s *dialectServer) count(messages []llm.TranscriptMessage) llm.TokenUsage {
	s.mu.Lock()
	defer s.mu.Unlock()
	var text strings.Builder
	for _, m := range messages {
		text.WriteString(m.Text)
	}
	same, now := 0, text.String()
	for same < min(len(now), len(s.last)) && now[same] == s.last[same] {
		same++
	}
	s.last = now
	return llm.TokenUsage{Prompt: quarter(now), Cached: same / 4 / 1024 * 1024, Output: 5}
}

// An endpoint that does not say what it read is judged by what it remembers.
func TestSilentEndpointIsJudgedByItsMemory(t *testing.T) {
	for name, remembers := range map[string]bool{"model silent and whole": true, "model silent and cut": false} {
		e := doctor.ModelEndpoint{Name: "m", Entry: "model", Window: 8000, Count: quarter, Model: silent{remembers}}
		text, r := examined(t, "model", e)
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
