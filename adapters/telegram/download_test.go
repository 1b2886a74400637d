package telegram_test

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/trestle-bridge/trestle/adapters"
	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
)

// S10: a file that a person sent is fetched from the platform's own host.
func TestFileOfAMessageIsFetched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		chat := w.bot.Direct(w.kai)
		seen := map[string]adapters.IncomingFile{}
		for _, kind := range []string{"photo", "document", "voice", "video", "audio", "sticker"} {
			chat.Says(w.kai, "", faketelegram.PostOptions{File: &faketelegram.SharedFile{Kind: kind, Name: kind + ".bin", Data: []byte("bytes of a " + kind)}})
			_, m := message(t, w.inbox.take())
			if len(m.Attachments) != 1 {
				t.Fatalf("%s: %+v", kind, m)
			}
			seen[kind] = m.Attachments[0]
		}
		for kind, a := range seen {
			body, err := w.client.Fetch(t.Context(), a, 1000)
			if err != nil {
				t.Errorf("%s: %v", kind, err)
				continue
			}
			got, err := io.ReadAll(body)
			if err != nil || string(got) != "bytes of a "+kind {
				t.Errorf("%s: got %q, %v", kind, got, err)
			}
			if err := body.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestFileThatIsNotFetched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		chat := w.bot.Direct(w.kai)
		send := func(size int) adapters.IncomingFile {
			chat.Says(w.kai, "", faketelegram.PostOptions{File: &faketelegram.SharedFile{Kind: "document", Data: make([]byte, size)}})
			_, m := message(t, w.inbox.take())
			return m.Attachments[0]
		}
		for name, test := range map[string]struct {
			file adapters.IncomingFile
			says string
		}{
			"larger than wanted":         {send(2000), "2000 bytes"},
			"larger than telegram gives": {send(21 << 20), "too big"},
			"unknown":                    {adapters.IncomingFile{ID: "nothing"}, "invalid file_id"},
			"a place, which is no file":  {adapters.IncomingFile{Kind: "location"}, "no file"},
		} {
			_, err := w.client.Fetch(t.Context(), test.file, 1000)
			if adapters.KindOf(err) != adapters.Invalid || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "words") {
				t.Errorf("%s: got %v", name, err)
			}
		}
	})
}
