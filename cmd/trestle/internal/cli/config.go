package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/store/engine"
)

// configCommand answers `trestle config`.
type configCommand struct{ installation }

func newConfigCommand(env *Environment) *cobra.Command {
	cmd := configCommand{installation{env}}
	c := &cobra.Command{Use: "config", Short: "check or show the configuration"}
	check := &cobra.Command{
		Use: "check", Short: "read the configuration and say what is wrong with it", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return cmd.checkConfig() },
	}
	var o config.ShowOptions
	show := &cobra.Command{
		Annotations: fromAPI(), Use: "show", Short: "print the configuration that counts, without secrets", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return cmd.showConfig(c.Context(), o) },
	}
	show.Flags().BoolVar(&o.Origin, "origin", false, "show where each value was written")
	show.Flags().BoolVar(&o.All, "all", false, "show settings that nobody changed, too")
	schema := &cobra.Command{
		Use: "schema", Short: "print the JSON schema of the file, for editors", Args: cobra.NoArgs,
		Long: "Print the JSON schema of the file. Editors complete and check a file that begins with\n\n  " + config.SchemaLine + "\n\nwhen the schema stands beside it: trestle config schema > " + config.SchemaFile,
		RunE: func(*cobra.Command, []string) error {
			_, err := cmd.Out.Write(config.JSONSchema())
			return err
		},
	}
	c.AddCommand(check, show, schema, cmd.newSetCommand(), cmd.newUnsetCommand(), cmd.newUndoCommand())
	return c
}

func (cmd configCommand) newSetCommand() *cobra.Command {
	dry := false
	set := &cobra.Command{
		Use: "set PATH [VALUE]", Short: "change or add one value in the configuration file; comments stay", Args: cobra.RangeArgs(1, 2),
		Long: "Change or add one value in the configuration file, such as agents.ada.model.name gpt-5-mini, and show what changed. Everything else stays as it is, comments too. " +
			"A credential, such as model.api_key, is asked for, or read from stdin, and written into " + config.EnvFile + " beside the file. " +
			"A change that leaves something wrong is refused. A running program takes it over by itself. trestle config undo takes it back; the last five changes are kept in the data folder, and credentials are not.",
		RunE: func(c *cobra.Command, args []string) error { return cmd.setValue(c.Context(), args, dry) },
	}
	set.Flags().BoolVar(&dry, "dry-run", false, "show what would change, and change nothing")
	return set
}

func (cmd configCommand) newUnsetCommand() *cobra.Command {
	dry := false
	unset := &cobra.Command{
		Use: "unset PATH", Short: "remove one value from the configuration file, so that its default counts", Args: cobra.ExactArgs(1),
		Long: "Remove one value from the configuration file, so that its default counts, and show what changed. A comment on its line goes with it; trestle config undo takes it back.",
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := cmd.editor().Remove(args[0])
			return cmd.write("config unset "+args[0], p, err, dry)
		},
	}
	unset.Flags().BoolVar(&dry, "dry-run", false, "show what would change, and change nothing")
	return unset
}

func (cmd configCommand) newUndoCommand() *cobra.Command {
	return &cobra.Command{
		Use: "undo", Short: "take back the last change of the configuration file", Args: cobra.NoArgs,
		Long: "Take back the last change that trestle config set, trestle config unset or the console made of the configuration file.",
		RunE: func(*cobra.Command, []string) error { return cmd.undoChange() },
	}
}

func (cmd configCommand) editor() config.FileEditor {
	return config.FileEditor{Source: cmd.source(), Load: cmd.loadFrom}
}

// changedConfig is the answer of the commands that change the configuration.
type changedConfig struct {
	File     string   `json:"file"`
	Line     int      `json:"line"` // of the first change, from 1
	Path     string   `json:"path"`
	Removed  []string `json:"removed"`            // lines
	Added    []string `json:"added"`              // lines
	Variable string   `json:"variable,omitempty"` // that a credential is written as, beside the file
	Written  bool     `json:"written"`
	Restart  bool     `json:"restart"` // a running program takes it over at its next start
}

