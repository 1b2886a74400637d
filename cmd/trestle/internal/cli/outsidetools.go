package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/server"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// addOutsideCommands adds the commands about tools from outside to `trestle tools`.
func (cmd toolsCommand) addOutsideCommands(c *cobra.Command) {
	c.AddCommand(&cobra.Command{
		Use: "servers", Short: "list the tool servers, and the tools from outside that agents are granted", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return cmd.servers(c.Context()) },
	}, &cobra.Command{
		Use: "accept SERVER", Short: "offer the tools of a server as they are described now", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return cmd.accept(c.Context(), args[0]) },
	})
	var q server.ToolTrial
	try := &cobra.Command{
		Use: "call TOOL [ARGUMENTS]", Short: "call a tool yourself, with arguments as a JSON object; no person is asked", Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			q.Tool, q.Args = args[0], json.RawMessage(append(args, "{}")[1])
			if !json.Valid(q.Args) {
				return &apperr.Error{What: "the arguments are no JSON object", Where: "tools call", Remedy: `write them like '{"place": "Bern"}'`, Code: apperr.Usage}
			}
			return cmd.try(c.Context(), q)
		},
	}
	try.Flags().StringVar(&q.Agent, "agent", "", "whose grants hold (default the first agent that has the tool)")
	c.AddCommand(try)
}

func (cmd toolsCommand) servers(ctx context.Context) error {
	var a console.OutsideTools
	if err := cmd.get(ctx, "/tools", &a); err != nil {
		return err
	}
	return cmd.answer(a, func(w io.Writer) {
		if len(a.Servers)+len(a.Granted) == 0 {
			fmt.Fprintln(w, "no tools from outside are configured; see docs/tools.md")
			return
		}
		if len(a.Servers) > 0 {
			lines := [][]string{{"SERVER", "STATE", "TOOLS", "PRODUCT", "NOTE"}}
			for _, s := range a.Servers {
				note := s.Problem
				if len(s.Changed) > 0 {
					note = "changed, not offered: " + strings.Join(s.Changed, ", ") + " (trestle tools accept " + s.Name + ")"
				}
				lines = append(lines, []string{s.Name, s.Status, strconv.Itoa(s.Tools), textout.OrDash(s.Product), textout.OrDash(note)})
			}
			textout.WriteTable(w, lines)
			fmt.Fprintln(w)
		}
		lines := [][]string{{"AGENT", "TOOL", "TIER", "CHANGES", "APPROVAL"}}
		for _, t := range a.Granted {
			changes := "may"
			if t.ReadOnly {
				changes = "nothing"
			}
			lines = append(lines, []string{string(t.Agent), t.Tool, string(t.Tier), changes, t.Approve})
		}
		textout.WriteTable(w, lines)
	})
}

func (cmd toolsCommand) accept(ctx context.Context, name string) error {
	var a console.AcceptedTools
	if err := cmd.post(ctx, "/tools/accept", console.AcceptRequest{Server: name}, &a); err != nil {
		return err
	}
	return cmd.answer(a, func(w io.Writer) {
		if len(a.Tools) == 0 {
			fmt.Fprintf(w, "nothing about the tools of %s has changed\n", name)
			return
		}
		fmt.Fprintf(w, "accepted as they are now: %s\n", strings.Join(a.Tools, ", "))
	})
}

func (cmd toolsCommand) try(ctx context.Context, q server.ToolTrial) error {
	var a server.ToolTrialResult
	if err := cmd.post(ctx, "/tools/call", q, &a); err != nil {
		return err
	}
	return cmd.answer(a, func(w io.Writer) {
		fmt.Fprintln(w, strings.TrimSpace(a.Text))
		state := "answered"
		if a.Failed {
			state = "failed"
		}
		fmt.Fprintf(w, "\n%s %s in %s\n", a.Tool, state, a.Took)
		if a.Detail != "" {
			fmt.Fprintln(w, a.Detail)
		}
	})
}

// approvalsCommand answers `trestle approvals`.
type approvalsCommand struct{ installation }

func newApprovalsCommand(env *Environment) *cobra.Command {
	cmd := approvalsCommand{installation{env}}
	c := &cobra.Command{
		Use: "approvals", Short: "list the calls of tools that a person has to allow, and what is always allowed", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return cmd.list(c.Context()) },
	}
	var always bool
	allow := &cobra.Command{
		Use: "allow CODE", Short: "allow a call", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return cmd.decide(c.Context(), console.ApprovalDecision{Code: args[0], Allow: true, Always: always})
		},
	}
	allow.Flags().BoolVar(&always, "always", false, "allow the agent the tool in that room from now on")
	c.AddCommand(allow, &cobra.Command{
		Use: "deny CODE", Short: "refuse a call", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return cmd.decide(c.Context(), console.ApprovalDecision{Code: args[0]})
		},
	}, &cobra.Command{
		Use: "revoke AGENT SPACE TOOL", Short: "have a person asked again about a tool that was always allowed", Args: cobra.ExactArgs(3),
		RunE: func(c *cobra.Command, args []string) error {
			g := spaces.ToolGrant{Agent: spaces.AgentID(args[0]), Space: spaces.SpaceID(args[1]), Tool: args[2]}
			return cmd.decide(c.Context(), console.ApprovalDecision{Revoke: &g})
		},
	})
	return c
}

func (cmd approvalsCommand) list(ctx context.Context) error {
	var a console.Approvals
	if err := cmd.get(ctx, "/approvals", &a); err != nil {
		return err
	}
	return cmd.answer(a, func(w io.Writer) {
		if len(a.Waiting)+len(a.Always) == 0 {
			fmt.Fprintln(w, "no call waits for a person, and nothing is always allowed")
			return
		}
		for _, run := range a.Waiting {
			fmt.Fprintf(w, "%s  %s wants to use %s in %s, until %s\n", run.Code, run.Agent, run.Tool, run.Space, textout.FormatTime(run.Expires))
			for line := range strings.Lines(shell.ReadableArgs(string(run.Args), len(run.Args)*4)) {
				fmt.Fprint(w, "       ", line)
			}
			fmt.Fprintln(w)
		}
		if len(a.Always) == 0 {
			return
		}
		lines := [][]string{{"ALWAYS ALLOWED", "AGENT", "SPACE", "SINCE"}}
		for _, g := range a.Always {
			lines = append(lines, []string{g.Tool, string(g.Agent), string(g.Space), textout.FormatTime(g.Since)})
		}
		textout.WriteTable(w, lines)
	})
}

func (cmd approvalsCommand) decide(ctx context.Context, d console.ApprovalDecision) error {
	var a console.ApprovalOutcome
	if err := cmd.post(ctx, "/approvals", d, &a); err != nil {
		return err
	}
	return cmd.answer(a, func(w io.Writer) { fmt.Fprintln(w, a.Says) })
}
