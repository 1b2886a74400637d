//go:build faultinject

package crashtest

import (
	"bytes"
	"context"
	endian "encoding/binary"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

// A static program asks the kernel for the time itself, so nothing can be put
// between the two. Its package time is given another Now instead, and the program
// is linked again with that: by how many seconds its clock is ahead is what it reads
// in its fourth file, see [program.sets]. The linker sees to it that the rest of the
// package is what everything else was built with, the numbers of its lines included.
var otherNow = []struct{ is, becomes string }{
	{"import (\n", `import ("syscall"; "unsafe"` + "\n"},
	{"\tsec, nsec, mono := runtimeNow()\n", "\tsec, nsec, mono := runtimeNow(); " + addAhead + "\n"},
}

// addAhead may be run where nothing can be allocated and no lock taken.
const addAhead = `var ahead int64; ` +
	`_, _, _ = syscall.RawSyscall6(syscall.SYS_PREAD64, 3, uintptr(unsafe.Pointer(&ahead)), 8, 0, 0, 0); ` +
	`sec += ahead`

// buildMovable links the program with a clock that can be moved.
func buildMovable(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	list := golang(t, "list", "-export", "-deps", "-tags", "faultinject", "-f", `{{if .Export}}packagefile {{.ImportPath}}={{.Export}}{{end}}`, "../../cmd/trestle")
	packages := filepath.Join(dir, "packages")
	write(t, packages, list)

	known := strings.Fields(string(golang(t, "list", "-f", "{{.Dir}}{{range .GoFiles}} {{.}}{{end}}", "time")))
	from, files := known[0], known[1:]
	named := dir + "=>$GOROOT/src/time" // what the package's files are called in its object
	if strings.Contains(string(golang(t, "env", "GOFLAGS")), "-trimpath") {
		named = dir + "=>time;" + from + "=>time"
	}
	object := filepath.Join(dir, "time.a")
	compile := []string{"tool", "compile", "-o", object, "-trimpath", named, "-p", "time", "-std", "-importcfg", packages, "-pack"}
	for _, name := range files {
		file := filepath.Join(from, name)
		if name == "time.go" {
			text := movable(t, file)
			file = filepath.Join(dir, name)
			write(t, file, text)
		}
		compile = append(compile, file)
	}
	golang(t, compile...)

	var main string
	for line := range strings.Lines(string(list)) {
		if _, file, ok := strings.Cut(strings.TrimSpace(line), "/cmd/trestle="); ok {
			main = file
		}
	}
	write(t, packages, append(list, "packagefile time="+object+"\n"...)) // the last word on a package counts
	program := filepath.Join(dir, "trestle")
	golang(t, "tool", "link", "-o", program, "-importcfg", packages, main)
	return program
}

// movable returns the text of a file of package time, with a Now that can be moved.
func movable(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Clean(file))
	testutil.OK(t, err)
	for _, line := range otherNow {
		if bytes.Count(text, []byte(line.is)) != 1 {
			t.Fatalf("%s has not once %q: this test does not know it", file, line.is)
		}
		text = bytes.Replace(text, []byte(line.is), []byte(line.becomes), 1)
	}
	return text
}

// golang runs the go command and returns what it says.
func golang(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v: %s", args[0], err, said.String())
	}
	return out
}

func write(t *testing.T, file string, text []byte) {
	t.Helper()
	testutil.OK(t, os.WriteFile(file, text, 0o600))
}

// sets moves the clock of a process, which may run.
func (p *program) sets(t *testing.T, ahead time.Duration) {
	t.Helper()
	if p.clock == nil {
		file, err := os.Create(filepath.Join(p.dir, "clock"))
		testutil.OK(t, err)
		t.Cleanup(func() { _ = file.Close() }) // it is read by the process alone
		p.clock = file
	}
	seconds := endian.NativeEndian.AppendUint64(nil, uint64(ahead/time.Second)) //nolint:gosec // its bits
	if _, err := p.clock.WriteAt(seconds, 0); err != nil {
		t.Fatal(err)
	}
}

// F43, I8, I15: the clock of one process, then of another, jumps by an hour and by a
// day, forward and back, and runs ahead slowly. Nothing is lost, nothing comes twice,
// no process is declared dead, and no lease is taken from its holder.
func TestWrongClockOfOneProcessChangesNothing(t *testing.T) {
	movable := buildMovable(t)
	crews(t, "F43", func(ctx context.Context, t *testing.T, c *crew, seed uint64) {
		t.Helper()
		for _, p := range c.members {
			p.binary = movable
			p.sets(t, 0)
		}
		c.starts(ctx, t)
		hush := c.talks(seed)
		defer hush()
		owner := c.owner(ctx, t)
		rng := rand.New(rand.NewPCG(seed, 43))
		for _, jump := range []time.Duration{time.Hour, -time.Hour, 24 * time.Hour, -24 * time.Hour} {
			for _, p := range []*program{owner, c.members[rng.IntN(len(c.members))]} {
				p.sets(t, jump)
				c.converses(ctx)
				p.sets(t, 0)
			}
		}
		for ahead := range 60 { // slowly, and back at once
			owner.sets(t, time.Duration(ahead)*time.Second)
			passes(ctx, 50*time.Millisecond)
		}
		owner.sets(t, 0)
		c.converses(ctx)
		hush()
		c.rest(ctx, t, owner)
		if last := c.owner(ctx, t); last != owner {
			t.Error("the account has another owner")
		}
		c.stops(ctx, t)
		v := c.judge(t, owner, &evidence{})
		for _, p := range c.members {
			if n := p.logged(t, "process given up"); n > 0 || v.copies > 0 {
				t.Errorf("%d processes were given up, %d messages came twice; want none", n, v.copies)
			}
		}
	})
}
