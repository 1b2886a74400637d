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
	if used := c.usage.Total(); set.CycleTokens > 0 && used >= set.CycleTokens {
		detail = fmt.Sprintf("this cycle has used %d of %d tokens", used, set.CycleTokens)
	} else if set.AgentTokens > 0 || set.SpaceTokens > 0 || set.AllTokens > 0 {
		spent, err := c.shell.Record.Spent(ctx, time.Now(), c.mind.id.Agent, c.wake.Cycle.Space)
		if err != nil {
			return true, fmt.Errorf("tokens spent: %w", err)
		}
		detail = overspent(spent, set)
	}
	if detail == "" {
		return false, nil
	}
	c.log.Warn("budget exhausted", "detail", detail)
	c.shell.publish("budget_warning", detail, c.facts())
	return true, c.rest(ctx, spaces.StopBudget, detail)
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
