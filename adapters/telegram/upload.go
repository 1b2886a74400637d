package telegram

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"strconv"
	"strings"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/trestle-bridge/trestle/adapters"
)

var _ adapters.FileSender = (*Client)(nil)

// What Telegram takes (core.telegram.org/bots/api#sending-files).
const (
	maxUpload = 50 << 20
	maxPhoto  = 10 << 20
)

// MaxFile returns how many bytes a file may have.
func (c *Client) MaxFile(string) int64 { return maxUpload }

// showings are the methods that show a file for what it is, by its media type;
// whatever else there is goes as a document.
var showings = map[string]showing{
	"image/jpeg": {"sendPhoto", "photo"}, "image/png": {"sendPhoto", "photo"}, "image/webp": {"sendPhoto", "photo"},
	"audio/ogg": {"sendVoice", "voice"}, "video/mp4": {"sendVideo", "video"},
	"audio/mpeg": {"sendAudio", "audio"}, "audio/mp4": {"sendAudio", "audio"},
}

// A showing is a method with the field that its file goes into.
type showing struct{ method, field string }

var asDocument = showing{"sendDocument", "document"}

// sendFile posts a part that has a file: the words are its caption. What Telegram
// refuses to show as a picture or a film goes once more as a document; a refusal
// is a definite no, so nothing is there twice.
func (c *Client) sendFile(ctx context.Context, p adapters.OutgoingMessage) (adapters.Receipt, error) {
	if len(p.Files) > 1 {
		return adapters.Receipt{}, &adapters.Error{Kind: adapters.Invalid, Op: "sendDocument", Err: errors.New("telegram takes one file a message")}
	}
	params, err := postParams(p)
	if err != nil {
		return adapters.Receipt{}, err
	}
	delete(params, "link_preview_options")
	params["caption"] = params["text"]
	delete(params, "text")
	f := p.Files[0]
	if f.Spoken > 0 { // people hear what it is
		delete(params, "caption")
		params["duration"] = strconv.Itoa(int(math.Ceil(f.Spoken.Seconds())))
	}
	content, err := read(ctx, f)
	if err != nil {
		return adapters.Receipt{}, err
	}
	media, _, _ := strings.Cut(f.MIME, ";")
	how, known := showings[media]
	if !known || how.field == "photo" && len(content) > maxPhoto {
		how = asDocument
	}
	sent, err := c.upload(ctx, how, params, tgbotapi.FileBytes{Name: f.Name, Bytes: content})
	if how != asDocument && adapters.KindOf(err) == adapters.Invalid {
		c.log.Info("not shown as it is, sending a document", "op", how.method, "error", err)
		sent, err = c.upload(ctx, asDocument, params, tgbotapi.FileBytes{Name: f.Name, Bytes: content})
	}
	if err != nil {
		return adapters.Receipt{}, err
	}
	return adapters.Receipt{Message: formatID(sent.ID), At: at(sent.Date)}, nil
}

// read returns the bytes of f.
func read(ctx context.Context, f adapters.OutgoingFile) ([]byte, error) {
	from, err := f.Open(ctx)
	if err != nil {
		return nil, &adapters.Error{Kind: adapters.NotSent, Op: "sendDocument", Err: fmt.Errorf("open %s: %w", f.Name, err)}
	}
	defer from.Close()
	content, err := io.ReadAll(io.LimitReader(from, maxUpload+1))
	switch {
	case err != nil:
		return nil, &adapters.Error{Kind: adapters.NotSent, Op: "sendDocument", Err: fmt.Errorf("read %s: %w", f.Name, err)}
	case len(content) > maxUpload:
		return nil, &adapters.Error{Kind: adapters.Invalid, Op: "sendDocument", Err: fmt.Errorf("file %q is too large for telegram", f.Name)}
	case len(content) == 0:
		return nil, &adapters.Error{Kind: adapters.Invalid, Op: "sendDocument", Err: fmt.Errorf("file %q is empty, which telegram does not take", f.Name)}
	}
	return content, nil
}

// upload makes one call with a file, and once more with a plain caption when
// Telegram cannot parse it.
func (c *Client) upload(ctx context.Context, how showing, params tgbotapi.Params, f tgbotapi.FileBytes) (sentMessage, error) {
	with := []tgbotapi.RequestFile{{Name: how.field, Data: f}}
	send := func(params tgbotapi.Params) (sentMessage, error) {
		sent, _, err := request[sentMessage](ctx, c, how.method, "", 2*c.limit, func(bot *tgbotapi.BotAPI) (*tgbotapi.APIResponse, error) {
			return bot.UploadFiles(how.method, params, with)
		})
		return sent, err
	}
	sent, err := send(params)
	if !refusedFor(err, "can't parse entities", "can't parse message") {
		return sent, err
	}
	plain := maps.Clone(params)
	delete(plain, "parse_mode")
	plain["caption"] = stripHTML(params["caption"])
	return send(plain)
}
