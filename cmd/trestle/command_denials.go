package main

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/internal/console"
)

func denialsCommand(p *program) *cobra.Command {
	var agent, since string
	limit := 50
	c := &cobra.Command{
		Annotations: fromAPI(), Use: "denials", Short: "list what agents were refused, newest first", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if _, err := sinceFlag(since); err != nil {
				return err
			}
			return p.denials(c.Context(), url.Values{"agent": {agent}, "since": {since}, "limit": {strconv.Itoa(limit)}})
		},
	}
	c.Flags().StringVar(&agent, "agent", "", "only of this agent")
	c.Flags().StringVar(&since, "since", "", "only newer ones, such as 2h or 7d")
	c.Flags().IntVar(&limit, "limit", limit, "at most this many")
	c.AddCommand(&cobra.Command{
		Annotations: fromAPI(), Use: "allow ID", Short: "print what in the configuration would have allowed it; nothing is written", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return p.allowDenied(c.Context(), args[0]) },
	})
	return c
}

func (p *program) denials(ctx context.Context, q url.Values) error {
	var a struct {
		Denials []console.DenialRow `json:"denials"`
	}
	if err := p.ask(ctx, "/api/denials", q, &a); err != nil {
		return err
	}
	return answerRows(p, a.Denials, func(w io.Writer) {
		lines := [][]string{{"ID", "AT", "AGENT", "ACT", "CODE", "TIER", "RISK", "REASON"}}
		for _, d := range a.Denials {
			lines = append(lines, []string{
				strconv.FormatInt(d.N, 10), when(d.At), string(d.Agent), plain(d.Act), d.Code, dash(string(d.Tier)), dash(string(d.Risk)), plain(d.Reason),
			})
		}
		table(w, lines)
	})
}

// grantAnswer says what would have allowed a refused act.
type grantAnswer struct {
	Denial console.DenialRow `json:"denial"`
	// Grant is what to write into trestle.yaml, as YAML; empty when no setting
	// allows such an act.
	Grant string `json:"grant"`
	Says  string `json:"says"`
}

// allowDenied prints the grant for one denial.
func (p *program) allowDenied(ctx context.Context, text string) error {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return &failure{what: fmt.Sprintf("%q is no number of a denial", text), where: "denials allow", todo: "see trestle denials", code: exitUsage}
	}
	var a struct {
		Denials []console.DenialRow `json:"denials"`
	}
	if err := p.ask(ctx, "/api/denials", url.Values{"before": {strconv.FormatInt(n+1, 10)}, "limit": {"1"}}, &a); err != nil {
		return err
	}
	if len(a.Denials) == 0 || a.Denials[0].N != n {
		return &failure{what: fmt.Sprintf("there is no denial %d", n), where: "denials allow", todo: "see trestle denials", code: exitFailed}
	}
	g := grantFor(a.Denials[0])
	return p.answer(g, func(w io.Writer) {
		fmt.Fprintf(w, "# %s\n%s", plain(g.Says), plain(g.Grant))
	})
}

// grantFor says which words of the configuration decide about a denial. The
// denial is data: nothing an agent wrote becomes a key or a value of the grant.
func grantFor(d console.DenialRow) grantAnswer {
	g := grantAnswer{Denial: d}
	switch d.Code {
	case "authority":
		g.Says = "whoever woke it may not ask for this; make that person an admin, by the id that the platform minted"
		g.Grant = "admins: [\"telegram:123456\"]   # adapter:user\n"
	case "not_a_member", "unknown_space":
		g.Says = "it is in no space of that name; let it join one that you mean it to read"
		g.Grant = fmt.Sprintf("spaces:\n  NAME: {agents: [%s]}   # beside those who are there\n", d.Agent)
	default:
		g.Says = "no setting allows this: " + d.Hint
	}
	return g
}
