package server

import (
	"context"
	"time"

	chatcommands "github.com/trestle-bridge/trestle/activity/commands"
	"github.com/trestle-bridge/trestle/adapters"
)

// The menu is set again a few times where the platform is out of reach.
const (
	menuTries = 5
	menuPause = 30 * time.Second
)

// offer has the platform show the commands to people who type, once the
// account has connected. A failure is ignored.
func (p *Components) offer(ctx context.Context, l *accountConn) error {
	menu, ok := l.adapter.(adapters.CommandMenu)
	if !ok {
		return nil
	}
	select {
	case <-ctx.Done():
		return nil
	case <-l.Joined():
	}
	for range menuTries {
		err := menu.Commands(ctx, chatcommands.CommandMenu())
		if err == nil || ctx.Err() != nil {
			return nil
		}
		p.Log.Warn("menu of commands not set", "adapter", l.name, "error", err)
		if adapters.KindOf(err).Permanent() {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(menuPause):
		}
	}
	return nil
}
