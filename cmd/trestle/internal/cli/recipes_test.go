package cli

import (
	"context"
	"errors"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	fakediscord "github.com/trestle-bridge/trestle/adapters/fake/discord"
	fakeslack "github.com/trestle-bridge/trestle/adapters/fake/slack"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// TestMain lets the test binary be the program: scripts call it by that name. What is
// told of times is told by one clock, whatever that of the machine.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	if filepath.Base(os.Args[0]) == "trestle" {
		os.Exit(Main())
	}
	os.Exit(m.Run())
}

// A recipe is a section of a page: a file, a script, and what is seen of it.
type recipe struct {
	title, script string
	files         map[string]string
	shown         []string
}

var fences = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")

// recipesOf reads the sections of a page of docs that have a script.
func recipesOf(t *testing.T, page string) (all []recipe) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", page))
	testutil.OK(t, err)
	for section := range strings.SplitSeq(string(text), "\n## ") {
		title, rest, _ := strings.Cut(section, "\n")
		r := recipe{title: title, files: map[string]string{}}
		for _, block := range fences.FindAllStringSubmatch(rest, -1) {
			switch body := block[2]; block[1] {
			case "sh":
				r.script += body
			case "text":
				r.shown = append(r.shown, strings.Split(strings.TrimSpace(body), "\n")...)
			case "yaml":
				name, _, _ := strings.Cut(strings.TrimPrefix(body, "# "), "\n")
				r.files[name] = body
			}
		}
		if r.script != "" {
			all = append(all, r)
		}
	}
	return all
}

// missing returns the first line that is to be seen and is not: blanks of any
// length are alike, and … represents anything.
func (r recipe) missing(out string) string {
	for _, line := range r.shown {
		pattern := strings.Join(strings.Fields(regexp.QuoteMeta(line)), " +")
		pattern = strings.NewReplacer("… +", ".*", " +… +", ".*", " +…", ".*", "…", ".*").Replace(pattern)
		if !regexp.MustCompile(pattern).MatchString(out) {
			return line
		}
	}
	return ""
}

// serves reports whether the script ends with something that goes on until it
// is interrupted.
func (r recipe) serves() bool {
	last := r.script[strings.LastIndex(strings.TrimSpace(r.script), "\n")+1:]
	words := strings.Fields(last)
	return len(words) > 1 && words[0] == "trestle" && words[1] == "run" && !slices.Contains(words, "--check")
}