func newChangedConfig(path string, d config.FileDiff) changedConfig {
	return changedConfig{File: d.File, Line: d.Line, Path: path, Removed: d.Removed, Added: d.Added, Restart: d.Restart}
}

// writeTo writes the change as people read it.
func (c changedConfig) writeTo(w io.Writer) {
	if len(c.Removed)+len(c.Added) > 0 {
		fmt.Fprintf(w, "%s:%d\n", c.File, c.Line)
	}
	for _, l := range c.Removed {
		fmt.Fprintln(w, "- "+l)
	}
	for _, l := range c.Added {
		fmt.Fprintln(w, "+ "+l)
	}
	if c.Variable != "" {
		fmt.Fprintf(w, "%s: %s\n", config.EnvFile, c.Variable)
	}
	switch {
	case !c.Written:
		fmt.Fprintln(w, "Nothing was written.")
	case c.Restart:
		fmt.Fprintln(w, "Written. It counts from the next start on.")
	default:
		fmt.Fprintln(w, "Written. A running program takes it over by itself.")
	}
}

// setValue changes one value of the file, or a credential beside it.
func (cmd configCommand) setValue(ctx context.Context, args []string, dry bool) error {
	path, where := args[0], "config set "+args[0]
	switch {
	case len(args) == 2:
		p, err := cmd.editor().Set(path, args[1])
		return cmd.write(where, p, err, dry)
	case !config.IsSecretKey(path):
		return &apperr.Error{What: "a value is missing", Where: where, Remedy: "write it behind the path; only a credential is asked for", Code: apperr.Usage}
	}
	secret, err := cmd.question(ctx, where, bufio.NewReader(cmd.In), path+": ", true)
	if err != nil {
		return err
	}
	p, err := cmd.editor().SetSecret(path, secret)
	return cmd.write(where, p, err, dry)
}

// write shows a change, and writes it unless dry.
func (cmd configCommand) write(where string, p config.ProposedChange, err error, dry bool) error {
	wrong := func(what, remedy string) error {
		return &apperr.Error{What: what, Where: where, Remedy: remedy, Code: apperr.Failed}
	}
	if no, ok := errors.AsType[*config.EditError](err); ok {
		return wrong(no.What, no.Remedy)
	} else if err != nil {
		return err
	}
	change := newChangedConfig(p.Path, p.Diff)
	change.Variable = p.Variable
	if !dry && (p.Before != p.After || p.Variable != "") {
		if err := cmd.editor().Write(p, time.Now().UTC()); err != nil {
			change.writeTo(cmd.Err)
			return wrong(err.Error(), "change it in the file, as shown")
		}
		change.Written = true
	}
	return cmd.answer(change, change.writeTo)
}

// undoChange takes back the last change.
func (cmd configCommand) undoChange() error {
	last, diff, err := cmd.editor().Undo()
	if no, ok := errors.AsType[*config.EditError](err); ok {
		return &apperr.Error{What: no.What, Where: "config undo", Remedy: no.Remedy, Code: apperr.Failed}
	} else if err != nil {
		return &apperr.Error{What: err.Error(), Where: "config undo", Remedy: "change the file yourself", Code: apperr.Failed}
	}
	change := newChangedConfig(last.Path, diff)
	change.Written = true
	return cmd.answer(change, change.writeTo)
}

// checkedConfig is the answer of `config check -o json`.
type checkedConfig struct {
	File     string                `json:"file,omitempty"` // empty: the environment
	Sound    bool                  `json:"sound"`
	Findings []config.CheckFinding `json:"findings"`
}

