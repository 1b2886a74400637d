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
	"github.com/trestle-bridge/trestle/spaces"
)

// toolsCommand answers `trestle tools`.
type toolsCommand struct{ installation }

func newToolsCommand(env *Environment) *cobra.Command {
	cmd := toolsCommand{installation{env}}
	c := &cobra.Command{
		Annotations: fromAPI(), Use: "tools [VERSION]", Short: "list the acts that agents may ask for, and the versions of them that runs were offered", Args: cobra.MaximumNArgs(1),
		Long: "List the acts that agents may ask for now, or could in VERSION, with how far each is trusted (tier), what it can do (risk) and its " +
			"arguments, in brackets those that need not be there; then the versions of the acts that runs were offered, with the time of their " +
			"use; the last use is noted once an hour. `trestle runs show` says which version a run was offered. The unique beginning of a version is enough.",
		RunE: func(c *cobra.Command, args []string) error {
			return cmd.tools(c.Context(), strings.Join(args, ""))
		},
	}
	c.AddCommand(&cobra.Command{
		Annotations: fromAPI(), Use: "diff VERSION [VERSION]", Short: "say how the acts of one version differ from those of another, or from those of now", Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			return cmd.toolsDiff(c.Context(), append(args, "")[0], append(args, "")[1])
		},
	})
	cmd.addOutsideCommands(c)
	return c
}

func (cmd toolsCommand) tools(ctx context.Context, version string) error {
	var a api.ToolsAnswer
	if err := cmd.ask(ctx, "/api/tools", url.Values{"version": {version}}, &a); err != nil {
		return err
	}
	return cmd.answer(a, func(w io.Writer) { printTools(w, a) })
}

func (cmd toolsCommand) toolsDiff(ctx context.Context, from, to string) error {
	var d api.ToolsDiff
	if err := cmd.ask(ctx, "/api/tools/diff", url.Values{"from": {from}, "to": {to}}, &d); err != nil {
		return err
	}
	return cmd.answer(d, func(w io.Writer) { printToolsDiff(w, d) })
}

func printTools(w io.Writer, a api.ToolsAnswer) {
	fmt.Fprintf(w, "version %s\n", a.Manifest)
	lines := [][]string{{"ACT", "TIER", "RISK", "ARGUMENTS"}}
	for _, t := range a.Tools {
		lines = append(lines, []string{t.Name, string(t.Tier), string(t.Risk), textout.OrDash(argumentsOf(t.ToolDefinition))})
	}
	textout.WriteTable(w, lines)
	if len(a.Versions) == 0 {
		fmt.Fprintln(w, "\nno run was offered any yet")
		return
	}
	fmt.Fprintln(w)
	lines = [][]string{{"VERSION", "ACTS", "FIRST USED", "LAST USED"}}
	for _, v := range a.Versions {
		acts := strconv.Itoa(v.Acts)
		if v.Acts == 0 {
			acts = "not kept" // by the program of that time
		}
		lines = append(lines, []string{v.Manifest, acts, textout.FormatTime(v.First), textout.FormatTime(v.Last)})
	}
	textout.WriteTable(w, lines)
}

// argumentsOf names what an act takes: first what must be there, then the rest in
// brackets.
func argumentsOf(o spaces.ToolDefinition) string {
	var must, may []string
	for _, a := range o.Arguments() {
		if a.Must {
			must = append(must, a.Name)
		} else {
			may = append(may, "["+a.Name+"]")
		}
	}
	return strings.Join(append(must, may...), " ")
}

func printToolsDiff(w io.Writer, d api.ToolsDiff) {
	fmt.Fprintf(w, "from %s to %s\n", d.From, d.To)
	for _, name := range d.Added {
		fmt.Fprintf(w, "  added    %s\n", name)
	}
	for _, name := range d.Removed {
		fmt.Fprintf(w, "  removed  %s\n", name)
	}
	for _, c := range d.Changed {
		parts := []string{strings.Join(c.What, ", ")}
		for _, x := range []struct {
			how  string
			args []string
		}{{"added", c.Arguments.Added}, {"removed", c.Arguments.Removed}, {"changed", c.Arguments.Changed}} {
			if len(x.args) > 0 {
				parts = append(parts, "arguments "+x.how+": "+strings.Join(x.args, ", "))
			}
		}
		fmt.Fprintf(w, "  changed  %s: %s\n", c.Name, strings.Join(parts, "; "))
	}
	if d.Reordered {
		fmt.Fprintln(w, "  models see the acts in another order")
	}
	if len(d.Added)+len(d.Removed)+len(d.Changed) == 0 && !d.Reordered {
		fmt.Fprintln(w, "  no difference")
	}
}
