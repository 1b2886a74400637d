package cli

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"
)

// An apiFilter is what a list of the API can be narrowed by.
type apiFilter struct {
	space, agent, since string // empty: by nothing
	limit               int
}

// flags gives a command those that every list has.
func (n *apiFilter) flags(c *cobra.Command) {
	n.limit = 50
	c.Flags().StringVar(&n.since, "since", "", "only newer ones, such as 2h or 7d")
	limitFlag(c, &n.limit, "at most this many")
}

func (n *apiFilter) spaceFlag(c *cobra.Command) {
	c.Flags().StringVar(&n.space, "space", "", "only in this space (its id or name)")
}

func (n *apiFilter) agentFlag(c *cobra.Command) {
	c.Flags().StringVar(&n.agent, "agent", "", "only of this agent")
}

// query is what the API is asked with. What nothing can pass is refused.
func (n *apiFilter) query(ctx context.Context, in installation) (url.Values, error) {
	q := url.Values{"agent": {n.agent}, "limit": {strconv.Itoa(n.limit)}}
	from, err := sinceFlag(n.since)
	if err != nil {
		return nil, err
	}
	if !from.IsZero() {
		q.Set("since", from.UTC().Format(time.RFC3339Nano))
	}
	if err := in.chooseAgent(ctx, n.agent); err != nil {
		return nil, err
	}
	if n.space != "" {
		id, err := in.spaceCalled(ctx, n.space)
		if err != nil {
			return nil, err
		}
		q.Set("space", string(id))
	}
	return q, nil
}

// mostRows is how many rows of a list the API gives out at once.
const mostRows = 500

// rows is the value of a --limit that the API must be able to answer.
type rows struct{ n *int }

// limitFlag gives a command its --limit; n holds the default.
func limitFlag(c *cobra.Command, n *int, of string) {
	c.Flags().Var(rows{n}, "limit", of+", 1 to "+strconv.Itoa(mostRows))
}

// Set implements pflag.Value.
func (r rows) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > mostRows {
		return valueError("write a number from 1 to " + strconv.Itoa(mostRows))
	}
	*r.n = n
	return nil
}

// String implements pflag.Value.
func (r rows) String() string {
	if r.n == nil {
		return "0"
	}
	return strconv.Itoa(*r.n)
}

// Type implements pflag.Value.
func (r rows) Type() string { return "int" }

// A valueError says what to write for a flag instead.
type valueError string

// Error implements error.
func (m valueError) Error() string { return string(m) }
