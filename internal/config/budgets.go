package config

import (
	"fmt"
	"strconv"

	"github.com/trestle-bridge/trestle/internal/money"
)

// Configured reports whether a setting has a value other than its default from the file
// or the environment for an agent in a space. Both may be empty.
func (c *Config) Configured(setting, agent, space string) bool {
	for _, l := range c.layers(agent, space) {
		if v, ok := l[setting]; ok && v.at != (ValueOrigin{}) {
			return true
		}
	}
	return false
}

// checkCurrencies reports budgets in another currency than that of the prices, and drops
// them: the default number of tokens limits then.
func (d *decoder) checkCurrencies() {
	c := d.config
	currency := c.SettingsFor("", "").Price.Currency
	d.checkCurrency("budget", c.settings, currency)
	for i := range c.Agents {
		a := &c.Agents[i]
		if d.checkCurrency("agents."+a.ID, a.settings, currency) {
			a.Misconfigured = true
		}
	}
	for i := range c.Servers {
		d.checkCurrency("servers."+c.Servers[i].Key, c.Servers[i].settings, currency)
	}
	for i := range c.Spaces {
		d.checkCurrency("spaces."+c.Spaces[i].Key, c.Spaces[i].settings, currency)
	}
	prices := c.SettingsFor("", "")
	if at := winningValue(settingKey{name: "price.currency"}, c.settings).at; currency != money.DefaultCurrency && prices.CurrencyRate == 0 && !prices.Price.Known() {
		d.warn("price", at, "published prices are in US dollars, and what one costs in "+currency+" is not known: the calls of models without price.input count no money",
			"write price: {currency: "+currency+", rate: …} with what one US dollar costs, or price.input and price.output")
	}
}

// checkCurrency reports and drops the budgets of one place, and reports whether any was.
func (d *decoder) checkCurrency(entry string, l settingsLayer, currency string) (wrong bool) {
	for _, k := range settingKeys {
		v, ok := l[k.name]
		if !ok || k.value.kind != spending {
			continue
		}
		a, err := money.ParseAmount(v.text)
		if err != nil || a.Currency == currency {
			continue
		}
		delete(l, k.name)
		wrong = d.reportEntry(entry, []Error{{
			At: v.at, What: fmt.Sprintf("%s is in %s, and prices are in %s", k.name, a.Currency, currency),
			Remedy: "write the amount in " + currency + ", or set price.currency and price.rate",
		}})
	}
	return wrong
}

// readPrice reads the price of a model under models.
func (s *section) readPrice(into *money.TokenPrice) {
	inner := s.subsection("price")
	for i, p := range []*float64{&into.Input, &into.Cached, &into.CacheWrite, &into.Output} {
		name := priceKeys[i].name
		text := inner.stringAt(name)
		if text == "" {
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v >= 0 && v <= 1e6) {
			inner.addError(inner.positionOf(name), fmt.Sprintf("price.%s: %q is no amount of money", name, text), "write what a million tokens cost, such as 2.50")
			continue
		}
		*p = v
	}
	s.mergeErrors(inner)
}
