package console

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// KeyKind is what a key opens.
type KeyKind string

// The kinds of key.
const (
	KeyToken   KeyKind = "token"   // of a program; good until it is revoked
	KeySession KeyKind = "session" // of a browser
	KeyLink    KeyKind = "link"    // opens one session, once
)

// How long keys are good.
const (
	LinkTTL    = 10 * time.Minute
	SessionTTL = 30 * 24 * time.Hour
)

// A Key is a token, link or session that opens the console. Only its holder has the
// secret; the store has the hash.
type Key struct {
	ID      string // short, unique for ever
	Kind    KeyKind
	Name    string        // what people call a token
	Hash    string        // of the secret
	Parent  string        // what a session was opened with: it ends with that
	Person  *PersonAccess // what a token opens in place of the console; nil: the console
	Created time.Time
	Expires time.Time // zero: never
	Used    time.Time // when last; zero: not yet
}

// A PersonAccess opens the rooms of one person to a program of theirs: it may read what
// that person could read.
type PersonAccess struct {
	Person spaces.EntityID `json:"person"`
	As     string          `json:"as"`              // the person as the configuration writes them: adapter:user
	Name   string          `json:"name,omitempty"`  // how the person was called when it was made
	Agent  spaces.AgentID  `json:"agent,omitempty"` // whose mentions it waits for; empty: the person's own
	Send   bool            `json:"send,omitempty"`  // it may send messages as Agent
}

// ErrSpent is returned when a link is used twice.
var ErrSpent = errors.New("the link has been used")

// Keys keeps keys. Its methods may be called concurrently.
type Keys interface {
	KeyReader
	AddKey(ctx context.Context, k Key) error
	// UseKey notes when a key was used. For a link it fails with [ErrSpent] for
	// all but the first call.
	UseKey(ctx context.Context, id string, at time.Time) error
	// DropKey removes a key and the sessions opened with it, or fails with [ErrUnknown].
	DropKey(ctx context.Context, id string) error
}

// KeyReader reads keys. Its methods may be called concurrently.
type KeyReader interface {
	// KeyByHash returns the key with that hash, or [ErrUnknown].
	KeyByHash(ctx context.Context, hash string) (Key, error)
	// KeyByID returns the key with that id, or [ErrUnknown].
	KeyByID(ctx context.Context, id string) (Key, error)
	// ListKeys returns the keys of a kind, oldest first.
	ListKeys(ctx context.Context, kind KeyKind) ([]Key, error)
}

// An IssuedKey is a new key with its secret, which is shown this once.
type IssuedKey struct {
	Key
	Secret string
}

// NewKey makes a key of a kind. The secret has 256 bits of chance.
func NewKey(kind KeyKind, name string, at time.Time) IssuedKey {
	secret, id := make([]byte, 32), make([]byte, 4)
	_, _ = rand.Read(secret) // never fails
	_, _ = rand.Read(id)
	m := IssuedKey{
		Key:    Key{ID: hex.EncodeToString(id), Kind: kind, Name: name, Created: at},
		Secret: base64.RawURLEncoding.EncodeToString(secret),
	}
	switch kind {
	case KeyToken:
		m.Secret = "trestle_" + m.Secret
	case KeySession:
		m.Expires = at.Add(SessionTTL)
	case KeyLink:
		m.Expires = at.Add(LinkTTL)
	}
	m.Hash = hashOf(m.Secret)
	return m
}

