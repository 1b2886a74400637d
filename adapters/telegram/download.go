package telegram

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/safehttp"
)

var _ adapters.FileDownloader = (*Client)(nil)

// maxFile is what Telegram lets a bot download (core.telegram.org/bots/api#getfile).
const maxFile = 20 << 20

// filesAt is the host that Telegram's own files come from.
const filesAt = "api.telegram.org"

// newFiles returns the guarded client for files. The token is part of a file's
// address, so it is put in by the last step before the wire and for Telegram's
// host, or the operator's, alone.
func newFiles(o Options) (*safehttp.Client, error) {
	options := safehttp.Options{
		Hosts: []string{filesAt}, TokenHosts: []string{filesAt}, Limit: maxFile, Timeout: 30 * time.Second,
		Authorize: func(r *http.Request) {
			r.URL.Path = strings.Replace(r.URL.Path, tokenPlace, string(o.Token), 1)
			r.URL.RawPath = ""
		},
	}
	if o.APIURL != "" {
		options.Own = []string{o.APIURL}
	}
	if o.HTTPClient != nil {
		options.OwnTransport = o.HTTPClient.Transport
	}
	return safehttp.New(options)
}

// fileAt is what getFile answers.
type fileAt struct {
	Path string `json:"file_path"`
	Size int64  `json:"file_size"`
}

// Fetch opens a file that was seen on a message. Telegram gives no more than 20 MB.
func (c *Client) Fetch(ctx context.Context, a adapters.IncomingFile, limit int64) (io.ReadCloser, error) {
	if a.ID == "" {
		return nil, &adapters.Error{Kind: adapters.Invalid, Op: "getFile", Err: errors.New("this is no file")}
	}
	at, err := call[fileAt](ctx, c, "getFile", tgbotapi.Params{"file_id": a.ID}, c.limit)
	if err != nil {
		return nil, err
	}
	if limit > 0 && at.Size > limit {
		return nil, &adapters.Error{Kind: adapters.Invalid, Op: "getFile", Err: fmt.Errorf("it has %d bytes, %d are wanted at most", at.Size, limit)}
	}
	path, err := filePath(at.Path)
	if err != nil {
		return nil, err
	}
	f, err := c.files.Get(ctx, c.base+"/file/bot"+tokenPlace+"/"+path, limit)
	if err != nil {
		return nil, fileError(err)
	}
	return f, nil
}

// filePath returns the server's path as part of an address. A server in local
// mode names a place on its own disk, which is not ours to read.
func filePath(path string) (string, error) {
	var parts []string
	for part := range strings.SplitSeq(path, "/") {
		if part == "" || part == "." || part == ".." || strings.ContainsAny(part, "\\?#*") {
			return "", &adapters.Error{Kind: adapters.Invalid, Op: "getFile", Err: errors.New("the server names no file that can be fetched from it")}
		}
		parts = append(parts, url.PathEscape(part))
	}
	return strings.Join(parts, "/"), nil
}

// fileError gives a failed fetch its kind. Its words hold neither address nor token.
func fileError(err error) error {
	kind := adapters.NotSent // reading changes nothing, so it may be tried again
	if errors.Is(err, safehttp.ErrForbidden) || errors.Is(err, safehttp.ErrGone) || errors.Is(err, safehttp.ErrTooLarge) {
		kind = adapters.Invalid
	}
	return &adapters.Error{Kind: kind, Op: "fetch file", Err: err}
}
