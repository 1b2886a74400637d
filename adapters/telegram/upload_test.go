package telegram_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/fake"
	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
)

// png begins as a picture does.
var png = "\x89PNG\r\n\x1a\n and the rest of it"

func fileOf(name, media, content string) adapters.OutgoingFile {
	return adapters.OutgoingFile{Name: name, MIME: media, Open: func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(content)), nil
	}}
}

// SEQ-96, PLATFORMS 1: a file is shown for what it is, and as a document where
// Telegram refuses that, with the words as its caption; each is one message.
func TestFilesGoAlongAsWhatTheyAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		chat := w.NewGroup("g", w.kai)
		chat.Adds(w.kai, w.bot)
		asked := chat.Says(w.kai, "send it", faketelegram.PostOptions{})
		for name, c := range map[string]struct {
			file adapters.OutgoingFile
			kind string
		}{
			"a picture":            {fileOf("a.png", "image/png", png), "photo"},
			"no picture after all": {fileOf("a.jpg", "image/jpeg", "words"), "document"},
			"a huge picture":       {fileOf("a.png", "image/png", png+strings.Repeat("x", 10<<20)), "document"},
			"a voice":              {fileOf("a.ogg", "audio/ogg; codecs=opus", "OggS"), "voice"},
			"a film":               {fileOf("a.mp4", "video/mp4", "film"), "video"},
			"a table":              {fileOf("a.csv", "text/csv", "a,b"), "document"},
		} {
			before := len(chat.Sent())
			r, err := w.client.Send(t.Context(), adapters.OutgoingMessage{
				Chat: strconv.FormatInt(chat.ID(), 10), ReplyTo: strconv.FormatInt(asked, 10), Text: "<b>here</b> &amp; now", Files: []adapters.OutgoingFile{c.file},
			})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			sent := chat.Sent()
			m := sent[len(sent)-1]
			if len(sent) != before+1 || r.Message != strconv.FormatInt(m.ID, 10) || m.Text != "here & now" || m.ReplyTo != asked {
				t.Errorf("%s: %d messages, receipt %+v, the last %+v", name, len(sent)-before, r, m)
			}
			want, err := c.file.Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			content, err := io.ReadAll(want)
			if err != nil || m.File == nil || m.File.Kind != c.kind || m.File.Name != c.file.Name || !bytes.Equal(m.File.Data, content) {
				t.Errorf("%s: it is not there as a %s, %v", name, c.kind, err)
			}
		}
	})
}

// A recording of what was said has no words below it.
func TestARecordingIsAVoiceMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		chat := w.NewGroup("g", w.kai)
		chat.Adds(w.kai, w.bot)
		file := fileOf("voice.ogg", "audio/ogg", "OggS")
		file.Spoken = 1200 * time.Millisecond
		_, err := w.client.Send(t.Context(), adapters.OutgoingMessage{Chat: strconv.FormatInt(chat.ID(), 10), Text: "words", Files: []adapters.OutgoingFile{file}})
		sent := chat.Sent()
		if err != nil || len(sent) != 1 || sent[0].Text != "" || sent[0].File.Kind != "voice" {
			t.Errorf("sent %+v, %v", sent, err)
		}
	})
}

// DELIVERY 2.4: what becomes of an upload is judged like any other send.
func TestEveryOutcomeOfAnUploadHasItsKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		chat := w.NewGroup("g", w.kai)
		chat.Adds(w.kai, w.bot)
		table := fileOf("a.csv", "text/csv", "a,b")
		broken := adapters.OutgoingFile{Name: "b", Open: func(context.Context) (io.ReadCloser, error) { return nil, errors.New("gone") }}
		for name, c := range map[string]struct {
			fault fake.CallFault
			files []adapters.OutgoingFile
			want  adapters.FailureKind
		}{
			"too many requests":  {fake.CallFault{Do: fake.Refuse, RetryAfter: 7}, []adapters.OutgoingFile{table}, adapters.Limited},
			"no right":           {fake.CallFault{Do: fake.Refuse, Status: 403, Description: "Forbidden: bot was kicked"}, []adapters.OutgoingFile{table}, adapters.Forbidden},
			"the answer is lost": {fake.CallFault{Do: fake.Cut, Apply: true}, []adapters.OutgoingFile{table}, adapters.Unknown},
			"two files":          {fake.CallFault{}, []adapters.OutgoingFile{table, table}, adapters.Invalid},
			"an empty file":      {fake.CallFault{}, []adapters.OutgoingFile{fileOf("a", "", "")}, adapters.Invalid},
			"bytes out of reach": {fake.CallFault{}, []adapters.OutgoingFile{broken}, adapters.NotSent},
			"more than it takes": {fake.CallFault{}, []adapters.OutgoingFile{fileOf("a", "", strings.Repeat("x", int(w.client.MaxFile(""))+1))}, adapters.Invalid},
		} {
			if c.fault.Do != "" {
				c.fault.Method = "sendDocument"
				w.Fault(c.fault)
			}
			_, err := w.client.Send(t.Context(), adapters.OutgoingMessage{Chat: strconv.FormatInt(chat.ID(), 10), Text: "x", Files: c.files})
			if err == nil || adapters.KindOf(err) != c.want {
				t.Errorf("%s: %v, want %s", name, err, c.want)
			}
			w.ClearFaults()
			<-time.After(10 * time.Second) // whatever it asked us to wait is over
		}
	})
}
