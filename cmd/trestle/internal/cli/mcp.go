package cli

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/buildinfo"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/control"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/mcpserver"
)

// mcpCommand answers `trestle mcp`.
type mcpCommand struct{ installation }

func newMCPCommand(env *Environment) *cobra.Command {
	cmd := mcpCommand{installation{env}}
	var q console.TokenRequest
	c := &cobra.Command{
		Use: "mcp --as ADAPTER:USER", Short: "serve the rooms of a person to an MCP client on standard input and output", Args: cobra.NoArgs,
		Long: "A coding agent or desktop client starts this command and speaks the Model Context Protocol with it. It reads what that person could read, " +
			"and asks the running process for it. Over the network use the address /mcp of the console with a token of trestle token add NAME --as ADAPTER:USER.",
		RunE: func(c *cobra.Command, _ []string) error { return cmd.serve(c.Context(), q) },
	}
	addPersonFlags(c, &q)
	return c
}

// addPersonFlags adds the flags that say whose rooms a program may open.
func addPersonFlags(c *cobra.Command, q *console.TokenRequest) {
	c.Flags().StringVar(&q.As, "as", "", "the person whose rooms are opened: adapter:user, on Slack adapter:TEAM/USER")
	c.Flags().StringVar((*string)(&q.Agent), "agent", "", "the agent whose mentions are waited for, and in whose name messages are sent")
	c.Flags().BoolVar(&q.Send, "send", false, "allow it to send messages in the name of the agent")
}

func (cmd mcpCommand) serve(ctx context.Context, q console.TokenRequest) error {
	if q.As == "" {
		return &apperr.Error{What: "it is not said whose rooms are opened", Where: "trestle mcp", Remedy: "name a person with --as, such as --as telegram:123456", Code: apperr.Usage}
	}
	c, err := cmd.running(ctx)
	if err != nil {
		return err
	}
	query := "?" + url.Values{"as": {q.As}, "agent": {string(q.Agent)}, "send": {strconv.FormatBool(q.Send)}}.Encode()
	var granted console.PersonAccess
	if err := c.Get(ctx, "/mcp/access"+query, &granted); err != nil {
		return err
	}
	return mcpserver.Relay(ctx, io.NopCloser(cmd.In), writeCloser{cmd.Out}, mcpserver.Upstream{
		Endpoint: control.BaseURL + "/mcp" + query, Client: &http.Client{Transport: c.Client.Transport}, Version: buildinfo.Current().Version,
	})
}

// A writeCloser is a writer whose owner closes it.
type writeCloser struct{ io.Writer }

// Close implements [io.Closer].
func (writeCloser) Close() error { return nil }
