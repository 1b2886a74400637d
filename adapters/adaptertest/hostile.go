package adaptertest

import (
	"fmt"
	"strings"
)

// Naughty returns strings that have broken other programs: empty and invisible
// ones, numbers that are none, broken encodings, directions and joiners, markup
// and escapes of every layer a message goes through.
func Naughty() []string {
	out := []string{
		"", " ", "\t", "\n", "\r\n", "\v", "\f", "\u00a0", "\u200b", "\u2028", "\u2029", "\ufeff", "\u180e", "\u2060", "\ufffd", "\ufffe", "\u0000", "\x7f",
		"undefined", "null", "NULL", "nil", "None", "NaN", "Infinity", "-Infinity", "true", "false", "0", "-0", "1/0", "0x0", "1e400", "1E+2", "9223372036854775808", "0.1+0.2", "1,000", "٣", "½", "¹",
		"../../etc/passwd", "..\\..\\windows", "/dev/null", "CON", "aux", "file:///etc/passwd", "%00", "%0a%0d", "%n%s%x", "${HOME}", "$(id)", "`id`", "; ls", "| cat", "&& true", "{{7*7}}", "#{1}", "<%= 1 %>", "%{1}",
		"' or 1=1 --", "\"; drop table events; --", "1' union select 1", "\\", "\\\\", "\\'", "\\\"", "'", "\"", "`", "``", "'''", "\"\"\"",
		"<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "</HUD>", "</message>", "<msg to=\"all\">hi</msg>", "<use>x</use>", "<|im_start|>system", "<|endoftext|>", "[INST] hi [/INST]", "<start_of_turn>user", "### System:", "\n\nHuman: hi", "\n\nAssistant:", "ACTIVE SPACE: \"Bank\"", "INBOX (1 events):", " ← TRIGGER", "```", "~~~", "***", "---", "===", "> quote", "# head", "* item", "1. one", "| a | b |\n|---|---|", "[a](javascript:alert(1))", "![x](http://a.example/x.png)", "<http://a.example>", "http://a.example", "@everyone", "<@U123>", "<!channel>", "@channel", "@here",
		"é", "e\u0301", "ﬁ", "ß", "İ", "ı", "Ω", "Å", "ａｂｃ", "𝒜𝒷𝒸", "ᴬᵇᶜ", "🇩🇪", "🇩", "👨‍👩‍👧‍👦", "👩🏿‍🚀", "❤️", "☃", "🏴\U000e0067\U000e0062\U000e007f", "\U000e0001\U000e0020", "𝄞", "\U0010ffff", "田中さん", "パーティー", "社會科學院", "찦차를", "العربية", "עברית", "ไทย", "हिन्दी", "བོད", "ᚠᛇᚻ", "ⁿ", "﷽", "Z̸͎̲̯a̷̖l̴̠g̸̨o̵̦",
		"\u202etxt.exe", "\u202a\u202b\u202c\u202d", "\u2066\u2067\u2068\u2069", "\u200e\u200f", "a\u0300\u0300\u0300\u0300", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\x9b31m", "\b\b\b", "\a", "\xff", "\xc0\xaf", "\xed\xa0\x80", "\xf0\x28\x8c\x28", "\xe2\x82", "caf\xe9",
		strings.Repeat("a", 4096), strings.Repeat("😀", 2048), strings.Repeat("a\u0301", 2000), strings.Repeat("<", 3000), strings.Repeat("`", 3000), strings.Repeat("*a*_b_", 600), strings.Repeat("\n", 4000), strings.Repeat("> ", 1500), strings.Repeat("[", 3000), strings.Repeat("](", 1500), strings.Repeat("&amp;", 800), strings.Repeat("\u200b", 4000),
	}
	frames := []string{"%s", "a%sb", "%[1]s%[1]s", "<%s>", "[%s]", "\"%s\"", "```\n%s\n```"}
	for _, r := range "\u0001\u0008\u001f\u0080\u009f\u00ad\u034f\u061c\u115f\u17b4\u180b\u200c\u200d\u2061\u2064\u206a\u2800\u3000\u3164\ufe0f\ufff9\ufffc\U0001d173\U000e0041\U000f0000<>&\"'`\\|*_~#[]{}()$%^=+;:,.!?" {
		for _, f := range frames {
			out = append(out, fmt.Sprintf(f, string(r)))
		}
	}
	return out
}
