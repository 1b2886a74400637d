package toolproc

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

// TestMain runs this executable as a tool when a test has started it so.
func TestMain(m *testing.M) {
	if role := os.Getenv("TOOL_ROLE"); role != "" {
		roles[role]()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// roles are what the executable does as a tool.
var roles = map[string]func(){
	"report": func() {
		work, _ := os.Getwd()
		limits, _ := os.ReadFile("/proc/self/limits")
		var open []string
		if names, err := os.ReadDir("/dev/fd"); err == nil {
			for _, name := range names {
				target, err := os.Readlink("/dev/fd/" + name.Name())
				if err == nil && !strings.HasPrefix(target, "/proc/") && !strings.HasPrefix(target, "anon_inode:") {
					open = append(open, target)
				}
			}
		}
		_ = json.NewEncoder(os.Stdout).Encode(report{work, os.Environ(), string(limits), open, os.Args[1:]})
	},
	"echo":  func() { _, _ = io.Copy(os.Stdout, os.Stdin) },
	"fails": func() { fmt.Fprintln(os.Stderr, "first\nlast \x1b[31mwords"); os.Exit(3) },
	"deaf": func() {
		signal.Ignore(syscall.SIGTERM)
		startChild("deaf_child")
		<-time.After(time.Hour)
	},
	"deaf_child": func() {
		signal.Ignore(syscall.SIGTERM)
		fmt.Fprintln(os.Stdout, "ready")
		<-time.After(time.Hour)
	},
	"parent": func() { startChild("deaf_child"); <-time.After(time.Hour) },
	"leaves": func() { startChild("deaf_child"); _, _ = os.Stdin.Read(make([]byte, 1)) },
	"escapes": func() {
		self, _ := os.Executable()
		child := &exec.Cmd{
			Path: self, Args: []string{self}, Env: []string{"TOOL_ROLE=escaped"}, Stdout: os.Stdout, Stderr: os.Stderr,
			SysProcAttr: &syscall.SysProcAttr{Setsid: true},
		}
		if err := child.Start(); err != nil {
			panic(err)
		}
		fmt.Fprintln(os.Stdout, child.Process.Pid)
	},
	"escaped": func() { <-time.After(time.Minute) },
	"burns": func() {
		for {
			_ = os.Getpid()
		}
	},
	"writes": func() {
		f, err := os.Create("large")
		if err == nil {
			for err == nil {
				_, err = f.Write(make([]byte, 1<<16))
			}
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(4)
	},
	"floods": func() {
		line := strings.Repeat("x", 100) + "\n"
		for range 50_000 {
			fmt.Fprint(os.Stderr, line)
		}
		fmt.Fprintln(os.Stderr, "the end")
	},
}

type report struct {
	Work   string
	Env    []string
	Limits string
	Open   []string
	Args   []string
}

func startChild(role string) {
	self, _ := os.Executable()
	child := &exec.Cmd{Path: self, Args: []string{self}, Env: []string{"TOOL_ROLE=" + role}, Stdout: os.Stdout}
	if err := child.Start(); err != nil {
		panic(err)
	}
}

// toolOf returns this executable as a tool in a role.
func toolOf(t *testing.T, role string) ToolProgram {
	t.Helper()
	self, err := os.Executable()
	testutil.OK(t, err)
	return ToolProgram{
		Name: "tool", Command: []string{self}, Folder: t.TempDir(), Limits: DefaultLimits(),
		Env: map[string]string{"TOOL_ROLE": role},
	}
}

func startTool(t *testing.T, p ToolProgram) *ToolProcess {
	t.Helper()
	process, err := Start(p)
	testutil.OK(t, err)
	t.Cleanup(func() { testutil.OK(t, process.Kill()) })
	return process
}

func reportOf(t *testing.T, p ToolProgram) report {
	t.Helper()
	process := startTool(t, p)
	var r report
	if err := json.NewDecoder(process.Output()).Decode(&r); err != nil {
		t.Fatalf("%v: %s", err, process.LastLines(5))
	}
	testutil.OK(t, process.Wait(t.Context()))
	return r
}

// SECURITY S11: a tool gets the environment that is listed and nothing else.
func TestToolHasNoSecretOfOurs(t *testing.T) {
	for i := range 30 {
		t.Setenv(fmt.Sprintf("SECRET_%d", i), "planted")
	}
	t.Setenv("LANG", "C.UTF-8")
	t.Setenv("TMPDIR", "/tmp")
	p := toolOf(t, "report")
	p.Env["KEY"] = "theirs"
	r := reportOf(t, p)
	testutil.Same(t, "environment", []string{
		"HOME=" + os.Getenv("HOME"), "KEY=theirs", "LANG=C.UTF-8", "PATH=" + os.Getenv("PATH"), "TMPDIR=/tmp", "TOOL_ROLE=report",
	}, r.Env)
	work, err := filepath.EvalSymlinks(filepath.Join(p.Folder, "tool"))
	testutil.OK(t, err)
	testutil.Same(t, "working folder", work, r.Work)
}

func TestToolWithoutHomeLivesInItsFolder(t *testing.T) {
	t.Setenv("HOME", filepath.Join(t.TempDir(), "nowhere"))
	p := toolOf(t, "report")
	want := "HOME=" + filepath.Join(p.Folder, "tool")
	if r := reportOf(t, p); !slices.Contains(r.Env, want) {
		t.Errorf("got %q, want %s among them", r.Env, want)
	}
}

// A descriptor without close-on-exec, as a parent of ours may have left one, does not
// reach a tool.
func TestToolHasNoDescriptorOfOurs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	fd, err := syscall.Open(file, syscall.O_CREAT|syscall.O_RDWR, 0o600)
	testutil.OK(t, err)
	defer func() { _ = syscall.Close(fd) }()
	r := reportOf(t, toolOf(t, "report"))
	if slices.Contains(r.Open, file) {
		t.Errorf("open: %q", r.Open)
	}
}

// Limits hold from the first instruction of the program.
func TestToolIsLimited(t *testing.T) {
	p := toolOf(t, "report")
	p.Limits = ProcessLimits{CPU: 1500 * time.Millisecond, Files: 64, FileSize: 4096, Processes: 500, Memory: 64 << 30}
	r := reportOf(t, p)
	if runtime.GOOS != "linux" { // other systems have no such report; "burns" and "writes" below show the limits
		return
	}
	for name, want := range map[string]string{
		"Max cpu time": "2", "Max open files": "64", "Max file size": "4096", "Max core file size": "0", "Max address space": fmt.Sprint(64 << 30),
	} {
		if got := limitIn(r.Limits, name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if limitIn(r.Limits, "Max processes") == "unlimited" {
		t.Error("processes are not limited")
	}
}

// limitIn returns the hard limit of a name in /proc/self/limits.
func limitIn(text, name string) string {
	for line := range strings.Lines(text) {
		if rest, found := strings.CutPrefix(line, name); found {
			return strings.Fields(rest)[1]
		}
	}
	return ""
}

func TestToolOverALimitEnds(t *testing.T) {
	for role, limits := range map[string]ProcessLimits{
		"burns": {CPU: time.Second}, "writes": {FileSize: 1 << 20},
	} {
		p := toolOf(t, role)
		p.Limits = limits
		process := startTool(t, p)
		err := process.Wait(t.Context())
		if failed, ok := errors.AsType[*ExitError](err); !ok || failed.Code == 0 {
			t.Errorf("%s: got %v (%s), want a failure", role, err, process.LastLines(3))
		}
	}
}

func TestFailureKeepsItsLastLines(t *testing.T) {
	process := startTool(t, toolOf(t, "fails"))
	err := process.Wait(t.Context())
	if failed, ok := errors.AsType[*ExitError](err); !ok || failed.Code != 3 {
		t.Errorf("got %v, want code 3", err)
	}
	testutil.Same(t, "last line", "last [31mwords", process.LastLines(1))
}

func TestFloodOfErrorsIsBounded(t *testing.T) {
	process := startTool(t, toolOf(t, "floods"))
	testutil.OK(t, process.Wait(t.Context()))
	if got := process.LastLines(1 << 20); len(got) > tailBytes || !strings.HasSuffix(got, "the end") {
		t.Errorf("kept %d bytes", len(got))
	}
}

// A tool that ignores SIGTERM, and a child of it that does, end with it: the output,
// which both hold, is at its end.
func TestStopEndsTheWholeGroup(t *testing.T) {
	for role, end := range map[string]func(*ToolProcess) error{
		"deaf":   (*ToolProcess).Kill,
		"parent": func(p *ToolProcess) error { p.signal(syscall.SIGTERM); return nil }, // ends; its child does not
		"leaves": func(p *ToolProcess) error { return p.Input().Close() },              // ends by itself
	} {
		process := startTool(t, toolOf(t, role))
		fd, err := syscall.Dup(int(process.output.Fd())) // Stop closes the other
		testutil.OK(t, err)
		held := os.NewFile(uintptr(fd), "output")
		defer func() { _ = held.Close() }()
		output := bufio.NewReader(held)
		line, err := output.ReadString('\n')
		testutil.OK(t, err)
		testutil.Same(t, "first line", "ready\n", line)
		testutil.OK(t, end(process))
		if _, err := output.ReadByte(); err != io.EOF {
			t.Errorf("%s: the child goes on: %v", role, err)
		}
	}
}

func TestStopLetsATaughtToolFinish(t *testing.T) {
	process := startTool(t, toolOf(t, "echo"))
	_, err := process.Input().Write([]byte("hello\n"))
	testutil.OK(t, err)
	line, err := bufio.NewReader(process.Output()).ReadString('\n')
	testutil.OK(t, err)
	testutil.Same(t, "echo", "hello\n", line)
	testutil.OK(t, process.Stop(time.Minute))
	testutil.OK(t, process.Wait(t.Context()))
	testutil.OK(t, process.Stop(time.Minute))
}

// A process that has left the group and holds the pipes keeps no reader waiting.
func TestEscapedProcessHoldsNoReader(t *testing.T) {
	process := startTool(t, toolOf(t, "escapes"))
	text, err := io.ReadAll(process.Output())
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("reading ended with %v", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	testutil.OK(t, err)
	testutil.OK(t, syscall.Kill(pid, syscall.SIGKILL))
	testutil.OK(t, process.Wait(t.Context()))
}

func TestMissingProgramSaysSo(t *testing.T) {
	folder := t.TempDir()
	testutil.OK(t, os.WriteFile(filepath.Join(folder, "data"), nil, 0o600))
	for _, name := range []string{"no-such-program", filepath.Join(folder, "none"), filepath.Join(folder, "data"), folder} {
		_, err := Start(ToolProgram{Name: "tool", Command: []string{name}, Folder: folder})
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: got %v, want ErrNotFound", name, err)
		}
	}
	script := filepath.Join(folder, "script")
	testutil.OK(t, os.WriteFile(script, []byte("#!/no/such/interpreter\n"), 0o700)) //nolint:gosec // it is to be executable
	process := startTool(t, ToolProgram{Name: "tool", Command: []string{script}, Folder: folder})
	if err := process.Wait(t.Context()); err == nil || !strings.Contains(process.LastLines(1), "cannot be executed") {
		t.Errorf("got %v: %q", err, process.LastLines(1))
	}
}

func TestNamesStayInTheFolder(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"", ".", "..", "../up", "a/b", "/etc", "a b", "-x", "name\x00", strings.Repeat("n", 65)} {
		if _, err := (ToolProgram{Name: name, Folder: folder}).WorkFolder(); err == nil {
			t.Errorf("%q names a folder", name)
		}
	}
	testutil.OK(t, os.Symlink("/", filepath.Join(folder, "link")))
	if _, err := (ToolProgram{Name: "link", Folder: folder}).WorkFolder(); err == nil {
		t.Error("a link is a working folder")
	}
}

func TestPathsOfTheConfigurationAreFound(t *testing.T) {
	base := t.TempDir()
	testutil.OK(t, os.Mkdir(filepath.Join(base, "tools"), 0o700))
	testutil.OK(t, os.WriteFile(filepath.Join(base, "tools", "run.sh"), []byte("#!/bin/sh\n"), 0o700)) //nolint:gosec // it is to be executable
	script := filepath.Join(base, "tools", "run.sh")
	p := ToolProgram{Base: base, Command: []string{
		"tools/run.sh", "./tools", "--file=tools/run.sh", "tools", "./absent", "https://example.com/x", "/etc/passwd", "--x=/a", "@a/b",
	}}
	words, err := p.arguments()
	testutil.OK(t, err)
	testutil.Same(t, "arguments", []string{
		script, filepath.Join(base, "tools"), "--file=" + script, "tools", "./absent", "https://example.com/x", "/etc/passwd", "--x=/a", "@a/b",
	}, words)
}
