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

// searchCommand answers `trestle search`.
type searchCommand struct{ installation }

func newSearchCommand(env *Environment) *cobra.Command {
	cmd := searchCommand{installation{env}}
	var by apiFilter
	c := &cobra.Command{
		Annotations: fromAPI(), Use: "search WORD...", Short: "find messages by their words, newest first", Args: cobra.MinimumNArgs(1),
		Long: "Find messages by their words, newest first: all the words must be there, in any case and order. " +
			"An edited message is found by its last words, a deleted one never. The newest 20,000 messages are looked through.",
		RunE: func(c *cobra.Command, args []string) error {
			q, err := by.query(c.Context(), cmd.installation)
			if err != nil {
				return err
			}
			q.Set("q", strings.Join(args, " "))
			return cmd.search(c.Context(), q)
		},
	}
	by.flags(c)
	by.spaceFlag(c)
	return c
}

func (cmd searchCommand) search(ctx context.Context, q url.Values) error {
	var a struct {
		Messages []api.FoundRow `json:"messages"`
	}
	if err := cmd.ask(ctx, "/api/search", q, &a); err != nil {
		return err
	}
	called, err := cmd.spaceNames(ctx)
	if err != nil {
		return err
	}
	return answerRows(cmd.Environment, a.Messages, func(w io.Writer) {
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
