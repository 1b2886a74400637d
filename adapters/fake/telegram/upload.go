package telegram

import (
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/trestle-bridge/trestle/adapters/fake"
)

// What the platform takes of a bot.
const (
	maxCaption = 1024 // UTF-16 units, markup aside
	maxUpload  = 50 << 20
	maxPhoto   = 10 << 20
)

// uploads are the methods that send a file, with the kind of file each makes.
var uploads = map[string]string{
	"sendphoto": "photo", "senddocument": "document", "sendvoice": "voice", "sendvideo": "video", "sendaudio": "audio",
}

// sendFile makes a message of an uploaded file, with its caption. What is no
// picture, sound or film is refused by the methods for them.
func (t botAPI) sendFile(r *http.Request, c *call) *reply {
	f, bad := uploaded(r, uploads[c.method])
	if bad != nil {
		return bad
	}
	m := &message{from: &c.bot.user, bot: c.bot, date: time.Now(), preview: wirePreview{IsDisabled: true}}
	if caption := c.params.Get("caption"); caption != "" {
		c.params.Set("text", caption)
		if m.text, m.entities, bad = c.words(); bad != nil {
			return bad
		}
	}
	if len(utf16.Encode([]rune(m.text))) > maxCaption {
		return badRequest("message caption is too long")
	}
	chat, bad := t.target(c)
	if bad != nil {
		return bad
	}
	m.file = keepFile(t.Server, f)
	chat.mu.Lock()
	defer chat.mu.Unlock()
	if bad = admitPost(chat, c, m); bad != nil {
		return bad
	}
	chat.add(m)
	chat.publish(m, "message")
	return &reply{result: fake.EncodeJSON(chat.wireFor(c.bot, m)), message: m.id}
}

// uploaded reads the file of a call.
func uploaded(r *http.Request, kind string) (SharedFile, *reply) {
	if r.MultipartForm == nil || len(r.MultipartForm.File[kind]) == 0 {
		return SharedFile{}, badRequest("there is no %s in the request", kind)
	}
	head := r.MultipartForm.File[kind][0]
	from, err := head.Open()
	if err != nil {
		return SharedFile{}, badRequest("can't read the file")
	}
	defer from.Close()
	data, err := io.ReadAll(from)
	f := SharedFile{Kind: kind, Name: head.Filename, Data: data, MIME: http.DetectContentType(data)}
	switch {
	case err != nil:
		return SharedFile{}, badRequest("can't read the file")
	case len(data) == 0:
		return SharedFile{}, badRequest("file must be non-empty")
	case len(data) > maxUpload:
		return SharedFile{}, refuse(http.StatusRequestEntityTooLarge, "Request Entity Too Large")
	case kind == "photo" && (len(data) > maxPhoto || !strings.HasPrefix(f.MIME, "image/")):
		return SharedFile{}, badRequest("IMAGE_PROCESS_FAILED")
	}
	return f, nil
}
