package console

import (
	"context"
	"net/url"
	"time"
)

// NewLink makes a link that opens one browser, once.
func (c *Console) NewLink(ctx context.Context) (NewLink, error) {
	m := NewKey(KeyLink, "", time.Now())
	if err := c.Keys.AddKey(ctx, m.Key); err != nil {
		return NewLink{}, err
	}
	return NewLink{Path: "/open?k=" + url.QueryEscape(m.Secret), Expires: m.Expires}, nil
}

// A NewLink is a link that opens one browser, once, for ten minutes.
type NewLink struct {
	Path    string    `json:"path"` // behind the address of the console
	Expires time.Time `json:"expires"`
}
