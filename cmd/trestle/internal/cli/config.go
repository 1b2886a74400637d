package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"

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
	c.AddCommand(check, show, schema)
	return c
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
