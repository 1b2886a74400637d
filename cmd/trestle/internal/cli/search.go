package cli

import (
	"cmp"
	"context"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/internal/console/api"
)

func searchCommand(p *CLI) *cobra.Command {
	var by apiFilter
	c := &cobra.Command{
		Annotations: fromAPI(), Use: "search WORD...", Short: "find messages by their words, newest first", Args: cobra.MinimumNArgs(1),
		Long: "Find messages by their words, newest first: all the words must be there, in any case and order. " +
			"An edited message is found by its last words, a deleted one never. The newest 20,000 messages are looked through.",
		RunE: func(c *cobra.Command, args []string) error {
			q, err := by.query(c.Context(), p)
			if err != nil {
				return err
			}
			q.Set("q", strings.Join(args, " "))
			return p.search(c.Context(), q)
		},
	}
	by.flags(c)
	by.spaceFlag(c)
	return c
}

func (p *CLI) search(ctx context.Context, q url.Values) error {
	var a struct {
		Messages []api.FoundRow `json:"messages"`
	}
	if err := p.ask(ctx, "/api/search", q, &a); err != nil {
		return err
	}
	called, err := p.spaceNames(ctx)
	if err != nil {
		return err
	}
	return answerRows(p, a.Messages, func(w io.Writer) {
		lines := [][]string{{"AT", "SPACE", "SEQ", "WHO", "SAID"}}
		for _, m := range a.Messages {
			lines = append(lines, []string{
				textout.FormatTime(m.At), called(m.Space), strconv.FormatInt(m.Seq, 10),
				textout.OrDash(cmp.Or(m.Name, string(m.Actor))), strconv.Quote(m.Text),
			})
		}
		textout.WriteTable(w, lines)
	})
}
