package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/control"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/server"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/internal/console"
)

type openAnswer struct {
	URL     string    `json:"url"`
	Expires time.Time `json:"expires"`
}

// openCommand answers `trestle open`.
type openCommand struct{ installation }

func newOpenCommand(env *Environment) *cobra.Command {
	cmd := openCommand{installation{env}}
	return &cobra.Command{
		Use: "open", Short: "print a link that opens the console in a browser, once, for ten minutes", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return cmd.open(c.Context()) },
	}
}

func (cmd openCommand) open(ctx context.Context) error {
	c, err := cmd.running(ctx)
	if err != nil {
		return err
	}
	var h console.Health
	if err := c.Get(ctx, "/health", &h); err != nil {
		return err
	}
	if h.Listen == "" {
		return &apperr.Error{What: "the running process serves no console", Where: "listen", Remedy: "set listen in the configuration, such as 127.0.0.1:7420", Code: apperr.Failed}
	}
	var made console.NewLink
	if err := c.Post(ctx, "/api/links", struct{}{}, &made); err != nil {
		return err
	}
	a := openAnswer{"http://" + server.LocalAddress(h.Listen) + made.Path, made.Expires}
	return cmd.answer(a, func(w io.Writer) { fmt.Fprintln(w, a.URL) })
}

// tokenCommand answers `trestle token`.
type tokenCommand struct{ installation }

func newTokenCommand(env *Environment) *cobra.Command {
	cmd := tokenCommand{installation{env}}
	c := &cobra.Command{Use: "token", Short: "make, list and revoke what opens the console, or the rooms of a person, for programs"}
	var q console.TokenRequest
	add := &cobra.Command{
		Use: "add NAME", Short: "make a token and print it, this once", Args: cobra.ExactArgs(1),
		Long: "A token opens the console. With --as it opens the rooms of that person to an MCP client, at /mcp, and nothing else.",
		RunE: func(c *cobra.Command, args []string) error {
			q.Name = args[0]
			return cmd.addToken(c.Context(), q)
		},
	}
	addPersonFlags(add, &q)
	c.AddCommand(
		add,
		&cobra.Command{
			Use: "list", Short: "list the tokens", Args: cobra.NoArgs,
			RunE: func(c *cobra.Command, _ []string) error { return cmd.listTokens(c.Context()) },
		},
		&cobra.Command{
			Use: "revoke ID", Short: "end a token, and the browsers it opened, at once", Args: cobra.ExactArgs(1),
			RunE: func(c *cobra.Command, args []string) error { return cmd.revokeToken(c.Context(), args[0]) },
		})
	return c
}

func (cmd tokenCommand) addToken(ctx context.Context, q console.TokenRequest) error {
	var made console.NewToken
	if err := cmd.post(ctx, "/api/tokens", q, &made); err != nil {
		return err
	}
	return cmd.answer(made, func(w io.Writer) {
		fmt.Fprintln(w, made.Secret)
		if !cmd.quiet {
			fmt.Fprintf(cmd.Err, "this is token %s; it is not shown again\n", made.ID)
		}
	})
}

func (cmd tokenCommand) listTokens(ctx context.Context) error {
	var a console.TokensAnswer
	if err := cmd.get(ctx, "/api/tokens", &a); err != nil {
		return err
	}
	return answerRows(cmd.Environment, a.Tokens, func(w io.Writer) {
		rows := [][]string{{"TOKEN", "NAME", "OPENS", "MADE", "LAST USED"}}
		for _, t := range a.Tokens {
			rows = append(rows, []string{t.ID, t.Name, opens(t.Opens), textout.FormatTime(t.Created), textout.FormatTime(t.Used)})
		}
		textout.WriteTable(w, rows)
	})
}

// opens says what a token opens.
func opens(a *console.PersonAccess) string {
	switch {
	case a == nil:
		return "console"
	case a.Send:
		return "rooms of " + a.As + ", sends as " + string(a.Agent)
	}
	return "rooms of " + a.As
}

// revokedToken is the answer of `trestle token revoke`.
type revokedToken struct {
	Revoked string `json:"revoked"` // its id
}

func (cmd tokenCommand) revokeToken(ctx context.Context, id string) error {
	c, err := cmd.running(ctx)
	if err != nil {
		return err
	}
	err = c.Call(ctx, http.MethodDelete, "/api/tokens/"+url.PathEscape(id), nil, &control.EmptyAnswer{})
	if err = nothing(err, fmt.Sprintf("there is no token %q", id), "token revoke", "trestle token list"); err != nil {
		return err
	}
	return cmd.answer(revokedToken{id}, func(w io.Writer) { fmt.Fprintf(w, "token %s opens nothing any more\n", id) })
}
