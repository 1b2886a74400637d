package money

import (
	"cmp"
	"math"
	"strconv"
	"strings"
)

// A TokenPrice is the price of a million tokens; zero when it is not known.
type TokenPrice struct {
	// Input, Cached and Output are in whole units of the currency. Where Cached is 0 a
	// cached token costs as much as another one of the input.
	Input, Cached, Output float64
	// CacheWrite is the price of input that the endpoint writes to its cache; where it is
	// 0, such a token costs as much as another one of the input.
	CacheWrite float64
	// LongAbove is the number of tokens of a prompt above which a call costs
	// [longInput] and [longOutput] times as much; 0: every call costs the same.
	LongAbove int
	// Currency is the code of the currency, such as USD.
	Currency string
}

// What vendors charge for a call with a long prompt, in terms of the usual price.
const (
	longInput  = 2
	longOutput = 1.5
)

// Known reports whether there is a price.
func (p TokenPrice) Known() bool { return p.Input > 0 || p.Output > 0 }

// String returns the price in words, such as "0.25 USD for a million tokens read and 2 USD
// written".
func (p TokenPrice) String() string {
	format := func(v float64) string {
		return strings.TrimSpace(strconv.FormatFloat(v, 'f', -1, 64) + " " + p.Currency)
	}
	text := format(p.Input) + " for a million tokens read"
	if p.Cached > 0 {
		text += " (" + format(p.Cached) + " from the cache)"
	}
	return text + " and " + format(p.Output) + " written"
}

// Cost returns what tokens cost, in millionths of the currency, rounded up. Cached ones,
// and those written to the cache, are among those of the prompt.
func (p TokenPrice) Cost(prompt, cached, written, output int) int64 {
	if p.LongAbove > 0 && prompt > p.LongAbove {
		p.Input, p.Cached, p.CacheWrite, p.Output = p.Input*longInput, p.Cached*longInput, p.CacheWrite*longInput, p.Output*longOutput
	}
	ofCached, ofWritten := cmp.Or(p.Cached, p.Input), cmp.Or(p.CacheWrite, p.Input)
	const noise = 1e-6 // of the sums of floating-point numbers
	return int64(math.Ceil(float64(prompt-cached-written)*p.Input + float64(cached)*ofCached + float64(written)*ofWritten + float64(output)*p.Output - noise))
}

// In returns the price in another currency, of which one unit of p's costs rate.
func (p TokenPrice) In(currency string, rate float64) TokenPrice {
	if currency == p.Currency {
		return p
	}
	p.Input, p.Cached, p.CacheWrite, p.Output, p.Currency = p.Input*rate, p.Cached*rate, p.CacheWrite*rate, p.Output*rate, currency
	return p
}
