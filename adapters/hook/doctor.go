package hook

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/httpx"
)

// Examine looks whether events have a room and whether the address for replies answers. It
// posts nothing there.
func (c *Client) Examine(ctx context.Context, chats []string, _ bool) []adapters.AccountDiagnosis {
	var found []adapters.AccountDiagnosis
	if len(chats) == 0 {
		found = append(found, adapters.AccountDiagnosis{
			Level: adapters.Warning, Code: "TRS-E01", What: "no space has a chat of this hook, so every event is refused",
			Mend: "add " + c.o.Name + ":" + DefaultChat + " to the chats of a space",
		})
	}
	if c.o.ReplyURL != "" {
		if err := c.reach(ctx); err != nil {
			found = append(found, adapters.AccountDiagnosis{
				Level: adapters.Failure, Code: "TRS-E02", What: "the address for replies does not answer: " + err.Error(),
				Mend: "look at reply_url, and whether what serves it runs",
			})
		}
	}
	if len(found) == 0 {
		found = append(found, adapters.AccountDiagnosis{Level: adapters.Fine, What: fmt.Sprintf("programs may post to %s; refused calls so far: %d", c.HookPath(), c.RefusedCalls())})
	}
	return found
}

// reach asks the address for replies for its headers; any answer will do.
func (c *Client) reach(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, replyLimit)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodHead, string(c.o.ReplyURL), nil)
	if err != nil {
		return errors.New("it is no address")
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return httpx.RedactError(unaddressed(err), 0, c.secrets()...)
	}
	return resp.Body.Close()
}

// unaddressed returns err without the address, which may hold a credential.
func unaddressed(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

// secrets returns what no error may show.
func (c *Client) secrets() []adapters.SecretString {
	return []adapters.SecretString{c.o.Token, c.o.Secret, c.o.ReplySecret, c.o.ReplyURL}
}
