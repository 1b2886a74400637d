package redis

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/trestle-bridge/trestle/internal/pubsub"
)

const (
	takePatience = 250 * time.Millisecond // a send waits for this answer
	takePause    = time.Second            // after a failure the server is not asked for so long
)

// take keeps for each budget when it will be whole again, in microseconds of the
// server's clock, and how long it is held. What lies further ahead than any taking
// leads to is the work of a clock that went back, and is forgotten.
const take = `local t = redis.call('TIME')
local now, patience, wait, whole = t[1] * 1000000 + t[2], tonumber(ARGV[1]), 0, {}
for i = 1, #KEYS / 2 do
	local every, burst = tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])
	local at, reach = tonumber(redis.call('GET', KEYS[2 * i - 1]) or 0), burst * every
	if at < now or at > now + reach + patience + every then at = now end
	whole[i] = at + every
	wait = math.max(wait, at + every - reach - now)
	local held, left = tonumber(redis.call('GET', KEYS[2 * i]) or 0), redis.call('PTTL', KEYS[2 * i])
	if left > 0 and left <= held then wait = math.max(wait, left * 1000) end
end
if wait > patience then return {wait, 0} end
for i, at in ipairs(whole) do
	redis.call('SET', KEYS[2 * i - 1], string.format('%.0f', at), 'PX', math.ceil((at - now) / 1000) + 1000)
end
return {wait, 1}`

var (
	takeScript = redis.NewScript(take)

	errPause = errors.New("the server did not answer a moment ago")
)

var _ pubsub.RateLimiter = (*Client)(nil)

// Take implements [notify.Treasurer]. The server has a quarter of a second to answer;
// after a failure it is not asked for a second.
func (c *Client) Take(ctx context.Context, patience time.Duration, budgets ...pubsub.RateLimit) (wait time.Duration, taken bool, err error) {
	keys := make([]string, 0, 2*len(budgets))
	args := make([]any, 1, 1+2*len(budgets))
	args[0] = patience.Microseconds()
	for _, b := range budgets {
		keys = append(keys, c.key("pace:"+b.Key), c.key("held:"+b.Key))
		args = append(args, b.Every.Microseconds(), max(b.Burst, 1))
	}
	err = c.spend(ctx, func(ctx context.Context) error {
		got, err := takeScript.Run(ctx, c.quick, keys, args...).Int64Slice()
		if err == nil && len(got) != 2 {
			err = errors.New("the script answers something else")
		}
		if err == nil {
			wait, taken = time.Duration(got[0])*time.Microsecond, got[1] == 1
		}
		return err
	})
	return max(wait, 0), taken, err
}

// Hold implements [notify.Treasurer].
func (c *Client) Hold(ctx context.Context, key string, d time.Duration) error {
	return c.spend(ctx, func(ctx context.Context) error {
		return c.quick.Set(ctx, c.key("held:"+key), d.Milliseconds(), d).Err()
	})
}

// spend asks the server for something that a send waits for.
func (c *Client) spend(ctx context.Context, ask func(ctx context.Context) error) error {
	if since := c.failed.Load(); since != nil && time.Since(*since) < takePause {
		return errPause
	}
	limit, cancel := context.WithTimeout(ctx, takePatience)
	defer cancel()
	err := ask(limit)
	switch {
	case ctx.Err() != nil:
		return err // it is the caller who goes
	case err != nil:
		c.failed.Store(new(time.Now()))
	}
	c.saw(pacing, err)
	return err
}
