package server

import (
	"context"
	"fmt"
	"maps"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/spaces"
)

// apply puts a configuration in force while everything runs. What is only read at a start stays
// as it is until the next one; see [config.Config.Over]. After a failure it may be called
// again: each of its steps may be repeated.
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

// replaceConfig puts next in force, with its rooms and who may talk in them.
func (am *AccountManager) replaceConfig(ctx context.Context, next *config.Config) error {
	am.Opening.Lock()
	defer am.Opening.Unlock()
	am.Current.Store(next)
	am.settings.Clear()
	am.tools.Reload(next)
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

// ingressOptionsOf returns who may talk on a connected account.
func (am *AccountManager) ingressOptionsOf(ctx context.Context, j connectedAccount, local map[spaces.SpaceID][]spaces.AgentID) (activity.IngressOptions, error) {
	if j.adapter == LocalName {
		return am.localIngressOptions(local), nil
	}
	return am.ingressOptions(ctx, j.adapter, j.account)
}
