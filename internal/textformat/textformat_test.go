package textformat

import "testing"

func TestThousandsAreSeparatedByCommas(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -999: "-999", -1000: "-1,000"} {
		if got := Thousands(n); got != want {
			t.Errorf("%d is written %q, want %q", n, got, want)
		}
	}
}

func TestOneThingIsSingular(t *testing.T) {
	for n, want := range map[int]string{0: "0 lines", 1: "1 line", 2: "2 lines"} {
		if got := CountNoun(n, "line"); got != want {
			t.Errorf("%d is written %q, want %q", n, got, want)
		}
	}
}

func TestTextIsClippedBetweenRunes(t *testing.T) {
	for _, c := range []struct {
		text         string
		n            int
		runes, bytes string
	}{
		{"", 0, "", ""},
		{"abc", 3, "abc", "abc"},
		{"abcd", 3, "abc…", "abc…"},
		{"äöü", 3, "äöü", "ä…"},
		{"äöüx", 2, "äö…", "ä…"},
		{"ä", 1, "ä", "…"},
		{"ab", 0, "…", "…"},
	} {
		if got := ClipRunes(c.text, c.n); got != c.runes {
			t.Errorf("%d runes of %q are %q, want %q", c.n, c.text, got, c.runes)
		}
		if got := ClipBytes(c.text, c.n); got != c.bytes {
			t.Errorf("%d bytes of %q are %q, want %q", c.n, c.text, got, c.bytes)
		}
	}
}
