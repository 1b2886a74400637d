package adapters

import (
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
)

// A Secret is a credential. It prints as ***, in any verb and any encoder; only
// an explicit string conversion shows it.
type Secret string

// String returns ***, or nothing for an empty secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "***"
}

// GoString returns what String does, so that %#v shows nothing either.
func (s Secret) GoString() string { return s.String() }

// Format writes what String returns whatever the verb: fmt asks String for some
// verbs only.
func (s Secret) Format(f fmt.State, _ rune) {
	_, _ = f.Write([]byte(s.String())) // a formatter has nobody to tell
}

// MarshalText returns what String does; encoding/json uses it.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue returns what String does.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// Scrub returns text with every form of the secret replaced by ***: as it is,
// escaped for a URL, in base64 at any of the three alignments. A secret shorter
// than eight bytes is replaced only as it is.
func (s Secret) Scrub(text string) string {
	for _, form := range s.forms() {
		text = strings.ReplaceAll(text, form, "***")
	}
	return text
}

// forms lists what the secret may look like inside other text.
func (s Secret) forms() []string {
	if s == "" {
		return nil
	}
	forms := []string{string(s), url.QueryEscape(string(s)), url.PathEscape(string(s))}
	if len(s) < 8 {
		return forms
	}
	for pad := range 3 {
		// In base64 three bytes make four characters. With pad bytes before it only
		// the whole groups inside the secret are certain to appear.
		lead := (3 - pad) % 3
		body := []byte(s)[lead:]
		body = body[:len(body)/3*3]
		forms = append(forms, base64.StdEncoding.EncodeToString(body), base64.URLEncoding.EncodeToString(body))
	}
	return forms
}
