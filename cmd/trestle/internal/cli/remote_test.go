package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/console/api"
)

// ECOSYSTEM 3.1: one API, three clients: with --remote and a token the reading
// commands say the same as where the record is.
func TestAnotherMachineAnswersTheSame(t *testing.T) {
	s := aTalk(t)
	s.serve(t)
	secret := answerOf[console.NewToken](t, s, "token", "add", "far", "-o", "json").Secret
	address := "http://" + answerOf[statusAnswer](t, s, "status", "-o", "json").Health.Listen
	far := stage{folder: t.TempDir(), env: "TRESTLE_TOKEN=" + secret}
	run := string(answerOf[[]api.RunRow](t, s, "runs", "-o", "json")[0].Run)
	for _, args := range [][]string{
		{"runs"},
		{"runs", "-o", "jsonl"},
		{"runs", "show", run},
		{"spaces"},
		{"spaces", "show", "home"},
		{"denials"},
		{"explain", run},
		{"explain", run, "-o", "json"},
		{"hud", "ada/home", "--at", run + ":0"},
		{"hud", "ada/home", "--plan"},
		{"hud", "ada/home", "--diff", run + ":0"},
		{"explain", "--silence", "home", "3"},
		{"search", "hello"},
		{"problems"},
		{"problems", "--since", "1h", "-o", "json"},
		{"jobs", "-o", "json"},
		{"events"},
		{"events", "--space", "home", "--kind", "said", "-o", "json"},
		{"hud", "ada/home"},
		{"hud", "ada/home", "-o", "json"},
		{"config", "show", "--all", "--origin"},
		{"adapters"},
	} {
		near, _, _ := s.do(t, "", args...)
		got, errs, code := far.do(t, "", append(args, "--remote", address)...)
		if code != apperr.Done {
			t.Errorf("%v: exit %s: %s", args, code, errs)
		}
		if diff := cmp.Diff(near, got); diff != "" || got == "" {
			t.Errorf("%v (-here +there):\n%s", args, diff)
		}
	}
	for _, args := range [][]string{{"status", "-o", "json"}, {"-o", "json"}} {
		there := answerOf[statusAnswer](t, far, append(args, "--remote", address)...)
		if !there.Running || there.Health == nil || len(there.Minds) == 0 || !strings.HasPrefix(there.Data, s.folder) {
			t.Errorf("%v says %+v", args, there)
		}
	}
	far.done(t, "", "status", "--check", "--remote", address)
	for name, args := range map[string][]string{
		"names no mind": {"hud", "nobody"}, "there is no adapter": {"adapters", "moon"}, "no job 7": {"jobs", "show", "7"},
	} {
		_, near, _ := s.do(t, "", args...)
		_, errs, code := far.do(t, "", append(args, "--remote", address)...)
		if code == apperr.Done || !strings.Contains(errs, strings.SplitN(near, "\n", 2)[0]) {
			t.Errorf("%s: exit %s: %s, want as here: %s", name, code, errs, near)
		}
	}
	for name, test := range map[string]struct {
		env, address, want string
		code               apperr.ExitCode
	}{
		"without a token": {"", address, "put a token into TRESTLE_TOKEN", apperr.Failed},
		"a wrong token":   {"TRESTLE_TOKEN=wrong", address, "put a token into TRESTLE_TOKEN", apperr.Failed},
		"nobody there":    {"", "http://127.0.0.1:1", "does not answer", apperr.TryAgain},
		"no address":      {"", "there", "is no URL", apperr.Usage},
	} {
		for _, command := range []string{"runs", "events -f"} {
			_, errs, code := stage{folder: t.TempDir(), env: test.env}.do(t, "", append(strings.Fields(command), "--remote", test.address)...)
			if code != test.code || !strings.Contains(errs, test.want) {
				t.Errorf("%s, %s: exit %s: %s", name, command, code, errs)
			}
		}
	}
}

// An answer about this machine must not be taken for one about another.
func TestCommandsOfThisMachineRefuseAnother(t *testing.T) {
	s := aTalk(t)
	for _, args := range [][]string{{"jobs", "cancel", "1"}, {"problems", "ack", "1"}, {"backup", "x.db"}, {"config", "check"}, {"doctor"}, {"init"}} {
		_, errs, code := s.do(t, "", append(args, "--remote", "http://127.0.0.1:1")...)
		if code != apperr.Usage || !strings.Contains(errs, "does not ask another machine") {
			t.Errorf("%v: exit %s: %s", args, code, errs)
		}
	}
}

// ECOSYSTEM 3.2: where nothing is yet, two commands to begin with.
func TestNothingHereSaysHowToBegin(t *testing.T) {
	out, errs, code := stage0(t).do(t, "")
	if code != apperr.Done || errs != "" || out != howToBegin || strings.Count(howToBegin, "\n  trestle ") != 2 {
		t.Errorf("exit %s: %s%s", code, out, errs)
	}
}
