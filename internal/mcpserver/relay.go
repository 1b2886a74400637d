package mcpserver

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// An Upstream is a handler of [NewHandler] that another process serves.
type Upstream struct {
	Endpoint string
	Client   *http.Client
	Version  string // of the program that relays
}

// Relay offers the tools of upstream to an MCP client that speaks over in and out, one
// JSON message a line, until in ends or ctx is done.
func Relay(ctx context.Context, in io.ReadCloser, out io.WriteCloser, u Upstream) error {
	program := &mcp.Implementation{Name: "trestle", Title: "Trestle", Version: u.Version}
	session, err := mcp.NewClient(program, nil).Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: u.Endpoint, HTTPClient: u.Client, MaxRetries: -1, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		return fmt.Errorf("connect to the running process: %w", err)
	}
	defer func() { _ = session.Close() }() // the process keeps nothing of it
	s := mcp.NewServer(program, &mcp.ServerOptions{
		Instructions: session.InitializeResult().Instructions, Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	for t, err := range session.Tools(ctx, nil) {
		if err != nil {
			return fmt.Errorf("list the tools of the running process: %w", err)
		}
		s.AddTool(t, func(ctx context.Context, q *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return session.CallTool(ctx, &mcp.CallToolParams{Name: q.Params.Name, Arguments: q.Params.Arguments})
		})
	}
	return s.Run(ctx, &mcp.IOTransport{Reader: in, Writer: out})
}
