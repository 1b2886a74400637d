package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/trestle-bridge/trestle/adapters"
)

// A credential is removed in every encoding and at every position.
func TestNoFormOfACredentialPasses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		token := "h1d!" + rapid.StringOfN(rapid.RuneFrom([]rune("aZ09:/+=?&%#\"\\'<> _-.~é\t")), 8, 40, -1).Draw(t, "token")
		before := rapid.StringN(0, 6, -1).Draw(t, "before")
		var r SecretRegistry
		r.AddSecrets(adapters.SecretString(token))
		asJSON, err := json.Marshal(before + token)
		if err != nil {
			t.Fatal(err)
		}
		for form, text := range map[string]string{
			"plain": before + token, "query": before + url.QueryEscape(token), "path": before + url.PathEscape(token),
			"lower": before + lowerHex(url.QueryEscape(token)), "json": string(asJSON), "quoted": strconv.Quote(before + token),
			"base64": base64.StdEncoding.EncodeToString([]byte(before + token + "tail")), "url64": base64.RawURLEncoding.EncodeToString([]byte(before + token + "tail")),
		} {
			if got := r.Scrub("<" + text + ">"); !strings.Contains(got, Hidden) {
				t.Errorf("%s form of %q passes: %s", form, token, got)
			}
		}
	})
}

func lowerHex(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			out.WriteString(strings.ToLower(text[i : i+3]))
			i += 2
			continue
		}
		out.WriteByte(text[i])
	}
	return out.String()
}

// Every row of the tables hides a token of its format, and no text that only begins
// like one.
func TestEveryShapeIsHidden(t *testing.T) {
	var r SecretRegistry
	body := strings.Repeat("a1B2c3D4", 20)
	for _, p := range prefixed {
		token := p.begins + body[:p.least]
		if got := r.Scrub("(" + token + ")"); got != "("+Hidden+")" {
			t.Errorf("%s: a token of %d letters is left as %s", p.of, p.least, got)
		}
		if got := r.Scrub("word" + token); !strings.HasPrefix(got, "word") {
			t.Errorf("%s: what stands within a word is taken out: %s", p.of, got)
		}
	}
	samples := map[string]string{
		"Telegram bot": "123456789:AA" + body[:33], "Discord bot": "M" + body[:23] + "." + body[:6] + "." + body[:27],
		"Discord webhook": "/webhooks/123456789012345678/" + body[:60], "Slack webhook": "hooks.slack.com/services/T0/B0/" + body[:24],
		"Microsoft Teams webhook": "webhook.office.com/" + body[:60], "JSON web token": "eyJ" + body[:20] + ".eyJ" + body[:20] + "." + body[:20],
		"AWS access key": "AKIA" + strings.Repeat("ABCD2345", 2), "Azure secret": "abc8Q~" + body[:32], "Azure storage": "AccountKey=" + body[:60],
		"Terraform cloud": body[:14] + ".atlasv1." + body[:64], "Mailchimp": strings.Repeat("0a", 16) + "-us12", "Twilio": "SK" + strings.Repeat("0a", 16),
		"OpenAI of old": "sk-" + body[:20] + "T3BlbkFJ" + body[:20], "password in an address": "postgres://me:" + body[:12] + "@db/x",
		"bearer header": "Bearer " + body[:20], "bot header": "Bot " + body[:60], "basic header": "Basic " + body[:20],
		"private key": "-----BEGIN RSA PRIVATE KEY-----\n" + body + "\n-----END RSA PRIVATE KEY-----",
	}
	for _, p := range patterned {
		if got := r.Scrub("(" + samples[p.of] + ")"); !strings.Contains(got, Hidden) || strings.Contains(got, body[:12]) {
			t.Errorf("%s: a token is left as %s", p.of, got)
		}
	}
	t.Logf("%d shapes of tokens", len(prefixed)+len(patterned))
}

