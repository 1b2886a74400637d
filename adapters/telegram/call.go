package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/trestle-bridge/trestle/adapters"
)

// maxAnswer bounds one answer of the server. A full poll of a hundred updates
// with their replies stays far below it.
const maxAnswer = 64 << 20

// answer is what was seen of one call, as far as it came.
type answer struct {
	written    bool
	status     int
	retryAfter string // the header, for answers that are not Telegram's own
	whole      []byte // the body, once it was read to its end
}

// call makes one request and reads its result as a T. A nil error means that
// Telegram accepted the call and the result is whole; any other outcome is an
// [*adapters.Error].
func call[T any](ctx context.Context, c *Client, method string, params tgbotapi.Params, limit time.Duration) (T, error) {
	result, _, err := callSeen[T](ctx, c, method, params, limit)
	return result, err
}

// callSeen is call for those who want to look at an answer that was no answer.
func callSeen[T any](ctx context.Context, c *Client, method string, params tgbotapi.Params, limit time.Duration) (T, answer, error) {
	return request[T](ctx, c, method, params["offset"], limit, func(bot *tgbotapi.BotAPI) (*tgbotapi.APIResponse, error) {
		return bot.MakeRequest(method, params)
	})
}

// request makes the request that send asks of the library, and reads its result.
func request[T any](ctx context.Context, c *Client, method, offset string, limit time.Duration, send func(*tgbotapi.BotAPI) (*tgbotapi.APIResponse, error)) (T, answer, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	traced, written := adapters.Trace(ctx)
	traced = crashPoints(traced, method, offset)

	var seen answer
	bot := tgbotapi.BotAPI{Token: tokenPlace, Client: c.exchange(traced, &seen)}
	bot.SetAPIEndpoint(c.endpoint)
	resp, err := send(&bot)
	seen.written = written.Load()

	var result T
	if err == nil {
		err = json.Unmarshal(resp.Result, &result)
	}
	if err != nil {
		return result, seen, c.judge(method, seen, err)
	}
	return result, seen, nil
}

// doer makes a function the library's HTTP client.
type doer func(*http.Request) (*http.Response, error)

// Do calls f.
func (f doer) Do(r *http.Request) (*http.Response, error) { return f(r) }

// exchange returns the library's client for one call: it carries ctx, which the
// library cannot, and reads the body whole, so that the connection is reused
// and an answer that is not JSON can still be looked at.
func (c *Client) exchange(ctx context.Context, seen *answer) doer {
	return func(r *http.Request) (*http.Response, error) {
		resp, err := c.http.Do(r.WithContext(ctx))
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		seen.status = resp.StatusCode
		seen.retryAfter = resp.Header.Get("Retry-After")
		body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
		if err != nil {
			return nil, err
		}
		if len(body) > maxAnswer {
			return nil, fmt.Errorf("the answer is longer than %d bytes", maxAnswer)
		}
		seen.whole = body
		resp.Body = io.NopCloser(bytes.NewReader(body))
		return resp, nil
	}
}
