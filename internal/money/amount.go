// Package money holds amounts of money, the prices of tokens, and limits on both.
package money

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// DefaultCurrency is the currency of published prices, and that of an installation that
// names none.
const DefaultCurrency = "USD"

// An Amount is a sum of money. The zero value is none.
type Amount struct {
	// Micros is the sum in millionths of the currency.
	Micros int64
	// Currency is the code of the currency, such as USD; empty only in the zero value.
	Currency string
}

// largest bounds an amount, in whole units of a currency.
const largest = 1e9

// currencyCode is the form of a code of ISO 4217.
var currencyCode = regexp.MustCompile(`^[A-Z]{3}$`)

// IsCurrency reports whether a text has the form of a code of ISO 4217, such as EUR.
func IsCurrency(text string) bool { return currencyCode.MatchString(text) }

var errAmount = errors.New("is no amount of money, such as 5 EUR or 2.50 USD")

// ParseAmount parses an amount with its currency before or after it, such as `5 EUR`,
// `2.50 USD`, `usd 2.50` or `1_000 CHF`. The sum is not negative, has a point before its
// decimals, and no more than six of them.
func ParseAmount(text string) (Amount, error) {
	number := strings.TrimSpace(text)
	var code string
	if letters := strings.TrimRightFunc(number, isLetter); letters != number {
		number, code = letters, number[len(letters):]
	} else if letters := strings.TrimLeftFunc(number, isLetter); letters != number {
		number, code = letters, number[:len(number)-len(letters)]
	}
	number, code = strings.ReplaceAll(strings.TrimSpace(number), "_", ""), strings.ToUpper(code)
	whole, decimals, _ := strings.Cut(number, ".")
	if !IsCurrency(code) || strings.Trim(number, "0123456789.") != "" || whole+decimals == "" || len(decimals) > 6 {
		return Amount{}, fmt.Errorf("%q %w", text, errAmount)
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil || f > largest {
		return Amount{}, fmt.Errorf("%q %w", text, errAmount)
	}
	return Amount{Micros: int64(math.Round(f * 1e6)), Currency: code}, nil
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

// Float returns the sum in whole units of the currency.
func (a Amount) Float() float64 { return float64(a.Micros) / 1e6 }

// String returns the amount with its currency: two decimals, or up to six where a sum
// below a tenth of the currency needs them.
func (a Amount) String() string {
	if a.Micros != 0 && a.Micros < 100_000 && a.Micros > -100_000 {
		text := strings.TrimRight(strconv.FormatFloat(a.Float(), 'f', 6, 64), "0")
		for len(text)-strings.IndexByte(text, '.') < 3 {
			text += "0"
		}
		return strings.TrimSpace(text + " " + a.Currency)
	}
	return strings.TrimSpace(strconv.FormatFloat(a.Float(), 'f', 2, 64) + " " + a.Currency)
}
