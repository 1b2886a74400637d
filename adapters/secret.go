package adapters

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// A SecretString is a credential. It prints as ***, in any verb and any encoder; only
// an explicit string conversion shows it.
type SecretString string

// String returns ***, or nothing for an empty secret.
func (s SecretString) String() string {
	if s == "" {
		return ""
	}
	return "***"
}

// GoString returns what String does, so that %#v shows nothing either.
func (s SecretString) GoString() string { return s.String() }

// Format writes what String returns whatever the verb: fmt asks String for some
// verbs only.
func (s SecretString) Format(f fmt.State, _ rune) {
	_, _ = f.Write([]byte(s.String())) // a formatter cannot report an error
}

// MarshalText returns what String does; encoding/json uses it.
func (s SecretString) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue returns what String does.
func (s SecretString) LogValue() slog.Value { return slog.StringValue(s.String()) }

// Scrub returns text with every form of the secret replaced by ***.
func (s SecretString) Scrub(text string) string {
	for _, form := range s.Forms() {
		text = strings.ReplaceAll(text, form, "***")
	}
	return text
}

// Forms lists what the secret may look like inside other text: as it is, escaped
// for a URL, in the quotes of JSON and of Go, and in base64 at any of the three
// alignments. One that is shorter than eight bytes is not looked for in base64.
// It is for what hides them, and for nothing else.
func (s SecretString) Forms() []string {
	if s == "" {
		return nil
	}
	plain := string(s)
	forms := []string{plain, url.QueryEscape(plain), url.PathEscape(plain), lowerEscapes(url.QueryEscape(plain)), lowerEscapes(url.PathEscape(plain))}
	quoted := strconv.Quote(plain)
	forms = append(forms, quoted[1:len(quoted)-1])
	if encoded, err := json.Marshal(plain); err == nil {
		forms = append(forms, string(encoded[1:len(encoded)-1]))
	}
	if len(s) >= 8 {
		forms = append(forms, s.base64Forms()...)
	}
	slices.Sort(forms)
	forms = slices.Compact(forms)
	// The longest first: the plain form may lie within an escaped one.
	slices.SortStableFunc(forms, func(a, b string) int { return len(b) - len(a) })
	return forms
}

// base64Forms lists what is certain to appear where the secret is in base64.
// There three bytes make four characters; with pad bytes before it only the whole
// groups inside the secret are its own.
func (s SecretString) base64Forms() []string {
	var forms []string
	for pad := range 3 {
		body := []byte(s)[(3-pad)%3:]
		body = body[:len(body)/3*3]
		forms = append(forms, base64.StdEncoding.EncodeToString(body), base64.URLEncoding.EncodeToString(body))
	}
	return forms
}

// lowerEscapes writes the escapes of a URL in small letters, as some servers do.
func lowerEscapes(text string) string {
	out := []byte(text)
	for i := 0; i+2 < len(out); i++ {
		if out[i] == '%' {
			copy(out[i+1:i+3], strings.ToLower(string(out[i+1:i+3])))
		}
	}
	return string(out)
}