// Messages and log text without credentials stay unchanged.
func TestOrdinaryTextIsLeftAlone(t *testing.T) {
	var r SecretRegistry
	for _, text := range []string{
		"", "action settled", "cycle 01998877-aaaa-7bbb-8ccc-123456789012", "https://api.example.com/v1/chat?x=1", "sk-learn is a library",
		"mail me at kai@example.com: it is urgent", "spaces.family.agents", "127.0.0.1:7420", "key-value", "A basic idea", "hf_", "the bearer of news",
		"2026-11-20T10:00:00Z level=INFO msg=\"answer\" tokens=1234", "telegram:-1001234567890", "re_read the docs", "dp.rename", "secret_sauce",
	} {
		if got := r.Scrub(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

type shouting struct{ word string }

func (s shouting) LogValue() slog.Value {
	return slog.GroupValue(slog.String("word", s.word), slog.Any("err", errors.New(s.word)))
}

// A record is scrubbed in its message and in attributes of every kind, before a
// handler quotes or encodes them.
func TestHandlerScrubsRecordsWhole(t *testing.T) {
	const token = `7:h"id\den` + "\twords"
	var r SecretRegistry
	r.AddSecrets(token)
	for name, next := range map[string]func(io.Writer) slog.Handler{
		"text": func(w io.Writer) slog.Handler { return slog.NewTextHandler(w, nil) },
		"json": func(w io.Writer) slog.Handler { return slog.NewJSONHandler(w, nil) },
	} {
		var out bytes.Buffer
		lg := slog.New(r.Handler(next(&out))).With("with", token, "err", errors.New(token)).WithGroup("group").With(token, 1)
		lg.Info("said "+token, "string", token, "secret", adapters.SecretString(token), "error", fmt.Errorf("no: %w", errors.New(token)),
			"bytes", []byte(token), "struct", struct{ A []string }{[]string{token}}, "url", &url.URL{Path: token}, "valuer", shouting{token},
			slog.Group("inner", "a", token), "n", 1, "b", true, "d", time.Second, "at", time.Unix(0, 0), "nothing", nil)
		for _, form := range adapters.SecretString(token).Forms() {
			if strings.Contains(out.String(), form) {
				t.Errorf("%s: %q is in %s", name, form, out.String())
			}
		}
		if strings.Contains(out.String(), "words") || !strings.Contains(out.String(), Hidden) {
			t.Errorf("%s: %s", name, out.String())
		}
		if lg.Enabled(t.Context(), slog.LevelDebug) {
			t.Errorf("%s: debug is on although the handler below has it off", name)
		}
	}
}

// Credentials can be added while the log is written.
func TestRegistryMayGrowWhileItIsUsed(t *testing.T) {
	var r SecretRegistry
	var g sync.WaitGroup
	for i := range 4 {
		g.Go(func() {
			for n := range 50 {
				token := fmt.Sprintf("token-%d-%d-long-enough", i, n)
				r.AddSecrets(adapters.SecretString(token), "")
				if got := r.HideKnown("x" + token); got != "x"+Hidden {
					t.Errorf("%s is shown as %s", token, got)
				}
			}
		})
	}
	g.Wait()
	var out strings.Builder
	if n, err := r.ExactWriter(&out).Write([]byte("token-0-0-long-enough sk-" + strings.Repeat("a", 30))); err != nil || n == 0 || out.String() != Hidden+" sk-"+strings.Repeat("a", 30) {
		t.Errorf("an answer came out as %q, %v", out.String(), err)
	}
}

func BenchmarkScrub(b *testing.B) {
	var r SecretRegistry
	for i := range 30 {
		r.AddSecrets(adapters.SecretString(fmt.Sprintf("1234567%d:AA%030d", i, i)))
	}
	line := `time=2026-11-20T10:00:00.000Z level=INFO msg="action settled" action=01998877-aaaa-7bbb-8ccc-123456789012 kind=said account=telegram:7001` + "\n"
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		r.Scrub(line)
	}
}

// Short placeholder keys stay in text.
func TestPlaceholderKeysStayInText(t *testing.T) {
	var r SecretRegistry
	r.AddSecrets("k", "test", "ollama", "sk-1234")
	const text = "the tokens of ollama were tested with sk-1234"
	if got := r.HideKnown(text); got != text {
		t.Errorf("left %q", got)
	}
	r.AddSecrets("12345678")
	if got := r.HideKnown("id 12345678"); got != "id "+Hidden {
		t.Errorf("left %q", got)
	}
}
