// Package cli answers the command line: a file for each command, and what they share.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/demo"
	"github.com/trestle-bridge/trestle/internal/redact"
)

// Main carries out the command line of the process and returns its exit code.
func Main() int {
	p := &CLI{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Lookup: os.LookupEnv, Environ: os.Environ(), Endpoints: demo.Local(),
	}
	return int(p.Run(context.Background(), os.Args[1:]))
}

// CLI is one invocation: its streams, its environment and its global flags.
type CLI struct {
	In      io.Reader
	Out     io.Writer
	Err     io.Writer
	Folder  string // paths start here; empty is the working folder
	Lookup  func(string) (string, bool)
	Environ []string
	known   *redact.SecretRegistry // see hidden
	// Endpoints are where a demo looks for a local model to offer.
	Endpoints []string

	configPath string
	dataPath   string
	roles      string // of run; empty is what the configuration says
	output     string
	remote     string
	verbose    bool
	quiet      bool
	noColor    bool
	warned     bool // of a configuration that cannot be used; see stillServed
}

// reportedError is an error that has been reported already.
type reportedError struct{ code apperr.ExitCode }

// Error names the exit code.
func (s *reportedError) Error() string { return "exit " + s.code.String() }

// Run carries out a command line and returns its exit code.
func (p *CLI) Run(ctx context.Context, args []string) apperr.ExitCode {
	root := p.Command()                       //nolint:contextcheck // every command is given its context when it runs
	root.SetArgs(append([]string{}, args...)) // nil would be the arguments of the process
	err := root.ExecuteContext(ctx)
	if s, ok := errors.AsType[*reportedError](err); ok {
		return s.code
	}
	return apperr.Report(p.hidden().Writer(p.Err), err)
}

// Command returns the tree of all commands.
func (p *CLI) Command() *cobra.Command {
	root := &cobra.Command{
		Use:           "trestle",
		Short:         "LLM agents that live in chats",
		SilenceErrors: true, SilenceUsage: true,
		Args: cobra.NoArgs, Annotations: fromAPI(),
		RunE: func(c *cobra.Command, _ []string) error { return p.alone(c.Context()) },
	}
	root.SetOut(p.Out)
	root.SetErr(p.Err)
	root.SetIn(p.In)
	root.SetFlagErrorFunc(wrongFlag)
	p.globalFlags(root)
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error { return p.checkFlags(c) }
	for _, part := range commands() {
		root.AddGroup(&cobra.Group{ID: part.title, Title: part.title + ":"})
		for _, command := range part.commands {
			c := command(p)
			c.GroupID = part.title
			root.AddCommand(c)
		}
	}
	root.SetHelpCommandGroupID("Other")
	root.SetCompletionCommandGroupID("Other")
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	wantUsage(root)
	return root
}

// A commandGroup is what some commands are for: a part of the help.
type commandGroup struct {
	title    string
	commands []func(*CLI) *cobra.Command
}

// commands returns what makes each command, by what it is for.
func commands() []commandGroup {
	return []commandGroup{
		{"Getting started", []func(*CLI) *cobra.Command{runCommand, chatCommand, initCommand, doctorCommand, configCommand}},
		{"Inspect", []func(*CLI) *cobra.Command{
			statusCommand, adaptersCommand, problemsCommand, spacesCommand, searchCommand, runsCommand, explainCommand, rehearseCommand,
			denialsCommand, toolsCommand, hudCommand, memoryCommand, replayCommand, eventsCommand, jobsCommand, openCommand,
		}},
		{"Access and import", []func(*CLI) *cobra.Command{pairCommand, tokenCommand, importCommand, backfillCommand}},
		{"Data", []func(*CLI) *cobra.Command{backupCommand, restoreCommand, migrateCommand, moveCommand, reportCommand}},
		{"Other", []func(*CLI) *cobra.Command{fakeCommand, versionCommand}},
	}
}

// globalFlags are those that every command takes.
func (p *CLI) globalFlags(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.StringVar(&p.configPath, "config", "", "configuration file (default trestle.yaml, if there is one)")
	flags.StringVar(&p.dataPath, "data", "", "data folder (default ./data)")
	flags.StringVar(&p.remote, "remote", "", "read from the console of another machine at this URL, with the token in TRESTLE_TOKEN")
	flags.StringVarP(&p.output, "output", "o", "text", "how to answer: text, json or jsonl")
	flags.BoolVar(&p.noColor, "no-color", false, "no colours, also on a terminal; NO_COLOR does the same")
	flags.BoolVarP(&p.verbose, "verbose", "v", false, "log more")
	flags.BoolVarP(&p.quiet, "quiet", "q", false, "log warnings and errors only")
}

