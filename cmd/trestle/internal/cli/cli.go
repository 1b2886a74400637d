// Package cli answers the command line. Each command is a type with a constructor, in a
// file of its name; all embed the [Environment] of the invocation.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
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

// Main runs the command line of the process and returns its exit code.
func Main() int {
	env := &Environment{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Lookup: os.LookupEnv, Environ: os.Environ(), Endpoints: demo.Local(),
	}
	return int(env.Run(context.Background(), os.Args[1:]))
}

// Environment is what one invocation of the program has: its streams, its environment
// variables and its global flags. Its methods may not be called concurrently.
type Environment struct {
	In      io.Reader
	Out     io.Writer
	Err     io.Writer
	Folder  string // paths start here; empty is the working folder
	Lookup  func(string) (string, bool)
	Environ []string
	known   *redact.SecretRegistry // nil until the first use; see hidden
	// Endpoints are the addresses at which a local model is looked for: the first of them
	// by every command that has no other model, the others by a demo and by init.
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

// Run runs a command line and returns its exit code.
func (env *Environment) Run(ctx context.Context, args []string) apperr.ExitCode {
	root := env.Command()                     //nolint:contextcheck // every command is given its context when it runs
	root.SetArgs(append([]string{}, args...)) // nil would be the arguments of the process
	err := root.ExecuteContext(ctx)
	if s, ok := errors.AsType[*reportedError](err); ok {
		return s.code
	}
	return apperr.Report(env.hidden().Writer(env.Err), err)
}

// Command returns the tree of all commands.
func (env *Environment) Command() *cobra.Command {
	root := &cobra.Command{
		Use:           "trestle",
		Short:         "LLM agents that live in chats",
		SilenceErrors: true, SilenceUsage: true,
		Args: cobra.NoArgs, Annotations: fromAPI(),
		RunE: func(c *cobra.Command, _ []string) error { return env.alone(c.Context()) },
	}
	root.SetOut(env.Out)
	root.SetErr(env.Err)
	root.SetIn(env.In)
	root.SetFlagErrorFunc(wrongFlag)
	env.globalFlags(root)
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error { return env.checkFlags(c) }
	for _, part := range commands() {
		root.AddGroup(&cobra.Group{ID: part.title, Title: part.title + ":"})
		for _, command := range part.commands {
			c := command(env)
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

// A commandGroup is a group of commands in the help.
type commandGroup struct {
	title    string
	commands []func(*Environment) *cobra.Command
}

// commands returns the constructors of all commands, in their groups.
func commands() []commandGroup {
	return []commandGroup{
		{"Getting started", []func(*Environment) *cobra.Command{newRunCommand, newChatCommand, newInitCommand, newDoctorCommand, newConfigCommand}},
		{"Inspect", []func(*Environment) *cobra.Command{
			newStatusCommand, newAdaptersCommand, newProblemsCommand, newSpacesCommand, newSearchCommand, newRunsCommand, newExplainCommand, newRehearseCommand,
			newDenialsCommand, newMissionsCommand, newToolsCommand, newSkillsCommand, newPromptsCommand, newHudCommand, newMemoryCommand, newReplayCommand, newEventsCommand, newJobsCommand, newOpenCommand,
		}},
		{"Access and import", []func(*Environment) *cobra.Command{newPairCommand, newApprovalsCommand, newTokenCommand, newMCPCommand, newImportCommand, newBackfillCommand}},
		{"Data", []func(*Environment) *cobra.Command{newBackupCommand, newRestoreCommand, newMigrateCommand, newMoveCommand, newReportCommand}},
		{"Other", []func(*Environment) *cobra.Command{newFakeCommand, newVersionCommand}},
	}
}

// globalFlags adds the flags that every command takes.
func (env *Environment) globalFlags(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.StringVar(&env.configPath, "config", "", "configuration file (default trestle.yaml, if there is one)")
	flags.StringVar(&env.dataPath, "data", "", "data folder (default ./data)")
	flags.StringVar(&env.remote, "remote", "", "read from the console of another machine at this URL, with the token in TRESTLE_TOKEN")
	flags.StringVarP(&env.output, "output", "o", "text", "how to answer: text, json or jsonl")
	flags.BoolVar(&env.noColor, "no-color", false, "no colours, also on a terminal; NO_COLOR does the same")
	flags.BoolVarP(&env.verbose, "verbose", "v", false, "log more")
	flags.BoolVarP(&env.quiet, "quiet", "q", false, "log warnings and errors only")
}

// asksAPI marks the commands that --remote is for: those whose whole answer comes
// from the console's API.
const asksAPI = "api"

// fromAPI returns the annotation of a command that --remote is for.
func fromAPI() map[string]string { return map[string]string{asksAPI: "yes"} }

// checkFlags returns an error for global flags that the command does not support: an answer
// about this machine must not be taken for one about another.
func (env *Environment) checkFlags(c *cobra.Command) error {
	if err := c.ValidateFlagGroups(); err != nil {
		return wrongTogether(c, err)
	}
	switch env.output {
	case "text", "json", "jsonl":
	default:
		return &apperr.Error{What: "-o is text, json or jsonl", Where: c.CommandPath(), Remedy: "choose one of them", Code: apperr.Usage}
	}
	if env.remote != "" && c.Annotations[asksAPI] == "" {
		return &apperr.Error{What: "this command does not ask another machine", Where: c.CommandPath() + " --remote", Remedy: "run it there; the commands that read the record take --remote", Code: apperr.Usage}
	}
	return nil
}

const howToBegin = `Trestle: LLM agents that live in chats.

  trestle run --demo   see it at work on this machine: no token, nothing is kept
  trestle init         begin: write a configuration, by asking for platforms, a model, the agent and you

trestle --help lists every command.
`

// alone runs `trestle` without a command: it prints the status if there is a data folder, else
// how to begin.
func (env *Environment) alone(ctx context.Context) error {
	if env.remote != "" {
		return statusCommand{installation{env}}.status(ctx, false)
	}
	conf, err := env.load()
	if err != nil {
		return statusCommand{installation{env}}.status(ctx, false) // it says what is wrong
	}
	if _, err := os.Stat(conf.Data); err == nil {
		return statusCommand{installation{env}}.status(ctx, false)
	}
	_, err = io.WriteString(env.Out, howToBegin)
	return err
}

func (env *Environment) source() config.LoadOptions {
	return config.LoadOptions{Path: env.configPath, Data: env.dataPath, Roles: env.roles, Folder: env.Folder, Lookup: env.Lookup, Environ: env.Environ, LocalModel: env.localModel}
}

// localModel returns the server of models that runs on this machine, usually Ollama, and
// the first of its models.
func (env *Environment) localModel() (baseURL, model string) {
	for _, url := range env.Endpoints[:min(len(env.Endpoints), 1)] {
		ctx, stop := context.WithTimeout(context.Background(), localPatience)
		defer stop()
		if name, err := demo.FirstModel(ctx, http.DefaultClient, url, ""); err == nil {
			return url, name
		}
	}
	return "", ""
}

// localPatience is how long a server of models on this machine may take to list them.
const localPatience = 400 * time.Millisecond

// answer writes the answer of a command, by text or as JSON. It escapes control characters for
// the terminal.
func (env *Environment) answer(v any, text func(io.Writer)) error {
	out := env.hidden().ExactWriter(env.Out)
	switch env.output {
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
	if env.onTerminal() {
		shown = forTerminal(shown, time.Now(), env.coloured())
	}
	_, err := io.WriteString(out, shown)
	return err
}

// answerRows writes an answer that is a list: as JSON one array, as JSON lines one row in each.
func answerRows[T any](env *Environment, rows []T, text func(io.Writer)) error {
	if env.output != "jsonl" {
		return env.answer(rows, text)
	}
	for _, r := range rows {
		if err := env.answer(r, nil); err != nil {
			return err
		}
	}
	return nil
}

// logger returns the log of a long-lived command, on stderr, without credentials.
func (env *Environment) logger(level slog.Level) *slog.Logger {
	switch {
	case env.verbose:
		level = slog.LevelDebug
	case env.quiet:
		level = slog.LevelWarn
	}
	text := slog.NewTextHandler(env.hidden().ExactWriter(env.Err), &slog.HandlerOptions{Level: level})
	return slog.New(env.hidden().Handler(text))
}

// hidden returns the registry that removes credentials from everything that is written.
func (env *Environment) hidden() *redact.SecretRegistry {
	if env.known == nil {
		env.known = new(redact.SecretRegistry)
	}
	return env.known
}

// load reads the configuration and registers its secrets, whatever is wrong with the rest.
func (env *Environment) load() (*config.Config, error) { return env.loadFrom(env.source()) }

func (env *Environment) loadFrom(from config.LoadOptions) (*config.Config, error) {
	c, err := config.Load(from)
	if c != nil {
		env.hidden().AddSecrets(c.Secrets()...)
	}
	return c, err
}

// inputKind is what stdin is.
type inputKind int

const (
	inputNone     inputKind = iota // nothing that anybody writes to
	inputTerminal                  // a person
	inputLines                     // a pipe or a file
)

// input returns what stdin is. Anything that is no file of the system, as
// in tests, holds lines.
func (env *Environment) input() inputKind {
	file, ok := env.In.(*os.File)
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

func (env *Environment) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(env.Folder, path)
}
