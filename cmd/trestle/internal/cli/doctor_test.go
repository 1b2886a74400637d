package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/adapters/fake"
	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/internal/doctor"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// onModel serves an endpoint on the loopback until the test ends and returns
// its address. Unless it has a model of its own, it does what a doctor asks for.
func onModel(t *testing.T, s *llmtest.Server) string {
	t.Helper()
	s.Keep = -1
	if s.Model == nil {
		s.Model = passwords{}
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return server.URL + "/v1"
}

// passwords remembers the one of a long prompt, and calls the tool that there is.
type passwords struct{}

func (passwords) Generate(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
	if len(r.Tools) > 0 {
		return llm.ModelResponse{Calls: []llm.ToolCall{{ID: "1", Name: r.Tools[0].Name, Args: "{}"}}, Finish: llm.Called}, nil
	}
	_, rest, _ := strings.Cut(r.Messages[0].Text, "The password is ")
	word, _, _ := strings.Cut(rest, ".")
	return llm.ModelResponse{Text: word, Finish: llm.Stopped}, nil
}

// write puts a configuration into the stage's folder.
func (s stage) write(t *testing.T, text string, mode os.FileMode) {
	t.Helper()
	file := filepath.Join(s.folder, "trestle.yaml")
	testutil.OK(t, os.WriteFile(file, []byte(text), mode))
	testutil.OK(t, os.Chmod(file, mode))
}

// unvaried masks what differs from run to run.
func (s stage) unvaried(text string) string {
	for _, m := range []struct{ what, with string }{
		{regexp.QuoteMeta(s.folder) + `/`, ""},
		{`127\.0\.0\.1:\d+`, "127.0.0.1:N"},
		{`\d+(\.\d+)? [kMGT]B free`, "N GB free"},
		{`\b\d+\.\d s\b`, "N s"},
		{`clock within \d+ s`, "clock within N s"},
	} {
		text = regexp.MustCompile(m.what).ReplaceAllString(text, m.with)
	}
	return text
}

const doctored = `
model: {base_url: %q, name: gpt-5-mini, context_tokens: 6800}
adapters:
  telegram: {type: telegram, token: "7001:right", api_url: %q}
  acme: {type: telegram, token: ""}
spaces:
  family: {chats: ["telegram:%d"]}
`

// ECOSYSTEM 3.3: each part says what is wrong and what mends it; 1 says so to
// scripts. --only and --min narrow, --fix mends the modes.
func TestDoctorFindsWhatIsWrongAndSaysWhatMendsIt(t *testing.T) {
	telegram, url := onTelegram(t, "7001:right")
	telegram.AddBot(faketelegram.BotProfile{Token: "7001:right", Name: "Ada", Username: "ada_bot", Privacy: true})
	kai := telegram.AddPerson(faketelegram.UserProfile{Name: "Kai"})
	group := telegram.NewGroup("Family", kai)
	telegram.Fault(fake.CallFault{Do: fake.Refuse, Method: "getUpdates", Times: -1, Status: 409, Description: "Conflict: terminated by other getUpdates request"})
	s := stage{folder: t.TempDir()}
	s.write(t, fmt.Sprintf(doctored, onModel(t, &llmtest.Server{Window: 4096}), url, group.ID()), 0o644)
	if err := os.Mkdir(filepath.Join(s.folder, "data"), 0o755); err != nil { //nolint:gosec // that is a fault
		t.Fatal(err)
	}
	out, errs, code := s.do(t, "", "doctor")
	if code != apperr.Failed || errs != "" {
		t.Errorf("exit %s: %s", code, errs)
	}
	golden(t, "doctor", s.unvaried(out))

	if out, _, code := s.do(t, "", "doctor", "telegram", "--only", "TRS-T02"); code != apperr.Done || !strings.Contains(out, "privacy mode") || strings.Count(out, "\n") != 3 {
		t.Errorf("a warning alone: exit %s:\n%s", code, out)
	}
	if _, _, code := s.do(t, "", "doctor", "telegram", "--only", "TRS-T02", "--min", "warn"); code != apperr.Failed {
		t.Errorf("a warning with --min warn: exit %s", code)
	}
	if out, _, code := s.do(t, "", "doctor", "config", "data", "--fix", "--only", "TRS-C03"); code != apperr.Done || !strings.Contains(out, "changed: trestle.yaml has mode 0600") {
		t.Errorf("--fix: exit %s:\n%s", code, out)
	}
	for _, path := range []string{"trestle.yaml", "data"} {
		if info, err := os.Stat(filepath.Join(s.folder, path)); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s was not mended: %v, %v", path, info.Mode(), err)
		}
	}
	if _, errs, code := s.do(t, "", "doctor", "telegarm"); code != apperr.Usage || !strings.Contains(errs, "parts are config, data, console, model, telegram") {
		t.Errorf("no such part: exit %s: %s", code, errs)
	}
	if _, errs, code := s.do(t, "", "doctor", "--min", "bad"); code != apperr.Usage || !strings.Contains(errs, "warn or fail") {
		t.Errorf("no such level: exit %s: %s", code, errs)
	}
}

