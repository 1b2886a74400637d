package console

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

func (c *Console) serveTokens(r *http.Request) (TokensAnswer, error) {
	keys, err := c.Keys.ListKeys(r.Context(), KeyToken)
	rows := []TokenRow{}
	for _, k := range keys {
		rows = append(rows, TokenRow{k.ID, k.Name, k.Created, k.Used, k.Person})
	}
	return TokensAnswer{rows}, err
}

func (c *Console) serveAddToken(w http.ResponseWriter, r *http.Request) {
	var q TokenRequest
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4<<10)).Decode(&q); err != nil || q.Name == "" || len(q.Name) > 100 {
		WriteJSON(w, http.StatusBadRequest, ErrorAnswer{Error: "the request has no name for the token", Do: `send {"name": "…"}`})
		return
	}
	m := NewKey(KeyToken, q.Name, time.Now())
	if q.As != "" {
		access, err := c.Grant(r.Context(), q)
		if no, ok := errors.AsType[UserError](err); ok {
			WriteJSON(w, http.StatusUnprocessableEntity, no.Refusal())
			return
		}
		if err != nil {
			c.respond.FailInternal(w, r, err)
			return
		}
		m.Person = &access
	}
	if err := c.Keys.AddKey(r.Context(), m.Key); err != nil {
		c.respond.FailInternal(w, r, err)
		return
	}
	c.Logger.Info("token added", "token", m.ID, "name", m.Name)
	WriteJSON(w, http.StatusOK, NewToken{m.ID, m.Name, m.Secret})
}

func (c *Console) serveDropToken(w http.ResponseWriter, r *http.Request) {
	k, err := c.Keys.KeyByID(r.Context(), r.PathValue("id"))
	if err == nil && k.Kind != KeyToken {
		err = ErrUnknown
	}
	if err == nil {
		err = c.Keys.DropKey(r.Context(), k.ID)
	}
	if err != nil {
		c.respond.FailInternal(w, r, err)
		return
	}
	c.revoked.Add(1)
	c.Logger.Info("token revoked", "token", k.ID, "name", k.Name)
	WriteJSON(w, http.StatusOK, Nothing{})
}

func (c *Console) serveAddLink(r *http.Request) (NewLink, error) { return c.NewLink(r.Context()) }

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

// A TokenRow is one token; its secret is nowhere.
type TokenRow struct {
	ID      string        `json:"id"`
	Name    string        `json:"name"`
	Created time.Time     `json:"created"`
	Used    time.Time     `json:"used,omitzero"`
	Opens   *PersonAccess `json:"opens,omitempty"` // absent: the console
}

// A TokensAnswer lists the tokens.
type TokensAnswer struct {
	Tokens []TokenRow `json:"tokens"`
}

// A TokenRequest asks for a new token.
type TokenRequest struct {
	Name  string         `json:"name"`
	As    string         `json:"as,omitempty"`    // adapter:user; empty: a token for the console
	Agent spaces.AgentID `json:"agent,omitempty"` // with As
	Send  bool           `json:"send,omitempty"`  // with Agent
}

// NewToken is a token with its secret, which is told this once.
type NewToken struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Secret string `json:"secret"`
}
