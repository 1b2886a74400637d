package config

import (
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/money"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// A budget in money leaves the default number of tokens beside it, and the most specific
// place counts alone.
func TestBudgetsInMoney(t *testing.T) {
	c, err := loadText(t, `
price: {currency: eur, rate: 0.92}
budget: {per_day: 5 EUR, agent_per_day: 2 EUR, per_cycle: 0.50 EUR, sender_per_day: EUR 1, space_per_day: 300k}
agents: {ada: {budget: {agent_per_day: 1k}}, bob: {}}
spaces: {den: {chats: [], budget: {space_per_day: 0.25 EUR}}}
`, "")
	testutil.OK(t, err)
	euros := func(f float64) money.Amount { return money.Amount{Micros: int64(f * 1e6), Currency: "EUR"} }
	got := c.SettingsFor("ada", "den")
	for name, test := range map[string]struct{ got, want money.SpendLimit }{
		"per_day":        {got.Budget.PerDay, money.SpendLimit{Tokens: 50_000_000, Amount: euros(5)}},
		"agent_per_day":  {got.Budget.AgentPerDay, money.SpendLimit{Tokens: 1000}},
		"of bob":         {c.SettingsFor("bob", "").Budget.AgentPerDay, money.SpendLimit{Tokens: 50_000_000, Amount: euros(2)}},
		"per_cycle":      {got.Budget.PerCycle, money.SpendLimit{Tokens: 400_000, Amount: euros(0.5)}},
		"sender_per_day": {got.Budget.SenderPerDay, money.SpendLimit{Tokens: 10_000_000, Amount: euros(1)}},
		"space_per_day":  {got.Budget.SpacePerDay, money.SpendLimit{Tokens: 300_000, Amount: euros(0.25)}},
	} {
		if test.got != test.want {
			t.Errorf("%s is %+v, want %+v", name, test.got, test.want)
		}
	}
	if got.Price.Currency != "EUR" || got.CurrencyRate != 0.92 || !c.Configured("budget.per_day", "ada", "") || c.Configured("context_tokens", "ada", "den") {
		t.Errorf("currency %q at %v", got.Price.Currency, got.CurrencyRate)
	}
}

func TestBudgetInAnotherCurrencyIsReported(t *testing.T) {
	for text, entry := range map[string]string{
		"budget: {per_day: 5 EUR}":                                     "budget",
		"agents: {ada: {budget: {agent_per_day: 5 CHF}}}":              "agents.ada",
		"price: {currency: CHF, rate: 1}\nbudget: {per_cycle: 1 USD}":  "budget",
		"spaces: {den: {chats: [], budget: {space_per_day: 0.1 GBP}}}": "spaces.den",
	} {
		c, err := loadText(t, text, "")
		testutil.OK(t, err)
		found := false
		for _, p := range c.Problems {
			found = found || p.Entry == entry && strings.Contains(p.Err.What, "prices are in")
		}
		if !found {
			t.Errorf("%s: problems %+v", text, c.Problems)
		}
		if got := c.SettingsFor("ada", "den").Budget; got.PerDay.Amount.Micros+got.AgentPerDay.Amount.Micros+got.PerCycle.Amount.Micros+got.SpacePerDay.Amount.Micros != 0 {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

func TestCurrencyWithoutARateIsWarnedOf(t *testing.T) {
	for text, warned := range map[string]bool{
		"price: {currency: EUR}": true, "price: {currency: EUR, rate: 0.9}": false, "price: {currency: EUR, input: 1, output: 2}": false, "price: {currency: USD}": false,
	} {
		c, err := loadText(t, text, "")
		testutil.OK(t, err)
		got := false
		for _, w := range c.Warnings {
			got = got || w.Entry == "price"
		}
		if got != warned {
			t.Errorf("%s: warnings %+v", text, c.Warnings)
		}
	}
}

func TestPriceOfAFallback(t *testing.T) {
	c, err := loadText(t, "models: {small: {base_url: \"http://s/v1\", price: {input: 0.1, cache_write: 0.125, output: 0.4}}, odd: {base_url: \"http://o/v1\", price: {input: dear}}}", "")
	testutil.OK(t, err)
	if p := c.Models[0].Model.Price; p != (money.TokenPrice{Input: 0.1, CacheWrite: 0.125, Output: 0.4}) || !c.Models[1].Misconfigured {
		t.Errorf("price %+v, models %+v", p, c.Models)
	}
}