// ECOSYSTEM 1 rule 5, 3.1: an account that is served is examined by the process
// that serves it, which is not thrown off.
func TestDoctorExaminesThroughTheRunningProcess(t *testing.T) {
	telegram, url := onTelegram(t, "7003:served")
	s := stage{folder: t.TempDir(), env: "TELEGRAM_BOT_TOKEN=7003:served\nTELEGRAM_API_URL=" + url + "\nOPENAI_BASE_URL=" + onModel(t, new(llmtest.Server))}
	s.serve(t)
	polled(t, telegram)
	out, errs, code := s.do(t, "", "doctor")
	if code != apperr.Done || errs != "" {
		t.Errorf("exit %s: %s", code, errs)
	}
	golden(t, "doctor_running", s.unvaried(out))
	for _, c := range telegram.Ledger().Calls {
		if c.Method == "getUpdates" && c.Status == 409 {
			t.Error("the running process was thrown off")
		}
	}
	report := answerOf[doctor.CheckReport](t, s, "doctor", "data", "-o", "json")
	if len(report.Findings) != 1 || report.Findings[0].Part != "data" || report.Findings[0].Level != "ok" {
		t.Errorf("as JSON: %+v", report)
	}
}

// Tools are examined from here, or by the process that uses them.
func TestDoctorExaminesTools(t *testing.T) {
	_, url := onTelegram(t, "7003:served")
	s := stage{folder: t.TempDir(), env: "TELEGRAM_BOT_TOKEN=7003:served\nTELEGRAM_API_URL=" + url + "\nOPENAI_BASE_URL=" + onModel(t, new(llmtest.Server))}
	s.write(t, "tools:\n  commands: {lost: {about: Is not there., run: [./lost.sh]}, here: {about: Is there., run: [cat]}}\nagents:\n  ada: {tools: [here, lost]}\n", 0o600)
	look := func() (all []string) {
		out, errs, code := s.do(t, "", "doctor", "tools", "-o", "json")
		var report doctor.CheckReport
		testutil.OK(t, json.Unmarshal([]byte(out), &report))
		if code != apperr.Failed {
			t.Errorf("exit %s: %s", code, errs)
		}
		for _, f := range report.Findings {
			all = append(all, f.Code+" "+f.What)
		}
		return all
	}
	alone := look()
	if len(alone) != 2 || !strings.HasPrefix(alone[0], "TRS-X07 the command lost cannot run") || alone[1] != " the program of the command here is there" {
		t.Errorf("found %q", alone)
	}
	s.serve(t)
	testutil.Same(t, "found by the running process", alone, look())
}

// polled waits until a program asks for updates.
func polled(t *testing.T, telegram *faketelegram.Server) {
	t.Helper()
	testutil.OK(t, telegram.Until(t.Context(), func() bool {
		return slices.ContainsFunc(telegram.Ledger().Calls, func(c faketelegram.APICall) bool { return c.Method == "getUpdates" })
	}))
}

// ECOSYSTEM 1 rule 5: nor is it while its account still connects.
func TestDoctorLeavesAloneAnAccountThatConnects(t *testing.T) {
	telegram, url := onTelegram(t, "7003:served")
	telegram.Fault(fake.CallFault{Method: "getUpdates", Do: fake.Refuse, Status: http.StatusInternalServerError, Times: 1})
	s := stage{folder: t.TempDir(), env: "TELEGRAM_BOT_TOKEN=7003:served\nTELEGRAM_API_URL=" + url}
	s.serve(t)
	polled(t, telegram)
	if out, errs, _ := s.do(t, "", "doctor", "telegram"); strings.Contains(out, "TRS-T04") {
		t.Errorf("it takes itself for another program:\n%s%s", out, errs)
	}
	for _, c := range telegram.Ledger().Calls {
		if c.Method == "getUpdates" && c.Status == http.StatusConflict {
			t.Error("the running process was thrown off")
		}
	}
}

// An agent whose model only talks is heard where a person waits for an answer, and can do
// nothing else. The doctor says so beforehand.
func TestModelThatOnlyTalksIsFoundOut(t *testing.T) {
	s := stage{folder: t.TempDir(), env: "OPENAI_BASE_URL=" + onModel(t, &llmtest.Server{Model: chatter{}})}
	if out, _, code := s.do(t, "", "doctor", "model"); code != apperr.Failed || !strings.Contains(out, "TRS-M07") {
		t.Errorf("doctor: exit %s:\n%s", code, out)
	}
	if out := s.done(t, "hello\n", "chat"); strings.TrimSpace(out) == "" {
		t.Error("its words are not shown")
	}
	if out, errs, code := s.do(t, "", "explain", "--silence", "home", "3"); code != apperr.Done || !strings.Contains(out, "and spoke") {
		t.Errorf("explain --silence: exit %s:\n%s%s", code, out, errs)
	}
}

// chatter is a model that calls no tool.
type chatter struct{}

func (chatter) Generate(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
	if strings.Contains(r.Messages[0].Text, "password") {
		return llm.ModelResponse{Text: "heron-4711", Finish: llm.Stopped}, nil
	}
	return llm.ModelResponse{Text: "Hello, how can I help?", Finish: llm.Stopped}, nil
}

// The doctor says what a start would fail with: an address for calls of platforms that another
// program uses.
func TestDoctorFindsAnAddressForCallsInUse(t *testing.T) {
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	testutil.OK(t, err)
	s := stage0(t)
	s.write(t, "webhook_listen: "+ln.Addr().String()+"\n", 0o600)
	out, _, code := s.do(t, "", "doctor", "webhooks")
	if code != apperr.Failed || !strings.Contains(out, "TRS-C05") || !strings.Contains(out, "set webhook_listen to another port") {
		t.Errorf("in use: exit %s:\n%s", code, out)
	}
	testutil.OK(t, ln.Close())
	if out, _, code := s.do(t, "", "doctor", "webhooks"); code != apperr.Done || !strings.Contains(out, "is free") {
		t.Errorf("free: exit %s:\n%s", code, out)
	}
}