// hashOf returns the name a secret is known by. A secret of 256 bits needs no
// slow hash.
func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// equal compares two secrets in a time that tells nothing about them.
func equal(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// configured is the parent of what was opened with the token of the
// configuration, by a hash of it: with another token there it is no more.
func configured(token string) string { return "config:" + hashOf(token)[:16] }

// errWrong is returned for a credential that opens nothing.
var errWrong = errors.New("the token is missing or wrong")

// errMany is returned while an address has given too many of those.
var errMany = errors.New("too many wrong tokens were tried from here; try again in a minute")

// checkToken returns what a bearer token is, by the parent its sessions would have, and what
// people call it.
func (c *Console) checkToken(ctx context.Context, secret string) (parent, who string, err error) {
	if token := c.Access().Token; token != "" && equal(secret, token) {
		return configured(token), configuredToken, nil
	}
	k, err := c.findKey(ctx, secret, KeyToken)
	if err == nil && k.Person != nil {
		err = errWrong
	}
	if err != nil {
		return "", "", err
	}
	return k.ID, tokenName(k), c.noteUse(ctx, k)
}

// checkSession reports whether a secret is that of a browser that may still look, and
// returns what people call that browser.
func (c *Console) checkSession(ctx context.Context, secret string) (who string, err error) {
	k, err := c.findKey(ctx, secret, KeySession)
	if err != nil {
		return "", err
	}
	who = "browser " + k.ID + " of "
	switch {
	case k.Parent == "":
		who += "a link of this machine"
	case strings.HasPrefix(k.Parent, "config:"):
		if token := c.Access().Token; token == "" || k.Parent != configured(token) {
			return "", errWrong
		}
		who += configuredToken
	default:
		parent, err := c.Keys.KeyByID(ctx, k.Parent)
		if errors.Is(err, ErrUnknown) {
			return "", errWrong
		} else if err != nil {
			return "", fmt.Errorf("read key: %w", err)
		}
		who += tokenName(parent)
	}
	return who, c.noteUse(ctx, k)
}

// configuredToken is what people call the token of the configuration.
const configuredToken = "the configuration's token"

// tokenName is what people call a token.
func tokenName(k Key) string { return "token " + k.ID + " " + k.Name }

// findKey returns the living key with that secret.
func (c *Console) findKey(ctx context.Context, secret string, kind KeyKind) (Key, error) {
	k, err := c.Keys.KeyByHash(ctx, hashOf(secret))
	switch {
	case errors.Is(err, ErrUnknown):
		return Key{}, errWrong
	case err != nil:
		return Key{}, fmt.Errorf("read key: %w", err)
	case k.Kind != kind || (!k.Expires.IsZero() && !time.Now().Before(k.Expires)):
		return Key{}, errWrong
	}
	return k, nil
}

// noteUse keeps when a key was last used, to the minute.
func (c *Console) noteUse(ctx context.Context, k Key) error {
	if now := time.Now(); now.Sub(k.Used) > time.Minute {
		if err := c.Keys.UseKey(ctx, k.ID, now); err != nil {
			return fmt.Errorf("note use of key: %w", err)
		}
	}
	return nil
}

// authorise checks the credential of a request: a bearer token, or else the
// cookie of a session, and returns what people call it. Guessing tokens is limited by
// address; the secret of a session is random and cannot be chosen by a caller.
func (c *Console) authorise(r *http.Request) (who string, err error) {
	bearer := r.Header.Get("Authorization")
	if bearer == "" {
		cookie, err := r.Cookie(cookieName(r))
		if err != nil {
			return "", errWrong
		}
		return c.checkSession(r.Context(), cookie.Value)
	}
	err = errWrong
	if secret, ok := strings.CutPrefix(bearer, "Bearer "); ok && secret != "" {
		_, who, err = c.checkToken(r.Context(), secret)
	}
	return who, c.judgeMiss(r, err)
}

// authorised checks the credential of a request.
func (c *Console) authorised(r *http.Request) error {
	_, err := c.authorise(r)
	return err
}

// judgeMiss counts a wrong credential of an address, and returns [errMany] in its place
// once there were too many. A right one passes however many wrong ones came from there:
// those who share an address cannot lock each other out.
func (c *Console) judgeMiss(r *http.Request, err error) error {
	if !errors.Is(err, errWrong) && !errors.Is(err, ErrSpent) {
		return err
	}
	from, now := c.Access().caller(r).addr, time.Now()
	if c.limiter.closed(from, now) {
		return errMany
	}
	c.limiter.miss(from, now)
	return err
}

// requireCredential serves those with a token or a session.
func (c *Console) requireCredential(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		who, err := c.authorise(r)
		switch {
		case err == nil:
			c.serveNoted(next, w, r, who)
		case errors.Is(err, errMany):
			w.Header().Set("Retry-After", "60")
			c.respond.Fail(w, r, http.StatusTooManyRequests, err.Error())
		case !errors.Is(err, errWrong):
			c.respond.FailInternal(w, r, err)
		case forPrograms(r) || r.Method != http.MethodGet:
			w.Header().Set("WWW-Authenticate", "Bearer")
			c.respond.Fail(w, r, http.StatusUnauthorized, err.Error())
		default:
			c.pages.ShowLogin(w, r, http.StatusUnauthorized, "")
		}
	}
}

