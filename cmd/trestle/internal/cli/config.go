package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
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
	c.AddCommand(check, show, schema, cmd.newSetCommand(), cmd.newUndoCommand())
	return c
}

func (cmd configCommand) newSetCommand() *cobra.Command {
	dry := false
	set := &cobra.Command{
		Use: "set PATH VALUE", Short: "change or add one value in the configuration file; comments stay", Args: cobra.ExactArgs(2),
		Long: "Change or add one value in the configuration file, such as agents.ada.model.name gpt-5-mini, and show what changed. Everything else stays as it is, comments too. " +
			"A change that leaves something wrong is refused. A running program takes it over by itself. trestle config undo takes it back; the last five changes are kept in the data folder.",
		RunE: func(_ *cobra.Command, args []string) error { return cmd.setValue(args[0], args[1], dry) },
	}
	set.Flags().BoolVar(&dry, "dry-run", false, "show what would change, and change nothing")
	return set
}

func (cmd configCommand) newUndoCommand() *cobra.Command {
	return &cobra.Command{
		Use: "undo", Short: "take back the last change of trestle config set", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return cmd.undoChange() },
	}
}

// changedConfig is the answer of `config set` and `config undo`.
type changedConfig struct {
	File    string   `json:"file"`
	Line    int      `json:"line"` // of the first change, from 1
	Path    string   `json:"path"`
	Removed []string `json:"removed"` // lines
	Added   []string `json:"added"`   // lines
	Written bool     `json:"written"`
	Restart bool     `json:"restart"` // a running program takes it over at its next start
}

// newChangedConfig compares two texts of a file that differ in one place.
func newChangedConfig(file, path, before, after string) changedConfig {
	was, now := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	same := 0
	for same < min(len(was), len(now)) && was[same] == now[same] {
		same++
	}
	was, now = was[same:], now[same:]
	for len(was) > 0 && len(now) > 0 && was[len(was)-1] == now[len(now)-1] {
		was, now = was[:len(was)-1], now[:len(now)-1]
	}
	lines := func(all []string) []string {
		out := []string{}
		for _, l := range all {
			if l != "" {
				out = append(out, strings.TrimRight(l, "\r\n"))
			}
		}
		return out
	}
	return changedConfig{File: file, Line: same + 1, Path: path, Removed: lines(was), Added: lines(now), Restart: config.ReadAtStart(path)}
}

// writeTo writes the change as people read it.
func (c changedConfig) writeTo(w io.Writer) {
	fmt.Fprintf(w, "%s:%d\n", c.File, c.Line)
	for _, l := range c.Removed {
		fmt.Fprintln(w, "- "+l)
	}
	for _, l := range c.Added {
		fmt.Fprintln(w, "+ "+l)
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

// setValue changes one value of the file.
func (cmd configCommand) setValue(path, value string, dry bool) error {
	wrong := func(what, remedy string) error {
		return &apperr.Error{What: what, Where: "config set " + path, Remedy: remedy, Code: apperr.Failed}
	}
	if config.IsSecretKey(path) && !strings.HasPrefix(value, "${") {
		return wrong("a credential has no place in the file", "write NAME=… into "+config.EnvFile+" beside it, for its owner alone (mode 0600), and set "+path+" to '${NAME}'")
	}
	from := cmd.source()
	was, wasErr := cmd.loadFrom(from)
	switch {
	case was == nil:
		return wasErr
	case was.Path == "":
		return wrong("there is no configuration file", "trestle init writes one")
	}
	file := was.FullPath()
	raw, err := os.ReadFile(file)
	if err != nil {
		return wrong("the file cannot be read: "+err.Error(), "run it as the user who owns the file")
	}
	before := string(raw)
	after, err := config.SetValue(before, path, value)
	if no, ok := errors.AsType[*config.EditError](err); ok {
		return wrong(no.What, no.Remedy)
	} else if err != nil {
		return err
	}
	from.Text = &after
	now, nowErr := cmd.loadFrom(from)
	if worse := newFindings(config.ListFindings(was, wasErr), config.ListFindings(now, nowErr)); len(worse) > 0 {
		return wrong("with that value something is wrong: "+worse[0].What, worse[0].Do)
	}
	change := newChangedConfig(was.Path, path, before, after)
	if !dry && before != after {
		if err := config.WriteChange(was.Data, config.FileChange{File: file, Path: path, Before: before, After: after, At: time.Now().UTC()}); err != nil {
			change.writeTo(cmd.Err)
			return wrong(err.Error(), "change it in the file, as shown")
		}
		change.Written = true
	}
	return cmd.answer(change, change.writeTo)
}

// newFindings returns the findings of a changed file that were not there before. Warnings are
// none: they are shown by config check.
func newFindings(before, after []config.CheckFinding) (worse []config.CheckFinding) {
	for _, f := range after {
		same := func(g config.CheckFinding) bool { return g.What == f.What && g.Entry == f.Entry && g.Level == f.Level }
		if f.Level != config.LevelWarn && !slices.ContainsFunc(before, same) {
			worse = append(worse, f)
		}
	}
	return worse
}

// undoChange takes back the last change.
func (cmd configCommand) undoChange() error {
	c, err := cmd.load()
	if c == nil || c.Path == "" {
		return errors.Join(err, &apperr.Error{What: "there is no configuration file", Where: "config undo", Remedy: "trestle init writes one", Code: apperr.Failed})
	}
	last, err := config.UndoChange(c.Data, c.FullPath())
	if err != nil {
		return &apperr.Error{What: err.Error(), Where: "config undo", Remedy: "change the file yourself", Code: apperr.Failed}
	}
	change := newChangedConfig(c.Path, last.Path, last.After, last.Before)
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