// asksAPI marks the commands that --remote is for: those whose whole answer comes
// from the console's API.
const asksAPI = "api"

// fromAPI is the mark as a command carries it.
func fromAPI() map[string]string { return map[string]string{asksAPI: "yes"} }

// checkFlags refuses flags that the command does not know what to do with: an
// answer about this machine must not be taken for one about another.
func (p *CLI) checkFlags(c *cobra.Command) error {
	if err := c.ValidateFlagGroups(); err != nil {
		return wrongTogether(c, err)
	}
	switch p.output {
	case "text", "json", "jsonl":
	default:
		return &apperr.Error{What: "-o is text, json or jsonl", Where: c.CommandPath(), Remedy: "choose one of them", Code: apperr.Usage}
	}
	if p.remote != "" && c.Annotations[asksAPI] == "" {
		return &apperr.Error{What: "this command does not ask another machine", Where: c.CommandPath() + " --remote", Remedy: "run it there; the commands that read the record take --remote", Code: apperr.Usage}
	}
	return nil
}

const howToBegin = `Trestle: LLM agents that live in chats.

  trestle run --demo   see it at work on this machine: no token, nothing is kept
  trestle init         begin: write a configuration, by asking at most three things

trestle --help lists every command.
`

// alone is `trestle` without a command: status where there is something to
// say, else how to begin.
func (p *CLI) alone(ctx context.Context) error {
	if p.remote != "" {
		return p.status(ctx, false)
	}
	conf, err := p.load()
	if err != nil {
		return p.status(ctx, false) // it says what is wrong
	}
	if _, err := os.Stat(conf.Data); err == nil {
		return p.status(ctx, false)
	}
	_, err = io.WriteString(p.Out, howToBegin)
	return err
}

func (p *CLI) source() config.LoadOptions {
	return config.LoadOptions{Path: p.configPath, Data: p.dataPath, Roles: p.roles, Folder: p.Folder, Lookup: p.Lookup, Environ: p.Environ}
}

// answer writes the answer of a command: by text, or v as JSON. Nothing that
// people wrote steers the terminal of the reader.
func (p *CLI) answer(v any, text func(io.Writer)) error {
	out := p.hidden().ExactWriter(p.Out)
	switch p.output {
	case "json":
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(v)
	case "jsonl":
		return json.NewEncoder(out).Encode(v)
	}
	var raw strings.Builder
	text(&raw)
	shown := textout.EscapeControls(raw.String())
	if p.onTerminal() {
		shown = forTerminal(shown, time.Now(), p.coloured())
	}
	_, err := io.WriteString(out, shown)
	return err
}

// answerRows is answer for a list: as JSON one array, as JSON lines one row in
// each.
func answerRows[T any](p *CLI, rows []T, text func(io.Writer)) error {
	if p.output != "jsonl" {
		return p.answer(rows, text)
	}
	for _, r := range rows {
		if err := p.answer(r, nil); err != nil {
			return err
		}
	}
	return nil
}

// logger returns the log of a long-lived command, on stderr, without credentials.
func (p *CLI) logger(level slog.Level) *slog.Logger {
	switch {
	case p.verbose:
		level = slog.LevelDebug
	case p.quiet:
		level = slog.LevelWarn
	}
	text := slog.NewTextHandler(p.hidden().ExactWriter(p.Err), &slog.HandlerOptions{Level: level})
	return slog.New(p.hidden().Handler(text))
}

// hidden is what keeps credentials out of everything that p says.
func (p *CLI) hidden() *redact.SecretRegistry {
	if p.known == nil {
		p.known = new(redact.SecretRegistry)
	}
	return p.known
}

// load reads the configuration; what is secret in it is hidden from then on,
// whatever is wrong with the rest.
func (p *CLI) load() (*config.Config, error) { return p.loadFrom(p.source()) }

func (p *CLI) loadFrom(from config.LoadOptions) (*config.Config, error) {
	c, err := config.Load(from)
	if c != nil {
		p.hidden().AddSecrets(c.Secrets()...)
	}
	return c, err
}

// inputKind says what stdin is.
type inputKind int

const (
	inputNone     inputKind = iota // nothing that anybody writes to
	inputTerminal                  // a person
	inputLines                     // a pipe or a file
)

// input returns what stdin is. Anything that is no file of the system, as
// in tests, holds lines.
func (p *CLI) input() inputKind {
	file, ok := p.In.(*os.File)
	if !ok {
		return inputLines
	}
	if term.IsTerminal(int(file.Fd())) {
		return inputTerminal
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice != 0 || info.Mode().IsDir() {
		return inputNone
	}
	return inputLines
}

func (p *CLI) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(p.Folder, path)
}
