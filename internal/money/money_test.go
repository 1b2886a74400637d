package money_test

import (
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/money"
)

func TestParseAmount(t *testing.T) {
	for text, want := range map[string]money.Amount{
		"5 EUR": {Micros: 5_000_000, Currency: "EUR"}, "2.50 USD": {Micros: 2_500_000, Currency: "USD"}, "usd 2.5": {Micros: 2_500_000, Currency: "USD"},
		"5EUR": {Micros: 5_000_000, Currency: "EUR"}, "CHF1_000": {Micros: 1_000_000_000, Currency: "CHF"}, " .05 usd ": {Micros: 50_000, Currency: "USD"},
		"0.000001 JPY": {Micros: 1, Currency: "JPY"}, "0 EUR": {Currency: "EUR"},
		"": {}, "5": {}, "EUR": {}, "-5 EUR": {}, "5,50 EUR": {}, "1e3 EUR": {}, "5 EURO": {}, "5 €": {}, "1.0000001 EUR": {}, "5 EUR USD": {},
		"1.2.3 EUR": {}, "2000000000 EUR": {}, "5 tokens": {}, "NaN EUR": {}, ". EUR": {}, "EUR 5 EUR": {},
	} {
		got, err := money.ParseAmount(text)
		if got != want || (err == nil) != (want != money.Amount{}) {
			t.Errorf("ParseAmount(%q) = %+v, %v; want %+v", text, got, err, want)
		}
	}
}

func TestAmountIsWrittenAsPeopleReadIt(t *testing.T) {
	for want, a := range map[string]money.Amount{
		"5.00 EUR": {Micros: 5_000_000, Currency: "EUR"}, "0.004212 USD": {Micros: 4212, Currency: "USD"}, "0.05 USD": {Micros: 50_000, Currency: "USD"},
		"0.00 USD": {Currency: "USD"}, "12.35 USD": {Micros: 12_345_678, Currency: "USD"}, "1.20": {Micros: 1_200_000},
	} {
		if got := a.String(); got != want {
			t.Errorf("%+v is written %q, want %q", a, got, want)
		}
	}
}

func TestCostOfTokens(t *testing.T) {
	p := money.TokenPrice{Input: 0.25, Cached: 0.025, Output: 2, Currency: "USD"}
	if got := p.Cost(1000, 400, 0, 50); got != 260 {
		t.Errorf("cost %d, want 260", got)
	}
	if p.Cached = 0; p.Cost(1000, 400, 100, 50) != 350 || p.Cost(1, 0, 0, 0) != 1 || p.Cost(0, 0, 0, 0) != 0 {
		t.Errorf("without a price for cached tokens %d, of one token %d", p.Cost(1000, 400, 100, 50), p.Cost(1, 0, 0, 0))
	}
	claude := money.TokenPrice{Input: 3, Cached: 0.3, CacheWrite: 3.75, Output: 15, LongAbove: 2000, Currency: "USD"}
	if got := claude.Cost(2000, 1000, 800, 10); got != 300+3000+600+150 {
		t.Errorf("with a written cache %d", got)
	}
	if got := claude.Cost(2001, 1000, 800, 10); got != 600+6000+1206+225 {
		t.Errorf("of a long prompt %d", got)
	}
	if e := claude.In("EUR", 0.5); e.CacheWrite != 1.875 || e.LongAbove != 2000 {
		t.Errorf("in EUR %+v", e)
	}
	if e := p.In("EUR", 0.5); e.Input != 0.125 || e.Output != 1 || e.Currency != "EUR" || p.In("USD", 0) != p {
		t.Errorf("in EUR %+v", e)
	}
}

func TestLimitIsReachedByTokensOrMoney(t *testing.T) {
	limit := money.SpendLimit{Tokens: 1000, Amount: money.Amount{Micros: 500_000, Currency: "EUR"}}
	for _, test := range []struct {
		used    money.UsedTokens
		reached bool
		share   int
		words   string
	}{
		{money.UsedTokens{Tokens: 999, Cost: 1000}, false, 99, "999 of 1000 tokens"},
		{money.UsedTokens{Tokens: 1000}, true, 100, "1000 of 1000 tokens"},
		{money.UsedTokens{Tokens: 10, Cost: 499_999}, false, 99, "0.50 of 0.50 EUR"},
		{money.UsedTokens{Tokens: 10, Cost: 500_000}, true, 100, "0.50 of 0.50 EUR"},
	} {
		if limit.Reached(test.used) != test.reached || limit.Share(test.used) != test.share || limit.Compare(test.used) != test.words {
			t.Errorf("%+v: reached %t, share %d, %q", test.used, limit.Reached(test.used), limit.Share(test.used), limit.Compare(test.used))
		}
	}
	if priced := limit.Priced(true); priced.Tokens != 0 || limit.Priced(false) != limit {
		t.Errorf("a limit on money beside tokens is %+v", priced)
	}
	if (money.SpendLimit{}).Reached(money.UsedTokens{Tokens: 1 << 40, Cost: 1 << 50}) {
		t.Error("no limit is reached")
	}
}

func FuzzParseAmount(f *testing.F) {
	for _, s := range []string{"5 EUR", "usd2.50", "1_0 CHF", ".1 JPY", "€5"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := money.ParseAmount(text)
		if err != nil {
			return
		}
		if a.Micros < 0 || !money.IsCurrency(a.Currency) {
			t.Fatalf("%q is %+v", text, a)
		}
		if again, err := money.ParseAmount(a.String()); err != nil || a.Micros < 100_000 && again != a || !strings.HasSuffix(a.String(), a.Currency) {
			t.Fatalf("%q is written %q, which is %+v (%v)", text, a, again, err)
		}
	})
}
