package hook

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
)

// The headers of the two forms of signatures: that of Standard Webhooks
// (standardwebhooks.com), which has a time, and GitHub's, which has none.
const (
	eventID    = "Webhook-Id"
	eventTime  = "Webhook-Timestamp"
	eventSigns = "Webhook-Signature"
	hubSigns   = "X-Hub-Signature-256"
	hubID      = "X-Github-Delivery"
)

// A callProof is how a call proves where it comes from: headers that come once, the first of
// them its time, and a check of the body.
type callProof struct {
	headers []string
	check   func(body []byte) error
	id      string // of the event, as the caller names it; empty: it does not
}

var (
	errSignature = errors.New("the signature is wrong")
	errToken     = errors.New("the bearer token is wrong")
)

// proofOf returns how a call proves where it comes from. It fails when the headers alone
// show that the call does not.
func (c *Client) proofOf(h http.Header) (callProof, error) {
	switch given := h.Values("Authorization"); {
	case c.o.Token != "" && len(given) > 0:
		scheme, token, _ := strings.Cut(given[0], " ")
		if len(given) > 1 || !strings.EqualFold(scheme, "Bearer") || !same(strings.TrimSpace(token), string(c.o.Token)) {
			return callProof{}, errToken
		}
		return callProof{check: func([]byte) error { return nil }, id: h.Get("Idempotency-Key")}, nil
	case c.o.Secret != "" && h.Get(eventSigns) != "":
		return callProof{headers: []string{eventTime, eventID, eventSigns}, check: func(body []byte) error {
			want := signEvent(c.o.Secret, h.Get(eventID), h.Get(eventTime), body)
			for given := range strings.FieldsSeq(h.Get(eventSigns)) { // several while a secret is changed
				if same(given, want) {
					return nil
				}
			}
			return errSignature
		}, id: h.Get(eventID)}, nil
	case c.o.Secret != "" && len(h.Values(hubSigns)) == 1:
		given := h.Get(hubSigns)
		id := h.Get("Idempotency-Key")
		if id == "" {
			id = h.Get(hubID)
		}
		if id == "" { // the signature has no time: the same call again is the same event
			id = "signed-" + adapters.HashContent(given)
		}
		return callProof{check: func(body []byte) error {
			mac := hmac.New(sha256.New, []byte(c.o.Secret))
			mac.Write(body)
			if !same(strings.ToLower(given), "sha256="+hex.EncodeToString(mac.Sum(nil))) {
				return errSignature
			}
			return nil
		}, id: id}, nil
	}
	return callProof{}, errors.New("the call does not prove who makes it: " + c.accepts())
}

// accepts says in words which proofs are taken.
func (c *Client) accepts() string {
	var ways []string
	if c.o.Token != "" {
		ways = append(ways, "send the header Authorization: Bearer TOKEN")
	}
	if c.o.Secret != "" {
		ways = append(ways, "sign the body with the secret, in the header "+hubSigns+" or in those of Standard Webhooks")
	}
	return strings.Join(ways, ", or ")
}

// same compares in a time that depends on neither text.
func same(given, want string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// secretPrefix begins a secret that holds its key in base64, as Standard Webhooks writes it.
const secretPrefix = "whsec_"

// signEvent returns the signature of Standard Webhooks, version 1.
func signEvent(secret adapters.SecretString, id, at string, body []byte) string {
	key := []byte(secret)
	if encoded, ok := strings.CutPrefix(string(secret), secretPrefix); ok {
		if decoded, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			key = decoded
		}
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + at + "."))
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
