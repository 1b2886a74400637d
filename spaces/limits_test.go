package spaces

import (
	"strings"
	"testing"
)

func TestTruncatedTextSaysSoAndKeepsLettersWhole(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"short", "short"},
		{strings.Repeat("é", 4), strings.Repeat("é", 4)},
		{strings.Repeat("é", 5), "éééé […cut, 8 of 10 bytes shown]"},
		{"1234567é", "1234567 […cut, 7 of 9 bytes shown]"},
		{"a\xffb", "a\uFFFDb"},
	} {
		if got := TruncateText(tt.text, 8); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
