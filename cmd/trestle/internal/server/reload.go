package server

import (
	"context"
	"fmt"
	"maps"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/spaces"
)

// apply makes a configuration the one that counts while everything runs. What
// only a start reads stays as it is until the next one; see [config.Config.Over].
// When it fails halfway, calling it again goes on: every part of it may be
// repeated.
func (p *Components) apply(ctx context.Context, next *config.Config) error {
	before := p.allServers()
	next = next.KeepStartValues(p.Config())
	if err := p.letGo(ctx, next); err != nil {
		return fmt.Errorf("let go of accounts: %w", err)
	}
	if err := p.refurnish(ctx, next); err != nil {
		return err
	}
	if !maps.EqualFunc(before, p.allServers(), sameRooms) {
		p.reopenServers(ctx)
	}
	return p.hire(ctx)
}

// refurnish makes next the configuration that counts, and the rooms and those who
// may talk in them what it says.
func (p *Components) refurnish(ctx context.Context, next *config.Config) error {
	p.Opening.Lock()
	defer p.Opening.Unlock()
	p.Current.Store(next)
	p.settings.Clear()
	p.shell.SetAgents(p.agents())
	local, err := p.seed(ctx)
	if err != nil {
		return fmt.Errorf("open the configured rooms: %w", err)
	}
	for _, j := range p.joined {
		o, err := p.receptionOf(ctx, j, local)
		if err != nil {
			return err
		}
		j.in.Reconfigure(o)
	}
	p.mapping.Forget()
	if err := p.dismiss(ctx); err != nil {
		return fmt.Errorf("take out what is not configured any more: %w", err)
	}
	return nil
}

// receptionOf says who may talk on a connected account.
func (p *Components) receptionOf(ctx context.Context, j connectedAccount, local map[spaces.SpaceID][]spaces.AgentID) (activity.IngressOptions, error) {
	if j.adapter == LocalName {
		return p.localReception(local), nil
	}
	return p.reception(ctx, j.adapter, j.account)
}
