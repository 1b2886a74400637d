package toolbox

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/commandtool"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// A commandSource is a program of the operator that is one tool.
type commandSource struct {
	of       config.CommandToolEntry
	settings commandtool.CommandSettings
}

func (b *Box) openCommand(of config.CommandToolEntry) (toolSource, error) {
	return &commandSource{of, commandtool.CommandSettings{Program: *b.program(of.Key, of.Run, plainTexts(of.Env), of.Sandbox, of.Network), Timeout: of.Timeout}}, nil
}

func (c *commandSource) name() string { return c.of.Key }

func (c *commandSource) isOf(entry any) bool {
	e, ok := entry.(config.CommandToolEntry)
	return ok && e.Same(c.of)
}

func (c *commandSource) tools() ([]sourceTool, string) {
	return []sourceTool{{"", shell.OutsideTool{
		About: c.of.About, Schema: c.of.Schema, Tier: spaces.TierCustom, ReadOnly: c.of.ReadOnly, Repeats: c.of.Repeats || c.of.ReadOnly, Reaches: c.of.Network,
		Approve: shell.ApprovalPolicy(c.of.Approvals.PolicyOf(c.of.Key)), Approvers: c.of.Approvals.Approvers,
	}}}, c.of.Key
}

func (c *commandSource) use(ctx context.Context, _ string, use shell.ToolUse) (shell.ToolAnswer, error) {
	got, err := commandtool.Run(ctx, c.settings, use.Args)
	if err != nil {
		answer := shell.ToolAnswer{Text: c.of.Key + " could not be run.", Failed: true}
		if failed, ok := errors.AsType[*commandtool.CommandError](err); ok {
			answer.Text = failed.Sentence()
			answer.Unsure = failed.Reason == commandtool.TimedOut || failed.Reason == commandtool.Cancelled
		}
		return answer, err
	}
	var text strings.Builder
	text.WriteString(got.Text)
	for _, f := range got.Files {
		fmt.Fprintf(&text, "\n[file %s, %s, %d bytes: not shown]", f.Name, f.Media, len(f.Data))
	}
	if got.Cut {
		text.WriteString("\n[a part of the answer was too long and was left out]")
	}
	return shell.ToolAnswer{Text: text.String()}, nil
}

func (c *commandSource) close() {}

// plainTexts returns values that are never printed as they are.
func plainTexts(secrets map[string]adapters.SecretString) map[string]string {
	var all map[string]string
	for name, value := range secrets {
		if all == nil {
			all = map[string]string{}
		}
		all[name] = string(value)
	}
	return all
}
