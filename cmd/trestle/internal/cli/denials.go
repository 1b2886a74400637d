package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/internal/console/api"
)

// denialsCommand answers `trestle denials`.
type denialsCommand struct{ installation }

func newDenialsCommand(env *Environment) *cobra.Command {
	cmd := denialsCommand{installation{env}}
	var by apiFilter
	c := &cobra.Command{
		Annotations: fromAPI(), Use: "denials", Short: "list what agents were refused, newest first", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			q, err := by.query(c.Context(), cmd.installation)
			if err != nil {
				return err
			}
			return cmd.denials(c.Context(), q)
		},
	}
	by.flags(c)
	by.agentFlag(c)
	c.AddCommand(&cobra.Command{
		Annotations: fromAPI(), Use: "allow ID", Short: "print what in the configuration would have allowed it; nothing is written", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return cmd.allowDenied(c.Context(), args[0]) },
	})
	return c
}

func (cmd denialsCommand) denials(ctx context.Context, q url.Values) error {
	var a struct {
		Denials []api.DenialRow `json:"denials"`
	}
	if err := cmd.ask(ctx, "/api/denials", q, &a); err != nil {
		return err
	}
	return answerRows(cmd.Environment, a.Denials, func(w io.Writer) {
		if len(a.Denials) == 0 {
			fmt.Fprintln(w, "no denial")
			return
		}
		lines := [][]string{{"ID", "AT", "AGENT", "ACT", "CODE", "TIER", "RISK", "ROOT", "REASON"}}
		for _, d := range a.Denials {
			root := ""
			if n := len(d.Because); n > 0 {
				root = cmp.Or(d.Because[n-1].Name, string(d.Because[n-1].Actor))
			}
			lines = append(lines, []string{
				strconv.FormatInt(d.N, 10), textout.FormatTime(d.At), string(d.Agent), d.Act, d.Code, textout.OrDash(string(d.Tier)), textout.OrDash(string(d.Risk)),
				textout.OrDash(root), d.Reason,
			})
		}
		textout.WriteTable(w, lines)
	})
}

// causeOf writes one link of the chain that led to a denial.
func causeOf(e api.CauseRow) string {
	return fmt.Sprintf("%s by %s at %s, event %s", e.Kind, textout.OrDash(cmp.Or(e.Name, string(e.Actor))), textout.FormatTime(e.At), e.Event)
}

// grantAnswer is the setting that allows a denied tool call.
type grantAnswer struct {
	Denial api.DenialRow `json:"denial"`
	// Grant is the setting for trestle.yaml, as YAML; empty when no setting allows such a tool
	// call.
	Grant string `json:"grant"`
	Says  string `json:"says"`
}

// allowDenied prints the setting that allows one denied tool call.
func (cmd denialsCommand) allowDenied(ctx context.Context, text string) error {
	n, err := numbered(text, "a denial", "denials allow", "trestle denials")
	if err != nil {
		return err
	}
	var a struct {
		Denials []api.DenialRow `json:"denials"`
	}
	if err := cmd.ask(ctx, "/api/denials", url.Values{"before": {strconv.FormatInt(n+1, 10)}, "limit": {"1"}}, &a); err != nil {
		return err
	}
	if len(a.Denials) == 0 || a.Denials[0].N != n {
		return &apperr.Error{What: fmt.Sprintf("there is no denial %d", n), Where: "denials allow", Remedy: "see trestle denials", Code: apperr.Failed}
	}
	g := grantAnswer{Denial: a.Denials[0]}
	if allows := g.Denial.Grant; allows != nil {
		g.Says, g.Grant = allows.Says, allows.YAML
	}
	return cmd.answer(g, func(w io.Writer) {
		fmt.Fprintf(w, "# %s\n", g.Says)
		for _, e := range g.Denial.Because {
			fmt.Fprintf(w, "# because %s\n", causeOf(e))
		}
		fmt.Fprint(w, g.Grant)
	})
}
