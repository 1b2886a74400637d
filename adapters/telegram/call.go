package telegram

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/httpx"
)

// call makes one request and reads its result as a T. A nil error means that
// Telegram accepted the call and the result is whole; any other outcome is an
// [*adapters.Error].
func call[T any](ctx context.Context, c *Client, method string, params tgbotapi.Params, limit time.Duration) (T, error) {
	result, _, err := callSeen[T](ctx, c, method, params, limit)
	return result, err
}

// callSeen is call for those who want to look at an answer that was no answer.
func callSeen[T any](ctx context.Context, c *Client, method string, params tgbotapi.Params, limit time.Duration) (T, httpx.CallOutcome, error) {
	return request[T](ctx, c, method, params["offset"], limit, func(bot *tgbotapi.BotAPI) (*tgbotapi.APIResponse, error) {
		return bot.MakeRequest(method, params)
	})
}

// request makes the request that send asks of the library, and reads its result.
func request[T any](ctx context.Context, c *Client, method, offset string, limit time.Duration, send func(*tgbotapi.BotAPI) (*tgbotapi.APIResponse, error)) (T, httpx.CallOutcome, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	traced, written := adapters.TraceWritten(ctx)
	traced = crashPoints(traced, method, offset)

	var seen httpx.CallOutcome
	bot := tgbotapi.BotAPI{Token: tokenPlace, Client: c.exchange(traced, &seen)}
	bot.SetAPIEndpoint(c.endpoint)
	resp, err := send(&bot)
	seen.Written = written.Load()

	var result T
	if err == nil {
		err = json.Unmarshal(resp.Result, &result)
	}
	if err != nil {
		return result, seen, c.judge(method, seen, err)
	}
	return result, seen, nil
}

// exchange returns the library's client for one call: it carries ctx, which the
// library cannot.
func (c *Client) exchange(ctx context.Context, seen *httpx.CallOutcome) httpx.RoundTripFunc {
	return func(r *http.Request) (*http.Response, error) { return seen.Take(c.http.Do(r.WithContext(ctx))) }
}

// tokenPlace represents the token in every URL but the one on the wire. It is
// what an error that quotes the URL shows.
const tokenPlace = "***"

// client returns the HTTP client for o: the token is put in at the last step.
func client(o Options) *http.Client {
	usual := httpx.Transport()
	usual.DialContext, usual.DisableCompression = crashable(usual.DialContext), true
	c := httpx.Client(o.HTTPClient, usual)
	if o.Around != nil {
		c.Transport = o.Around(c.Transport)
	}
	c.Transport = tokenTransport{token: o.Token, next: c.Transport}
	return c
}

// tokenTransport puts the token where tokenPlace is in the path.
type tokenTransport struct {
	token adapters.SecretString
	next  http.RoundTripper
}

// RoundTrip sends a copy of r that carries the token.
func (t tokenTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	address := *r.URL
	if at := strings.LastIndex(address.Path, tokenPlace); at >= 0 {
		address.Path = address.Path[:at] + string(t.token) + address.Path[at+len(tokenPlace):]
		address.RawPath = ""
	}
	sent := r.WithContext(r.Context())
	sent.URL = &address
	return t.next.RoundTrip(sent)
}
