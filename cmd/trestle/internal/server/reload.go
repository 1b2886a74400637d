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
func (am *AccountManager) apply(ctx context.Context, next *config.Config) error {
	before := am.allServerDefaults()
	next = next.KeepStartValues(am.Config())
	if err := am.closeRemoved(ctx, next); err != nil {
		return fmt.Errorf("let go of accounts: %w", err)
	}
	if err := am.replaceConfig(ctx, next); err != nil {
		return err
	}
	if !maps.EqualFunc(before, am.allServerDefaults(), sameRooms) {
		am.reopenServers(ctx)
	}
	return am.openAdded(ctx)
}

// replaceConfig makes next the configuration that counts, and the rooms and those who
// may talk in them what it says.
func (am *AccountManager) replaceConfig(ctx context.Context, next *config.Config) error {
	am.Opening.Lock()
	defer am.Opening.Unlock()
	am.Current.Store(next)
	am.settings.Clear()
	am.shell.SetAgents(am.agents())
	local, err := am.openConfigured(ctx)
	if err != nil {
		return fmt.Errorf("open the configured rooms: %w", err)
	}
	for _, j := range am.joined {
		o, err := am.ingressOptionsOf(ctx, j, local)
		if err != nil {
			return err
		}
		j.in.Reconfigure(o)
	}
	am.mapping.Forget()
	if err := am.closeUnconfigured(ctx); err != nil {
		return fmt.Errorf("take out what is not configured any more: %w", err)
	}
	return nil
}

// ingressOptionsOf says who may talk on a connected account.
func (am *AccountManager) ingressOptionsOf(ctx context.Context, j connectedAccount, local map[spaces.SpaceID][]spaces.AgentID) (activity.IngressOptions, error) {
	if j.adapter == LocalName {
		return am.localIngressOptions(local), nil
	}
	return am.ingressOptions(ctx, j.adapter, j.account)
}
