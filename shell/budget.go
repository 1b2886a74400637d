package shell

import (
	"context"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// afford ends the cycle when a cap is reached. It is asked before every call, so
// that a cap is passed by at most the calls under way (PRD-5.2, S13).
func (c *cycle) afford(ctx context.Context) (ended bool, err error) {
	set := c.settings
	detail := ""
	used := c.usage.Total()
	c.warn("this cycle", used, set.CycleTokens)
	if set.CycleTokens > 0 && used >= set.CycleTokens {
		detail = fmt.Sprintf("this cycle has used %d of %d tokens", used, set.CycleTokens)
	} else if set.AgentTokens > 0 || set.SpaceTokens > 0 || set.AllTokens > 0 {
		spent, err := c.shell.Record.Spent(ctx, time.Now(), c.mind.id.Agent, c.wake.Cycle.Space)
		if err != nil {
			return true, fmt.Errorf("tokens spent: %w", err)
		}
		c.warn("the agent", spent.Agent, set.AgentTokens)
		c.warn("this space", spent.Space, set.SpaceTokens)
		c.warn("all agents", spent.All, set.AllTokens)
		detail = overspent(spent, set)
	}
	if detail == "" {
		return false, nil
	}
	c.log.Warn("budget exhausted", "detail", detail)
	c.shell.publish("budget_warning", detail, c.facts("share", 100))
	return true, c.rest(ctx, spaces.StopBudget, detail)
}

// nearly is the share of a budget, in percent, at which people are warned.
const nearly = 80

// warn says once a cycle that a budget is nearly spent.
func (c *cycle) warn(whose string, used, limit int) {
	if c.warned || limit <= 0 || used >= limit || used*100 < limit*nearly {
		return
	}
	c.warned = true
	c.shell.publish("budget_warning", fmt.Sprintf("%s used %d of %d tokens", whose, used, limit), c.facts("share", used*100/limit))
}

func overspent(spent Spent, set Settings) string {
	for _, c := range []struct {
		who         string
		used, limit int
	}{{"the agent", spent.Agent, set.AgentTokens}, {"this space", spent.Space, set.SpaceTokens}, {"all agents", spent.All, set.AllTokens}} {
		if c.limit > 0 && c.used >= c.limit {
			return fmt.Sprintf("%s used %d of %d tokens today", c.who, c.used, c.limit)
		}
	}
	return ""
}
