package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
)

// ECOSYSTEM 3.1: each wrong input gets one error that says where it is and what to
// do; no flag is passed over in silence.
func TestEveryWrongInputIsRefusedWithAWayOut(t *testing.T) {
	s := aTalk(t)
	for _, c := range []struct {
		args string
		want string // a part of the message
	}{
		{"events --from -3", "write a number from 1 on"},
		{"events -f --from -3", "write a number from 1 on"},
		{"events -f --remote nowhere", "the address is no URL"},
		{"explain --silence --frame home 1", "only one of these flags can be given: --frame, --silence"},
		{"hud ada/home --plan --diff x", "only one of these flags can be given: --diff, --plan"},
		{"hud ada/home --at x --cycles 3", "only one of these flags can be given: --at, --cycles"},
		{"pair --owner", "they are for whom a code or a chat names"},
		{"pair --circle den", "they are for whom a code or a chat names"},
		{"pair --revoke telegram:1 --owner", "only one of these flags can be given: --owner, --revoke"},
		{"jobs 5", `there is no command "5"`},
		{"adapters --since 2h", "--since needs the name of an adapter"},
		{"runs --limit", "see trestle runs --help"},
		{"rehearse x --budget 5", "give 4000 or more"},
		{"help nothing", `there is no command "nothing"`},
		{"help staus", `did you mean "status"?`},
		{"help runs nothing", `there is no command "nothing"`},
		{"completion", "the command needs another word: bash, fish, powershell or zsh"},
		{"completion csh", `there is no command "csh"`},
	} {
		out, errs, code := s.do(t, "", strings.Fields(c.args)...)
		if code != apperr.Usage || out != "" || !strings.Contains(errs, c.want) || !strings.Contains(errs, "do:") {
			t.Errorf("trestle %s: exit %s, %q, said\n%s", c.args, code, out, errs)
		}
	}
}

// ECOSYSTEM 3.1: how far back a list goes is read by the command and by the console
// behind it alike.
func TestFarBackIsAsFarForTheConsole(t *testing.T) {
	s := aTalk(t)
	for _, command := range []string{"runs", "denials", "search hello"} {
		if _, errs, code := s.do(t, "", append(strings.Fields(command), "--since", "20000d")...); code != apperr.Done {
			t.Errorf("trestle %s: exit %s: %s", command, code, errs)
		}
	}
}

// ECOSYSTEM 1, rule 8: a room that there is not is refused before anything is made.
func TestChatInNoRoomMakesNoRecord(t *testing.T) {
	s := stage0(t)
	if _, errs, code := s.do(t, "hello\n", "chat", "nowhere"); code != apperr.Failed || !strings.Contains(errs, `there is no space "nowhere"`) {
		t.Errorf("exit %s: %s", code, errs)
	}
	if _, err := os.Stat(filepath.Join(s.folder, "data")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a data folder was made: %v", err)
	}
}

// ECOSYSTEM 3.1: a token that there is not is said to be none, with where to look.
func TestTokenThatThereIsNotIsNotRevoked(t *testing.T) {
	s := stage0(t)
	s.serve(t)
	_, errs, code := s.do(t, "", "token", "revoke", "zz")
	if code != apperr.Failed || !strings.Contains(errs, `there is no token "zz"`) || !strings.Contains(errs, "do:    trestle token list") {
		t.Errorf("exit %s: %s", code, errs)
	}
	for _, args := range [][]string{{"help"}, {"help", "runs"}, {"help", "runs", "show"}, {"completion", "bash"}} {
		if out, errs, code := s.do(t, "", args...); code != apperr.Done || out == "" {
			t.Errorf("trestle %v: exit %s: %s", args, code, errs)
		}
	}
}

// ECOSYSTEM 3.1: interrupting a watch is not reported as a failure, at whichever point
// it comes.
func TestInterruptedWatchIsNoFailure(t *testing.T) {
	s := aTalk(t)
	s.done(t, "", "backup", "copy.db")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for args, want := range map[string]apperr.ExitCode{"status --watch": apperr.Done, "jobs show 1 --follow": apperr.Interrupted} {
		var out, errs screen
		code := s.program(strings.NewReader(""), &out, &errs).Run(ctx, strings.Fields(args))
		if code != want || strings.Contains(errs.String(), "cancel") && !strings.Contains(errs.String(), "trestle jobs cancel") {
			t.Errorf("trestle %s: exit %s: %s", args, code, &errs)
		}
	}
}
