package money

import "fmt"

// UsedTokens is what was used: tokens, weighted as budgets count them, and their cost.
type UsedTokens struct {
	Tokens int
	// Cost is in millionths of the installation's currency, of those tokens whose price
	// was known.
	Cost int64
}

// Add returns the sum of both.
func (u UsedTokens) Add(v UsedTokens) UsedTokens {
	return UsedTokens{u.Tokens + v.Tokens, u.Cost + v.Cost}
}

// Max returns the larger tokens and the larger cost of both.
func (u UsedTokens) Max(v UsedTokens) UsedTokens {
	return UsedTokens{max(u.Tokens, v.Tokens), max(u.Cost, v.Cost)}
}

// A SpendLimit limits tokens and their cost; each is unlimited when it is 0.
type SpendLimit struct {
	Tokens int
	Amount Amount
}

// Limited reports whether there is a limit.
func (l SpendLimit) Limited() bool { return l.Tokens > 0 || l.Amount.Micros > 0 }

// Reached reports whether a limit is used up.
func (l SpendLimit) Reached(u UsedTokens) bool {
	return l.Tokens > 0 && u.Tokens >= l.Tokens || l.Amount.Micros > 0 && u.Cost >= l.Amount.Micros
}

// Share returns how much of the limit is used, in percent: that of which more is.
func (l SpendLimit) Share(u UsedTokens) int {
	return max(l.tokenShare(u), l.moneyShare(u))
}

func (l SpendLimit) tokenShare(u UsedTokens) int {
	if l.Tokens <= 0 {
		return 0
	}
	return int(float64(u.Tokens) / float64(l.Tokens) * 100)
}

func (l SpendLimit) moneyShare(u UsedTokens) int {
	if l.Amount.Micros <= 0 {
		return 0
	}
	return int(float64(u.Cost) / float64(l.Amount.Micros) * 100)
}

// Compare writes what is used beside the limit of which more is: `410 of 400 tokens` or
// `1.02 of 1.00 USD`.
func (l SpendLimit) Compare(u UsedTokens) string {
	if l.Amount.Micros > 0 && l.moneyShare(u) >= l.tokenShare(u) {
		return Amount{Micros: u.Cost}.String() + " of " + l.Amount.String()
	}
	return fmt.Sprintf("%d of %d tokens", u.Tokens, l.Tokens)
}

// Priced returns the limit for a model whose price is known, or is not: an amount of
// money stands in for the tokens where it can be counted, and beside them where it
// cannot.
func (l SpendLimit) Priced(known bool) SpendLimit {
	if known && l.Amount.Micros > 0 {
		l.Tokens = 0
	}
	return l
}