// serveNoted serves a request, and notes in the log who changed something by it and how that
// was answered.
func (c *Console) serveNoted(next http.HandlerFunc, w http.ResponseWriter, r *http.Request, who string) {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		next(w, r)
		return
	}
	noted := &notedResponse{ResponseWriter: w, code: http.StatusOK}
	next(noted, r)
	c.Logger.Info("asked for by an operator", "by", who, "method", r.Method, "path", r.URL.Path, "status", noted.code)
}

// A notedResponse remembers the status that it was answered with.
type notedResponse struct {
	http.ResponseWriter
	code int
}

// WriteHeader implements [http.ResponseWriter].
func (n *notedResponse) WriteHeader(code int) {
	n.code = code
	n.ResponseWriter.WriteHeader(code)
}

// Unwrap returns the response that it notes, for [http.ResponseController].
func (n *notedResponse) Unwrap() http.ResponseWriter { return n.ResponseWriter }

// accessKey marks the context of a request by whose rooms it may open.
type accessKey struct{}

// AccessOf returns whose rooms a request may open, as its token says. It is for handlers
// of routes [ForPerson].
func AccessOf(ctx context.Context) PersonAccess {
	a, _ := ctx.Value(accessKey{}).(PersonAccess)
	return a
}

// WithAccess returns a context of a request that may open the rooms of a person.
func WithAccess(ctx context.Context, a PersonAccess) context.Context {
	return context.WithValue(ctx, accessKey{}, a)
}

// requirePerson serves those with a token for the rooms of a person.
func (c *Console) requirePerson(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		secret, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		k, err := c.findKey(r.Context(), secret, KeyToken)
		if err == nil && k.Person == nil {
			err = errWrong
		}
		if err == nil {
			err = c.noteUse(r.Context(), k)
		}
		switch err = c.judgeMiss(r, err); {
		case err == nil:
			next(w, r.WithContext(WithAccess(r.Context(), *k.Person)))
		case errors.Is(err, errMany):
			w.Header().Set("Retry-After", "60")
			c.respond.Fail(w, r, http.StatusTooManyRequests, err.Error())
		case errors.Is(err, errWrong):
			w.Header().Set("WWW-Authenticate", "Bearer")
			c.respond.Fail(w, r, http.StatusUnauthorized, "a token for the rooms of a person is needed: trestle token add NAME --as ADAPTER:USER")
		default:
			c.respond.FailInternal(w, r, err)
		}
	}
}

// The bounds of guessing.
const (
	maxWrong   = 10          // wrong credentials from one address
	wrongIn    = time.Minute // within this time
	maxWatched = 4096        // addresses; beyond that all others count as one
)

// A loginLimiter counts wrong credentials by address.
type loginLimiter struct {
	mu    sync.Mutex // guards wrong
	wrong map[netip.Addr]tries
}

type tries struct {
	n     int
	until time.Time // when they are forgotten
}

// closed reports whether nothing from the address is looked at now.
func (l *loginLimiter) closed(addr netip.Addr, at time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.wrong[l.key(addr)]
	return t.n >= maxWrong && at.Before(t.until)
}

// miss counts a wrong credential.
func (l *loginLimiter) miss(addr netip.Addr, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.wrong == nil {
		l.wrong = map[netip.Addr]tries{}
	}
	if len(l.wrong) >= maxWatched {
		for a, t := range l.wrong {
			if at.After(t.until) {
				delete(l.wrong, a)
			}
		}
	}
	addr = l.key(addr)
	t := l.wrong[addr]
	if at.After(t.until) {
		t = tries{until: at.Add(wrongIn)}
	}
	t.n++
	l.wrong[addr] = t
}

// key returns what the address is counted as. l.mu is held.
func (l *loginLimiter) key(addr netip.Addr) netip.Addr {
	if addr.Is6() { // one household has a whole /64
		if p, err := addr.WithZone("").Prefix(64); err == nil {
			addr = p.Addr()
		}
	}
	if _, known := l.wrong[addr]; !known && len(l.wrong) >= maxWatched {
		return netip.Addr{}
	}
	return addr
}
