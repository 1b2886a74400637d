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
func (n *apiFilter) query(ctx context.Context, p *CLI) (url.Values, error) {
	q := url.Values{"agent": {n.agent}, "limit": {strconv.Itoa(n.limit)}}
	from, err := sinceFlag(n.since)
	if err != nil {
		return nil, err
	}
	if !from.IsZero() {
		q.Set("since", from.UTC().Format(time.RFC3339Nano))
	}
	if err := p.chooseAgent(ctx, n.agent); err != nil {
		return nil, err
	}
	if n.space != "" {
		id, err := p.spaceCalled(ctx, n.space)
		if err != nil {
			return nil, err
		}
		q.Set("space", string(id))
	}
	return q, nil
}