// An output is what a script wrote so far.
type output struct {
	mu   sync.Mutex // guards text
	text strings.Builder
	more chan struct{} // holds one when there is more
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case o.more <- struct{}{}:
	default:
	}
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// play runs the script in a folder and sees that it shows what the page says.
func (r recipe) play(t *testing.T, folder string, env []string) {
	t.Helper()
	for name, text := range r.files {
		testutil.OK(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	out := &output{more: make(chan struct{}, 1)}
	c := exec.CommandContext(ctx, "sh", "-ec", r.script)
	c.Dir, c.Env, c.Stdout, c.Stderr = folder, env, out, out
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	testutil.OK(t, c.Start())
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	for interrupted := false; ; {
		select {
		case err := <-ended:
			if missed := r.missing(out.String()); missed != "" || err != nil && !interrupted || r.serves() && !interrupted {
				t.Errorf("it ends with %v and does not show %q:\n%s", err, missed, out)
			}
			return
		case <-out.more:
			if r.serves() && !interrupted && r.missing(out.String()) == "" {
				interrupted = true
				if err := syscall.Kill(-c.Process.Pid, syscall.SIGINT); err != nil && !errors.Is(err, syscall.ESRCH) {
					t.Error(err)
				}
			}
		}
	}
}

// onThisMachine is an environment in which scripts find the program and every
// platform, and no other.
func onThisMachine(t *testing.T) []string {
	t.Helper()
	self, err := os.Executable()
	testutil.OK(t, err)
	bin := t.TempDir()
	testutil.OK(t, os.Symlink(self, filepath.Join(bin, "trestle")))
	_, telegram := onTelegram(t, "123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11")
	s, d := fakeslack.New(fakeslack.Options{}), fakediscord.New(fakediscord.Options{})
	s.AddApp(fakeslack.AppProfile{Name: "Ada", BotToken: "xoxb-1234-5678", AppToken: "xapp-1-A123-456"})
	d.AddBot(fakediscord.BotProfile{Name: "Ada", Token: "MTIzNDU2.abc.def"})
	slack, discord := httptest.NewServer(s), httptest.NewServer(d)
	t.Cleanup(slack.Close)
	t.Cleanup(discord.Close)
	return []string{
		"PATH=" + bin + ":/usr/bin:/bin", "HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir(), "TRESTLE_LISTEN=127.0.0.1:0",
		"TELEGRAM_API_URL=" + telegram, "SLACK_API_URL=" + slack.URL, "DISCORD_API_URL=" + discord.URL,
	}
}

// ECOSYSTEM 9: every shell block in Start runs as a script.
func TestStartRunsAsItIsWritten(t *testing.T) {
	env := onThisMachine(t)
	all := recipesOf(t, "start.md")
	if len(all) != 6 {
		t.Fatalf("the page has %d parts", len(all))
	}
	for _, r := range all {
		t.Run(r.title, func(t *testing.T) { r.play(t, t.TempDir(), env) })
	}
}

// ECOSYSTEM 9: twenty recipes, each of which does what it says.
func TestRecipesDoWhatTheySay(t *testing.T) {
	env := onThisMachine(t)
	all := recipesOf(t, "do.md")
	if len(all) != 21 {
		t.Fatalf("the page has %d recipes, want 20 and what they start from", len(all)-1)
	}
	kitchen := t.TempDir()
	all[0].play(t, kitchen, env)
	for _, r := range all[1:] {
		t.Run(r.title, func(t *testing.T) {
			folder := t.TempDir()
			if text, err := exec.CommandContext(t.Context(), "cp", "-a", kitchen+"/.", folder).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			r.play(t, folder, env)
		})
	}
}

// ECOSYSTEM 9: the pages of the platforms run as they are written, but for what
// only a person can do, which is marked so; a block that says neither is a fault.
func TestPagesOfPlatformsRunAsTheyAreWritten(t *testing.T) {
	env := onThisMachine(t)
	var served []string // files name the platforms themselves
	for _, variable := range env {
		if platform, url, ok := strings.Cut(variable, "_API_URL="); ok {
			kind := "type: " + strings.ToLower(platform) + ","
			served = append(served, kind, kind+" api_url: \""+url+"\",")
		}
	}
	opening := regexp.MustCompile("(?m)^```(.*)\n")
	for page, parts := range map[string]int{"telegram.md": 4, "slack.md": 4, "discord.md": 4} {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", page))
		testutil.OK(t, err)
		for i, fence := range opening.FindAllStringSubmatch(string(text), -1) {
			language, byHand := strings.CutSuffix(fence[1], " by hand")
			if opens := i%2 == 0; opens && language == "" || opens && !byHand && !slices.Contains([]string{"sh", "text", "yaml"}, language) {
				t.Errorf("%s: nothing runs the block ```%s", page, fence[1])
			}
		}
		all := recipesOf(t, page)
		if len(all) != parts {
			t.Errorf("%s has %d parts that run, want %d", page, len(all), parts)
		}
		for _, r := range all {
			for name, text := range r.files {
				r.files[name] = strings.NewReplacer(served...).Replace(text)
			}
			t.Run(page+" "+r.title, func(t *testing.T) { r.play(t, t.TempDir(), env) })
		}
	}
}

// The page about skills runs as it is written.
func TestThePageAboutSkillsRunsAsItIsWritten(t *testing.T) {
	all := recipesOf(t, "skills.md")
	if len(all) != 1 {
		t.Fatalf("the page has %d parts that run", len(all))
	}
	all[0].files = nil // the script writes its own
	all[0].play(t, t.TempDir(), onThisMachine(t))
}
