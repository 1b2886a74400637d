package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// strangers is what 2,000 connections of nobody take in memory: to the console and to the
// address for calls of platforms, each with a request that is not finished.
func strangers(ctx context.Context, b *bench) error {
	const many = 2000
	console, err := freeAddress(ctx)
	if err != nil {
		return err
	}
	hooks, err := freeAddress(ctx)
	if err != nil {
		return err
	}
	var idle, peak float64
	held := 0
	err = b.with(ctx, worldOptions{ledger: -1, keep: -1, platforms: []string{onSlackCalling}, console: console, hooks: hooks}, trestle, func(_ *world, s *subject) error {
		var err error
		if idle, err = s.rested(ctx); err != nil {
			return err
		}
		const long = 1 << 20
		part := strings.Repeat("x", long-1)
		asks := []struct{ address, text string }{
			{console, "POST /login HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 1048576\r\n\r\n" + part},
			{hooks, fmt.Sprintf("POST /slack/events HTTP/1.1\r\nHost: x\r\nX-Slack-Request-Timestamp: %d\r\nX-Slack-Signature: v0=%064d\r\nContent-Length: %d\r\n\r\n%s", time.Now().Unix(), 0, long, part)},
			{console, "GET /health HTTP/1.1\r\nHost: x\r\nX-Filler: " + part[:12<<10]},
			{hooks, "POST /slack/events HTTP/1.1\r\nHost: x\r\nX-Filler: " + part[:12<<10]},
		}
		var all sync.WaitGroup
		defer all.Wait()
		going, stop := context.WithCancel(ctx)
		defer stop()
		opened := make(chan bool, many)
		for n := range many {
			all.Go(func() { opened <- hold(going, asks[n%len(asks)].address, asks[n%len(asks)].text) })
		}
		for end := time.Now().Add(8 * time.Second); time.Now().Before(end); {
			now, err := s.resident()
			if err != nil {
				return err
			}
			peak = max(peak, now)
			for len(opened) > 0 {
				if <-opened {
					held++
				}
			}
			time.Sleep(50 * time.Millisecond)
		}
		return healthy(ctx, console)
	})
	if err != nil {
		return err
	}
	b.add(fmt.Sprintf("memory under %d connections of strangers", many), "<= idle + 100 MB", held == many && peak <= idle+100,
		fmt.Sprintf("idle %.1f MB; %d connected", idle, held), "%.1f MB, %.1f more", peak, peak-idle)
	return nil
}

// freeAddress returns an address of this machine that nothing listens on.
func freeAddress(ctx context.Context) (string, error) {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return ln.Addr().String(), ln.Close()
}

// hold connects, writes as much of a request as is taken and keeps the connection until ctx
// is done or the other side ends it. It reports at once whether it connected.
func hold(ctx context.Context, address, text string) bool {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	context.AfterFunc(ctx, func() { _ = c.Close() })
	go func() { _, _ = io.WriteString(c, text) }() // it ends with the connection
	return true
}

// healthy returns why a console does not answer.
func healthy(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 10*time.Second, errors.New("the console does not answer beside strangers"))
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/health", http.NoBody)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return errors.Join(err, context.Cause(ctx))
	}
	return answer.Body.Close()
}
