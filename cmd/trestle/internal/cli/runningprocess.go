package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/control"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/internal/config"
)

// server returns the configuration and the process that serves its data folder, nil
// where none does. A file that was spoilt while that process runs changes nothing of it
// (ECOSYSTEM 4): the process still answers, and the configuration is nil.
func (p *CLI) server(ctx context.Context) (*config.Config, *control.Client, error) {
	conf, err := p.load()
	if err != nil {
		c, running := p.stillServed(ctx, err)
		if !running {
			return nil, nil, err
		}
		return nil, c, nil
	}
	if c, running := control.DialSocket(ctx, control.SocketPath(conf)); running {
		return conf, c, nil
	}
	return conf, nil, storeopen.CheckAccess(conf)
}

// running returns the process that serves the data folder.
func (p *CLI) running(ctx context.Context) (*control.Client, error) {
	conf, c, err := p.server(ctx)
	if err == nil && c == nil {
		err = &apperr.Error{What: "no process serves this data folder", Where: conf.Data, Remedy: "start it with trestle run", Code: apperr.TryAgain}
	}
	return c, err
}

// get reads into a what the process that serves the data folder has at a path.
func (p *CLI) get(ctx context.Context, path string, a any) error {
	c, err := p.running(ctx)
	if err != nil {
		return err
	}
	return c.Get(ctx, path, a)
}

// post has the process that serves the data folder do what q asks for.
func (p *CLI) post(ctx context.Context, path string, q, a any) error {
	c, err := p.running(ctx)
	if err != nil {
		return err
	}
	return c.Post(ctx, path, q, a)
}

// stillServed returns the process that goes on with what it read before the
// configuration became unusable for the reason err, and says so once.
func (p *CLI) stillServed(ctx context.Context, err error) (*control.Client, bool) {
	invalid, ok := errors.AsType[*config.InvalidError](err)
	if !ok {
		return nil, false
	}
	conf, _ := p.load()
	if conf == nil {
		return nil, false
	}
	c, running := control.DialSocket(ctx, control.SocketPath(conf))
	if running && !p.warned {
		p.warned = true
		w := p.hidden().Writer(p.Err)
		config.WriteFaults(w, invalid.Text, invalid.Errors)
		fmt.Fprint(w, "The process that runs goes on with what it read before, and answers:\n\n")
	}
	return c, running
}

// despite asks the running process for path where err says that the configuration
// cannot be used; any other err stays as it is.
func (p *CLI) despite(ctx context.Context, path string, a any, err error) error {
	c, running := p.stillServed(ctx, err)
	if !running {
		return err
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, control.BaseURL+path, nil)
	if err != nil {
		return err
	}
	resp, err := c.Client.Do(q)
	if err != nil {
		return &apperr.Error{What: "the running process does not answer: " + err.Error(), Where: c.Socket, Remedy: "see its log", Code: apperr.TryAgain}
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("read the answer of the running process: %w", err)
	}
	return control.DecodeAnswer(path, resp.StatusCode, body, a)
}
