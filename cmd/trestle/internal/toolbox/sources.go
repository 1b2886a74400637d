package toolbox

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/mcpclient"
)

// A sourceMaker opens the source of one entry of the configuration.
type sourceMaker struct {
	name  string
	entry any // of the configuration
	open  func() (toolSource, error)
}

// sourcesOf returns how the sources of a configuration are opened, in its order.
func (b *Box) sourcesOf(c *config.Config) []sourceMaker {
	var all []sourceMaker
	for _, s := range c.Tools.Servers {
		if !s.Misconfigured {
			all = append(all, sourceMaker{s.Key, s, func() (toolSource, error) { return b.openServer(s) }})
		}
	}
	for _, t := range c.Tools.Commands {
		if !t.Misconfigured {
			all = append(all, sourceMaker{t.Key, t, func() (toolSource, error) { return b.openCommand(t) }})
		}
	}
	if w := c.Tools.Web; w.Fetch || w.SearchKind != "" {
		all = append(all, sourceMaker{config.WebTools, w, func() (toolSource, error) { return b.openWeb(w) }})
	}
	if len(c.Tools.Skills) > 0 {
		all = append(all, sourceMaker{config.SkillTools, c.Tools.Skills, func() (toolSource, error) { return b.openSkills(c.Tools.Skills) }})
	}
	return all
}

// Servers describes the tool servers, in the order of the configuration.
func (b *Box) Servers() []ServerReport {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []ServerReport
	for _, s := range b.sources {
		if server, ok := s.(*serverSource); ok {
			all = append(all, server.reportNow())
		}
	}
	return all
}

// AwaitServers waits until every tool server has been asked for its tools once, and returns
// an error that names those that did not answer. It needs [Box.Start].
func (b *Box) AwaitServers(ctx context.Context) error {
	b.mu.Lock()
	sources := slices.Clone(b.sources)
	b.mu.Unlock()
	var errs []error
	for _, s := range sources {
		server, ok := s.(*serverSource)
		if !ok {
			continue
		}
		select {
		case <-server.tried:
			if now := server.server.State(); now.Problem != "" {
				errs = append(errs, fmt.Errorf("%s: %s", server.of.Key, now.Problem))
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return errors.Join(errs...)
}

// Skills returns how many skills there are, and an error that names the folders that are
// none.
func (b *Box) Skills() (loaded int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.sources {
		if k, ok := s.(*skillSource); ok {
			return k.loaded()
		}
	}
	return 0, nil
}

// Accept accepts the tools of a server as they are now, and returns what was other than
// before.
func (b *Box) Accept(name string) ([]mcpclient.ToolChange, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.sources {
		if server, ok := s.(*serverSource); ok && server.of.Key == name {
			return server.accept()
		}
	}
	return nil, fmt.Errorf("there is no tool server %q", name)
}
