package redact

import (
	"regexp"
	"strings"
)

// hideShapes hides tokens in the formats of well-known services.
func hideShapes(text string) string {
	for _, s := range prefixed {
		if strings.Contains(text, s.begins) {
			text = s.hide(text)
		}
	}
	for _, s := range patterned {
		if strings.Contains(text, s.holds) {
			text = s.shape.ReplaceAllString(text, s.instead)
		}
	}
	return text
}

// A prefix is a token format with a fixed beginning, at a word boundary, followed by
// at least that many token characters.
type prefix struct {
	of     string // the service
	begins string
	least  int
}

func (p prefix) hide(text string) string {
	var out strings.Builder
	for {
		i := strings.Index(text, p.begins)
		if i < 0 {
			break
		}
		end := i + len(p.begins)
		for end < len(text) && inToken(text[end]) {
			end++
		}
		out.WriteString(text[:i])
		if (i > 0 && isWord(text[i-1])) || end-i-len(p.begins) < p.least {
			out.WriteString(text[i:end])
		} else {
			out.WriteString(Hidden)
		}
		text = text[end:]
	}
	out.WriteString(text)
	return out.String()
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func inToken(c byte) bool { return isWord(c) || strings.IndexByte("-_.=+/~", c) >= 0 }

// A pattern is a token format without a fixed beginning. The expression is tried
// only in text that contains holds.
type pattern struct {
	of      string
	holds   string
	shape   *regexp.Regexp
	instead string
}

var patterned = []pattern{
	{"Telegram bot", ":AA", regexp.MustCompile(`\b[0-9]{6,12}:AA[A-Za-z0-9_-]{32,}`), Hidden},
	{"Discord bot", ".", regexp.MustCompile(`\b[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}`), Hidden},
	{"Discord webhook", "/webhooks/", regexp.MustCompile(`(/webhooks/[0-9]{15,})/[A-Za-z0-9_-]{40,}`), "$1/" + Hidden},
	{"Slack webhook", "hooks.slack.com/", regexp.MustCompile(`hooks\.slack\.com/(services|workflows|triggers)/[A-Za-z0-9/_+-]{20,}`), "hooks.slack.com/$1/" + Hidden},
	{"Microsoft Teams webhook", "webhook.office.com/", regexp.MustCompile(`webhook\.office\.com/[A-Za-z0-9/@-]{40,}`), "webhook.office.com/" + Hidden},
	{"JSON web token", "eyJ", regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`), Hidden},
	{"AWS access key", "A", regexp.MustCompile(`\b(AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z2-7]{16}\b`), Hidden},
	{"Azure secret", "Q~", regexp.MustCompile(`\b[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}`), Hidden},
	{"Azure storage", "AccountKey=", regexp.MustCompile(`AccountKey=[A-Za-z0-9+/=]{40,}`), "AccountKey=" + Hidden},
	{"Terraform cloud", ".atlasv1.", regexp.MustCompile(`\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}`), Hidden},
	{"Mailchimp", "-us", regexp.MustCompile(`\b[0-9a-f]{32}-us[0-9]{1,2}\b`), Hidden},
	{"Twilio", "SK", regexp.MustCompile(`\bSK[0-9a-f]{32}\b`), Hidden},
	{"OpenAI of old", "T3BlbkFJ", regexp.MustCompile(`\bsk-[A-Za-z0-9_-]{10,}T3BlbkFJ[A-Za-z0-9_-]{10,}`), Hidden},
	{"password in an address", "://", regexp.MustCompile(`(://[^/\s:@"'<>]*):[^/\s@"'<>]+@`), "$1:" + Hidden + "@"},
	{"bearer header", "earer ", regexp.MustCompile(`([Bb]earer )[A-Za-z0-9._~+/=-]{12,}`), "${1}" + Hidden},
	{"bot header", "Bot ", regexp.MustCompile(`(\bBot )[A-Za-z0-9._-]{40,}`), "${1}" + Hidden},
	{"basic header", "asic ", regexp.MustCompile(`([Bb]asic )[A-Za-z0-9+/=]{16,}`), "${1}" + Hidden},
	{"private key", "PRIVATE KEY", regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY( BLOCK)?-----[A-Za-z0-9+/=\s\\:,.-]*?(-----END [A-Z ]*PRIVATE KEY( BLOCK)?-----|$)`), Hidden},
}
