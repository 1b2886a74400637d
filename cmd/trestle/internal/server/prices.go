package server

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/money"
)

// toldFacts returns what the endpoint of a model has told of the model of that name; nil
// knows nothing.
type toldFacts func(m config.ModelEndpoint, name string) llm.ModelFacts

// of calls f unless it is nil.
func (f toldFacts) of(m config.ModelEndpoint, name string) llm.ModelFacts {
	if f == nil {
		return llm.ModelFacts{}
	}
	return f(m, name)
}

// The origins of the window and the price of a model.
const (
	fromFile     = "file"     // the configuration
	fromEndpoint = "endpoint" // what the endpoint tells
	fromTable    = "table"    // what is published of the model
	assumed      = "assumed"  // nothing is known
)

// mostUnset is the largest window that is used where the configuration has none: the steps
// of a run with more would soon use its budget.
const mostUnset = 2 * llm.AssumedWindow

// windowOf returns how many tokens of the window of an agent's model are used in a room, and
// where the number is from.
func windowOf(c *config.Config, agent, entry string, m config.ModelEndpoint, told toldFacts) (tokens int, from string) {
	if c.Configured("context_tokens", agent, entry) {
		return c.SettingsFor(agent, entry).ContextTokens, fromFile
	}
	tokens, from = told.of(m, m.Name).Window, fromEndpoint
	if tokens == 0 {
		tokens, from = published(m, m.Name).Window, fromTable
	}
	if tokens == 0 {
		return c.SettingsFor(agent, entry).ContextTokens, assumed
	}
	return min(tokens, mostUnset), from
}

// WindowNow returns how many tokens of the window of an agent's model are used in a room, by
// the configuration and by what the endpoint of client tells of the model when it is asked.
func WindowNow(ctx context.Context, c *config.Config, agent config.AgentEntry, entry string, client llm.ChatModel) int {
	_ = llm.LearnFacts(ctx, client, agent.Model.Name) // without an answer it is what is known otherwise
	told := func(_ config.ModelEndpoint, name string) llm.ModelFacts { return llm.CapabilityOf(client, name).Told }
	tokens, _ := windowOf(c, agent.ID, entry, agent.Model, told)
	return tokens
}

// originWords say where a number is from.
var originWords = map[string]string{
	fromFile: "as the configuration says", fromEndpoint: "as the endpoint tells", fromTable: "as is published of it", assumed: "as nothing is known of it",
}

// modelUse returns how an agent uses its model.
func modelUse(c *config.Config, a config.AgentEntry, told toldFacts) console.ModelUse {
	window, from := windowOf(c, a.ID, "", a.Model, told)
	if a.Model.Window > 0 && a.Model.Window < window {
		window, from = a.Model.Window, fromFile
	}
	use := console.ModelUse{Name: a.Model.Name, Window: window, WindowFrom: originWords[from]}
	if price, from := tokenPriceOf(c, a, a.Model.Name, told); price.Known() {
		use.Price, use.PriceFrom = price.String(), originWords[from]
	}
	return use
}

// published returns the published facts of a model at an endpoint. Those of a model on this
// machine or network are not known: its server decides.
func published(m config.ModelEndpoint, name string) llm.ModelFacts {
	if m.Offline || isNearby(m.BaseURL) {
		return llm.ModelFacts{}
	}
	facts, _ := llm.KnownModel(m.Provider, name)
	return facts
}

// tokenPriceOf returns the price of a model of that name as an agent calls it, in the
// installation's currency: of its own model, of one of its fallbacks, or of another one
// at the same endpoint; and where it is from. What the configuration says counts before
// what the endpoint tells, and that before what is published; it is zero when none is
// known. An endpoint on this machine or network has no published price.
func tokenPriceOf(c *config.Config, agent config.AgentEntry, name string, told toldFacts) (price money.TokenPrice, from string) {
	s := c.SettingsFor(agent.ID, "")
	endpoint := agent.Model
	if name == agent.Model.Name {
		if s.Price.Known() {
			return s.Price, fromFile
		}
	} else {
		for _, f := range c.FallbacksOf(agent.Model) {
			if f.Model.Name != name {
				continue
			}
			if f.Model.Price.Known() {
				p := f.Model.Price
				p.Currency = s.Price.Currency
				return p, fromFile
			}
			endpoint = f.Model
			break
		}
	}
	price, from = told.of(endpoint, name).Price, fromEndpoint
	if !price.Known() {
		price, from = published(endpoint, name).Price, fromTable
	}
	if price = price.In(s.Price.Currency, s.CurrencyRate); !price.Known() {
		return money.TokenPrice{Currency: s.Price.Currency}, assumed
	}
	return price, from
}

// priced reports whether the prices of an agent's model and of all its fallbacks are
// known.
func priced(c *config.Config, agent config.AgentEntry, told toldFacts) bool {
	for _, f := range c.FallbacksOf(agent.Model) {
		if p, _ := tokenPriceOf(c, agent, f.Model.Name, told); !p.Known() {
			return false
		}
	}
	p, _ := tokenPriceOf(c, agent, agent.Model.Name, told)
	return p.Known()
}

// isNearby reports whether an endpoint is on this machine or its network: an address that
// is not public, or a name without a domain.
func isNearby(base string) bool {
	u, err := url.Parse(base)
	if err != nil || base == "" {
		return false
	}
	host := u.Hostname()
	if a, err := netip.ParseAddr(host); err == nil {
		return a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast() || a.IsUnspecified()
	}
	return net.ParseIP(host) == nil && (!strings.Contains(host, ".") || strings.HasSuffix(host, ".local") || strings.HasSuffix(host, ".internal") || strings.HasSuffix(host, ".localhost"))
}