func (cmd configCommand) checkConfig() error {
	c, err := cmd.load()
	code := apperr.Done
	switch {
	case err != nil:
		code = apperr.BadConfig
	case !c.IsSound():
		code = apperr.Failed
	}
	answer := checkedConfig{Sound: code == apperr.Done, Findings: append([]config.CheckFinding{}, config.ListFindings(c, err)...)}
	if c != nil {
		answer.File = c.Path
	}
	if err := cmd.answer(answer, func(w io.Writer) { reportConfig(w, c, err) }); err != nil || code == apperr.Done {
		return err
	}
	return &reportedError{code}
}

// reportConfig writes the findings about a configuration: first what stops the program, then
// the entries that cannot run, then what should not stay.
func reportConfig(w io.Writer, c *config.Config, err error) {
	invalid, fatal := errors.AsType[*config.InvalidError](err)
	if fatal {
		config.WriteFaults(w, invalid.Text, invalid.Errors)
	}
	if c == nil {
		return
	}
	c.WriteProblems(w)
	c.WriteWarnings(w)
	if !fatal && c.IsSound() {
		fmt.Fprintf(w, "%s is fine: %s\n", c.SourceName(), c.Summary())
	}
}

// showConfig prints the configuration and, apart from it, what people decided while the program
// ran, which is in the database and never competes with a key.
func (cmd configCommand) showConfig(ctx context.Context, o config.ShowOptions) error {
	var all []config.ShownValue
	if cmd.remote != "" {
		var err error
		if all, err = consult[[]config.ShownValue](ctx, cmd.installation, "config show", url.Values{"all": {strconv.FormatBool(o.All)}}); err != nil {
			return err
		}
	} else {
		c, err := cmd.load()
		if err != nil {
			return err
		}
		if all, err = shownRows(ctx, c, o); err != nil {
			return err
		}
	}
	return answerRows(cmd.Environment, all, func(w io.Writer) {
		own := len(all)
		if i := slices.IndexFunc(all, func(r config.ShownValue) bool { return r.Origin == ofRecord }); i >= 0 {
			own = i
		}
		config.WriteRows(w, all[:own], o)
		if own < len(all) {
			fmt.Fprintln(w, "\nlearned, in the record:")
			config.WriteRows(w, all[own:], o)
		}
	})
}

// shownRows lists the configuration and, after it, what the store has.
func shownRows(ctx context.Context, c *config.Config, o config.ShowOptions) ([]config.ShownValue, error) {
	learned, err := learnedRows(ctx, c)
	return append(c.Rows(o), learned...), err
}

// tellConfig lists the configuration in force.
func tellConfig(ctx context.Context, o readContext, q url.Values) (any, error) {
	return shownRows(ctx, o.conf, config.ShowOptions{All: q.Get("all") == "true"})
}

// ofRecord is the origin of values from the store.
const ofRecord = "record"

// learnedRows lists what the store has beside the configuration; nothing without a store that
// this program can read.
func learnedRows(ctx context.Context, c *config.Config) (rows []config.ShownValue, err error) {
	if storeopen.IsMissing(c) {
		return nil, nil
	}
	store, err := storeopen.OpenReadOnly(ctx, c)
	if errors.Is(err, engine.ErrOlder) || errors.Is(err, engine.ErrNewer) {
		return []config.ShownValue{{Path: "learned", Value: err.Error(), Origin: ofRecord}}, nil
	}
	if err != nil {
		return nil, storeopen.ReadError(err, c)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	desk, chats, err := store.Learned(ctx)
	if err != nil {
		return nil, err
	}
	add := func(path, value string) {
		rows = append(rows, config.ShownValue{Path: path, Value: value, Origin: ofRecord})
	}
	for _, a := range desk.Admitted {
		add("learned.pairings."+a.Account+"."+a.User, strings.TrimSpace(fmt.Sprintf("%s, let in %s %s", a.Name, textout.FormatTime(a.At), inCircle(string(a.Circle)))))
	}
	for _, m := range chats {
		add("learned.chats."+m.Account+"."+m.Chat, m.Title)
	}
	return rows, nil
}

func inCircle(name string) string {
	if name == "" {
		return ""
	}
	return "into the circle " + name
}
