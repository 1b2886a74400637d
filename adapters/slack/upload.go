package slack

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	slackgo "github.com/slack-go/slack"

	"github.com/trestle-bridge/trestle/adapters"
)

var (
	_ adapters.FileDownloader = (*Client)(nil)
	_ adapters.FileSender     = (*Client)(nil)
)

// maxUpload bounds one file. Slack takes a gigabyte; a file is held in memory
// while it is sent.
const maxUpload = 100 << 20

// MaxFile returns how many bytes a file may have.
func (c *messageSender) MaxFile(string) int64 { return maxUpload }

// upload puts files into the workspace without sharing them, and returns their ids.
// Nothing is posted when it fails.
func (c *messageSender) upload(ctx context.Context, files []adapters.OutgoingFile) ([]string, error) {
	var ids []string
	for _, f := range files {
		id, err := c.uploadOne(ctx, f)
		if e, ok := errors.AsType[*adapters.Error](err); ok && e.Kind == adapters.Unknown {
			e.Kind = adapters.NotSent // whatever became of the bytes, no message was made
		}
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// uploadOne makes the three calls of an upload.
func (c *messageSender) uploadOne(ctx context.Context, f adapters.OutgoingFile) (string, error) {
	bytesOf, err := f.Open(ctx)
	if err != nil {
		return "", &adapters.Error{Kind: adapters.NotSent, Op: "upload", Err: fmt.Errorf("open %s: %w", f.Name, err)}
	}
	defer bytesOf.Close()
	content, err := io.ReadAll(io.LimitReader(bytesOf, maxUpload+1))
	switch {
	case err != nil:
		return "", &adapters.Error{Kind: adapters.NotSent, Op: "upload", Err: fmt.Errorf("read %s: %w", f.Name, err)}
	case len(content) > maxUpload:
		return "", &adapters.Error{Kind: adapters.Invalid, Op: "upload", Err: fmt.Errorf("file %q is too large", f.Name)}
	}
	place, err := callInto[struct {
		URL string `json:"upload_url"`
		ID  string `json:"file_id"`
	}](ctx, c.apiClient, "files.getUploadURLExternal", func(ctx context.Context, api *slackgo.Client) error {
		_, err := api.GetUploadURLExternalContext(ctx, slackgo.GetUploadURLExternalParameters{FileName: f.Name, FileSize: len(content)})
		return err
	})
	if err != nil {
		return "", err
	}
	if err := c.put(ctx, place.URL, content); err != nil {
		return "", err
	}
	_, err = c.call(ctx, "files.completeUploadExternal", func(ctx context.Context, api *slackgo.Client) error {
		_, err := api.CompleteUploadExternalContext(ctx, slackgo.CompleteUploadExternalParameters{
			Files: []slackgo.FileSummary{{ID: place.ID, Title: f.Name}},
		})
		return err
	})
	return place.ID, err
}

// put sends the bytes. The address itself is the right to do so; no token goes along.
func (c *messageSender) put(ctx context.Context, address string, content []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(content))
	if err != nil {
		return &adapters.Error{Kind: adapters.Unknown, Op: "upload", Err: c.scrub(0, err, adapters.SecretString(address))}
	}
	r.Header.Set("Content-Type", "application/octet-stream")
	resp, err := c.http.Do(r)
	if err != nil {
		return &adapters.Error{Kind: adapters.NotSent, Op: "upload", Err: c.scrub(0, err, adapters.SecretString(address))}
	}
	_ = resp.Body.Close() // its status says all
	if resp.StatusCode != http.StatusOK {
		return &adapters.Error{Kind: adapters.NotSent, Op: "upload", Err: fmt.Errorf("HTTP %d", resp.StatusCode)}
	}
	return nil
}

// attach hangs uploaded files on message m, whose words are f. The words are there
// already: what Slack refuses for good is told to the log, not to the sender, who would
// send the words twice. Any other error says that it is not known whether all is there,
// so that the sender looks for it with [Client.Find], which attaches what is missing.
func (c *messageSender) attach(ctx context.Context, m adapters.MessageRef, f form, files []string) error {
	err := c.updateWithFallback(ctx, m, f, files)
	switch {
	case err == nil:
		return nil
	case adapters.KindOf(err).Permanent():
		c.log.Error("files not attached", "chat", m.Chat, "message", m.Message, "files", len(files), "error", err)
		return nil
	}
	return &adapters.Error{Kind: adapters.Unknown, Op: "chat.update", Err: err}
}

// listOf returns ids as a list that a call carries.
func listOf(ids []string) string {
	raw, err := json.Marshal(ids)
	if err != nil {
		panic("slack: ids do not marshal: " + err.Error())
	}
	return string(raw)
}

// attachMissingFiles attaches the files that a message found again should have and, since
// we died or were cut off in between, has not.
func (c *messageSender) attachMissingFiles(ctx context.Context, raw json.RawMessage, p adapters.OutgoingMessage) error {
	var m struct {
		TS       string            `json:"ts"`
		Username string            `json:"username"`
		Files    []json.RawMessage `json:"files"`
	}
	if len(p.Files) == 0 || json.Unmarshal(raw, &m) != nil || len(m.Files) > 0 {
		return nil
	}
	ids, err := c.upload(ctx, p.Files)
	if err != nil {
		return err
	}
	if m.Username == "" { // it has no face
		p.Text = cmp.Or(p.Unmasked, p.Text)
	}
	return c.attach(ctx, adapters.MessageRef{Chat: p.Chat, Message: m.TS}, formOf(p.Text, p.Mentions), ids)
}
