package telegram_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/adapters/fake/telegram"
)

// BenchmarkSend is one sendMessage without the network: the fake is beside
// the program under measurement and must cost it little.
func BenchmarkSend(b *testing.B) {
	tg := telegram.NewTelegram(telegram.Options{})
	bot := tg.AddBot(telegram.BotProfile{Token: "1:a", Username: "ada_bot"})
	chat := bot.Direct(tg.AddPerson(telegram.UserProfile{Name: "Maya"}))
	body := "chat_id=" + id(chat.ID()) + "&parse_mode=HTML&text=" + strings.Repeat("some+%3Cb%3Ewords%3C%2Fb%3E+", 20)
	b.ReportAllocs()
	for b.Loop() {
		req := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/bot1:a/sendMessage", strings.NewReader(body))
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		rec := httptest.NewRecorder()
		tg.ServeHTTP(rec, req)
		if rec.Code != http.StatusOK {
			b.Fatal(rec.Body)
		}
	}
}

// BenchmarkSay is one message of a person, fetched in batches and confirmed.
func BenchmarkSay(b *testing.B) {
	tg := telegram.NewTelegram(telegram.Options{})
	bot := tg.AddBot(telegram.BotProfile{Token: "1:a", Username: "ada_bot"})
	maya := tg.AddPerson(telegram.UserProfile{Name: "Maya"})
	chat := bot.Direct(maya)
	next := int64(100_000_001)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		chat.Says(maya, "when is lunch on Friday?", telegram.PostOptions{})
		if i%50 == 49 {
			next += 50
			req := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/bot1:a/getUpdates?limit=100&offset="+id(next-50), http.NoBody)
			tg.ServeHTTP(httptest.NewRecorder(), req)
		}
	}
}
