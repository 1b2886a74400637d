package cli

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/internal/console/api"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/shell/prompts"
)

// promptsCommand answers `trestle prompts`.
type promptsCommand struct{ installation }

func newPromptsCommand(env *Environment) *cobra.Command {
	cmd := promptsCommand{installation{env}}
	c := &cobra.Command{Use: "prompts", Short: "list, compare, activate and roll back versions of what agents are told"}
	c.AddCommand(&cobra.Command{
		Annotations: fromAPI(), Use: "list", Short: "list the sections of the prompts, with their versions and those that are active", Args: cobra.NoArgs,
		Long: "List the sections of the prompts, with their versions and those that are active. Version 1 is built in; others are files SECTION@NUMBER.md in\n" +
			"the folder prompts beside the configuration. What is activated for an agent comes before what is activated for all.",
		RunE: func(c *cobra.Command, _ []string) error { return cmd.list(c.Context()) },
	}, &cobra.Command{
		Annotations: fromAPI(), Use: "show VERSION", Short: "print a version of a section, such as identity@1; the newest without a number", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return cmd.show(c.Context(), args[0]) },
	}, &cobra.Command{
		Annotations: fromAPI(), Use: "diff [VERSION] VERSION", Short: "say how a version differs from another, or from the active one", Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			return cmd.diff(c.Context(), append([]string{""}, args...)[len(args)-1], args[len(args)-1])
		},
	})
	for _, verb := range []struct {
		use, short string
		back       bool
	}{
		{"activate VERSION", "have agents be told a version, such as identity@2, from their next run on", false},
		{"rollback SECTION", "have agents be told the version that was active before, from their next run on", true},
	} {
		q := prompts.PromptChange{Back: verb.back, By: "command line"}
		change := &cobra.Command{
			Use: verb.use, Short: verb.short, Args: cobra.ExactArgs(1),
			RunE: func(c *cobra.Command, args []string) error {
				q.Version = args[0]
				return cmd.apply(c.Context(), q)
			},
		}
		change.Flags().StringVar((*string)(&q.Agent), "agent", "", "only for this agent (default all agents without a version of their own)")
		c.AddCommand(change)
	}
	return c
}

func (cmd promptsCommand) list(ctx context.Context) error {
	var a api.PromptsAnswer
	if err := cmd.ask(ctx, "/api/prompts", nil, &a); err != nil {
		return err
	}
	return cmd.answer(a, func(w io.Writer) { printPrompts(w, a) })
}

func printPrompts(w io.Writer, a api.PromptsAnswer) {
	lines := [][]string{{"SECTION", "ACTIVE", "AGENT", "SINCE", "BY", "VERSIONS", "TOKENS"}}
	for _, s := range a.Sections {
		var versions, tokens []string
		for _, v := range s.Versions {
			_, number, _ := strings.Cut(v.Name, "@")
			versions, tokens = append(versions, number), append(tokens, strconv.Itoa(v.Tokens))
		}
		since, by := "-", "-"
		if s.Activation != nil {
			since, by = textout.FormatTime(s.Activation.At), s.Activation.By
		}
		lines = append(lines, []string{s.Section, s.Active, "-", since, by, strings.Join(versions, " "), strings.Join(tokens, " ")})
		for _, own := range s.Agents {
			lines = append(lines, []string{"", own.Active, string(own.Agent), textout.FormatTime(own.Activation.At), own.Activation.By, "", ""})
		}
	}
	textout.WriteTable(w, lines)
	for _, m := range a.Missing {
		fmt.Fprintf(w, "missing: %s: %s\n", m.Name, m.Says)
	}
	for _, f := range a.Refused {
		fmt.Fprintf(w, "refused: %s: %s\n", f.File, f.Why)
	}
}

func (cmd promptsCommand) show(ctx context.Context, version string) error {
	var a api.PromptText
	if err := cmd.ask(ctx, "/api/prompts/"+url.PathEscape(version), nil, &a); err != nil {
		return err
	}
	return cmd.answer(a, func(w io.Writer) { fmt.Fprintln(w, a.Text) })
}

func (cmd promptsCommand) diff(ctx context.Context, from, to string) error {
	var a api.PromptDiff
	if err := cmd.ask(ctx, "/api/prompts/diff", url.Values{"from": {from}, "to": {to}}, &a); err != nil {
		return err
	}
	return cmd.answer(a, func(w io.Writer) {
		if a.Diff == "" {
			fmt.Fprintf(w, "%s and %s are the same\n", a.From, a.To)
			return
		}
		fmt.Fprint(w, a.Diff)
	})
}

func (cmd promptsCommand) apply(ctx context.Context, q prompts.PromptChange) error {
	var done prompts.PromptChange
	err := cmd.change(ctx, mutation{path: "/prompts", ask: q, answer: &done, alone: func(ctx context.Context, s *sqlstore.Store) error {
		conf, err := cmd.load()
		if err != nil {
			return err
		}
		access := offlinePrompts(conf, s.Console())
		access.Store = s.Prompts()
		done, err = access.Change(ctx, q)
		return err
	}})
	if err != nil {
		return err
	}
	return cmd.answer(done, func(w io.Writer) {
		whom := "all agents without a version of their own"
		if done.Agent != "" {
			whom = string(done.Agent)
		}
		fmt.Fprintf(w, "%s: %s, and was %s; from the next run on\n", whom, done.Version, done.Was)
	})
}
