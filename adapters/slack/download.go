package slack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	slackgo "github.com/slack-go/slack"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/httpx"
)

// Fetch opens a file by its id. Slack answers with its sign-in page, not with an
// error, when the app lacks the right.
func (c *apiClient) Fetch(ctx context.Context, a adapters.IncomingFile, limit int64) (io.ReadCloser, error) {
	answer, err := callInto[struct {
		File file `json:"file"`
	}](ctx, c, "files.info", func(ctx context.Context, api *slackgo.Client) error {
		_, _, _, err := api.GetFileInfoContext(ctx, a.ID, 1, 1)
		return err
	})
	if refusedFor(err, "file_not_found", "file_deleted") {
		return nil, &adapters.Error{Kind: adapters.Invalid, Op: "files.info", Err: errors.New("slack no longer has the file")}
	}
	if err != nil {
		return nil, err
	}
	address := cmp.Or(answer.File.URL, answer.File.PrivateURL)
	switch {
	case address == "":
		return nil, &adapters.Error{Kind: adapters.Invalid, Op: "files.info", Err: errors.New("slack no longer has the file")}
	case answer.File.Size > limit:
		return nil, &adapters.Error{Kind: adapters.Invalid, Op: "files.info", Err: fmt.Errorf("the file has %d bytes, more than %d", answer.File.Size, limit)}
	}
	return c.download(ctx, address, answer.File.MIME, limit)
}

// download gets the bytes. The transport gives the token to Slack's hosts alone,
// and a redirect is not followed.
func (c *apiClient) download(ctx context.Context, address, mime string, limit int64) (io.ReadCloser, error) {
	const op = "download"
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, &adapters.Error{Kind: adapters.Invalid, Op: op, Err: c.scrub(0, err, adapters.SecretString(address))}
	}
	if !c.ours(r.URL) { // a file kept elsewhere; its address is whatever a person wrote
		return nil, &adapters.Error{Kind: adapters.Invalid, Op: op, Err: errors.New("the file is not slack's: " + r.URL.Hostname())}
	}
	r.Header.Set("Authorization", "Bearer "+botPlace)
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, &adapters.Error{Kind: adapters.NotSent, Op: op, Err: c.scrub(0, err, adapters.SecretString(address))}
	}
	page := strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") && !strings.HasPrefix(mime, "text/html")
	switch {
	case resp.StatusCode >= http.StatusInternalServerError, resp.StatusCode == http.StatusTooManyRequests:
		_ = resp.Body.Close() // it has no word of the file
		return nil, &adapters.Error{Kind: adapters.NotSent, Op: op, Err: fmt.Errorf("HTTP %d", resp.StatusCode)}
	case resp.StatusCode != http.StatusOK || page:
		_ = resp.Body.Close() // there is nothing in it for us
		return nil, &adapters.Error{Kind: adapters.Invalid, Op: op, Err: fmt.Errorf("HTTP %d instead of the file; the app needs the scope files:read", resp.StatusCode)}
	}
	return httpx.LimitBody(resp.Body, limit), nil
}
