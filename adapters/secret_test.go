package adapters

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"
)

// SECURITY S16
func TestSecretNeverPrints(t *testing.T) {
	s := SecretString("123456:AAE-secret_words_here")
	asJSON, err := json.Marshal(struct{ Token SecretString }{s})
	if err != nil {
		t.Fatal(err)
	}
	var logged strings.Builder
	slog.New(slog.NewTextHandler(&logged, nil)).Info("said", "token", s)
	for _, got := range []string{
		fmt.Sprint(s), fmt.Sprintf("%v %+v %#v %q %x %d %c %t", s, s, s, s, s, s, s, s), fmt.Sprintf("%v %+v %#v", struct{ S SecretString }{s}, []SecretString{s}, &s),
		string(asJSON), logged.String(),
	} {
		if strings.Contains(got, "secret_words") {
			t.Errorf("shown in %s", got)
		}
	}
}

// SECURITY S16
func TestScrubFindsEveryForm(t *testing.T) {
	s := SecretString("123456:AAE-secret_words/here+now")
	for pad := range 6 {
		raw := strings.Repeat("x", pad) + string(s) + "tail"
		for form, text := range map[string]string{
			"plain":  raw,
			"query":  url.QueryEscape(raw),
			"path":   url.PathEscape(raw),
			"base64": base64.StdEncoding.EncodeToString([]byte(raw)),
			"url64":  base64.RawURLEncoding.EncodeToString([]byte(raw)),
		} {
			if got := s.Scrub(text); !strings.Contains(got, "***") || strings.Contains(got, "secret_words") {
				t.Errorf("%s form after %d bytes survives: %s", form, pad, got)
			}
		}
	}
	if got := SecretString("").Scrub("abc"); got != "abc" {
		t.Errorf("an empty secret changed the text to %q", got)
	}
}
