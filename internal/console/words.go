package console

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Plain returns text with everything that could steer a terminal or turn what
// is read around shown as an escape: control characters but line breaks and
// tabs, marks of direction, and line separators (SECURITY S18).
func Plain(text string) string {
	if !strings.ContainsFunc(text, steers) {
		return strings.ToValidUTF8(text, "\ufffd")
	}
	var out strings.Builder
	for _, r := range text {
		switch {
		case !steers(r):
			out.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&out, "\\x%02x", r)
		default:
			fmt.Fprintf(&out, "\\u%04x", r)
		}
	}
	return out.String()
}

func steers(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case unicode.IsControl(r):
		return true
	case r >= 0x200e && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0xfeff, r >= 0xe0000 && r <= 0xe007f:
		return true
	}
	return false
}

// Because writes a reason behind what it is the reason of; empty for none.
func Because(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

// span writes a length of time for people.
func span(d time.Duration) string {
	switch {
	case d < time.Second:
		return strconv.FormatInt(max(d.Milliseconds(), 0), 10) + " ms"
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + " s"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + " m"
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d m", int(d.Hours()), int(d.Minutes())%60)
	}
	return strconv.Itoa(int(d.Hours()/24)) + " d"
}

func percent[N int | int64](part, whole N) string {
	if whole <= 0 {
		return "0 %"
	}
	return fmt.Sprintf("%d %%", part*100/whole)
}

// Size writes a number of bytes for people.
func Size(n int64) string {
	f, unit := float64(n), 0
	for f >= 1000 && unit < 4 {
		f, unit = f/1000, unit+1
	}
	if unit == 0 {
		return strconv.FormatInt(n, 10) + " B"
	}
	return fmt.Sprintf("%.1f %cB", f, "kMGT"[unit-1])
}

func formatInt(n int64) string { return strconv.FormatInt(n, 10) }

// narrowThousands writes a number with narrow spaces between its thousands.
func narrowThousands(n int) string {
	text := strconv.Itoa(n)
	sign := ""
	if n < 0 {
		sign, text = "-", text[1:]
	}
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "\u202f" + text[i:]
	}
	return sign + text
}
