package server

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/activity/media"
	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/store/engine"
)

// An accountConn is the connection of one account, with what the health report needs and a way
// to end it.
type accountConn struct {
	*activity.AccountConnection
	name    string
	adapter adapters.Adapter
	entry   config.AdapterEntry // it was made from; none for the terminal
	leave   chan struct{}       // closed when it shall not be served any more
	gone    chan struct{}       // closed when nothing serves it any more

	other     atomic.Pointer[engine.WriterProcess] // the process that serves the account; nil: this one, or none
	collector atomic.Pointer[media.FileFetcher]    // of the files of its messages; nil before it has joined, or for good
}

// newConnection returns the connection of an account; join runs whenever it has connected.
func (am *AccountManager) newConnection(name string, ad adapters.Adapter, join activity.OnConnect) *accountConn {
	return &accountConn{
		AccountConnection: activity.NewConnection(ad, am.border, join, am.connectionOptions(name)),
		name:              name, adapter: ad, leave: make(chan struct{}), gone: make(chan struct{}),
	}
}

// connectionOptions returns the options of an account's connection.
func (am *AccountManager) connectionOptions(name string) activity.ConnectionOptions {
	o := am.Times[name]
	o.Name, o.Logger = name, am.Log
	if name != LocalName {
		o.History = am.border
	}
	return o
}

// firstOutcome waits until the account has connected, or returns why it has not.
func (l *accountConn) firstOutcome(ctx context.Context) error {
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	late := time.After(firstJoin)
	for {
		select {
		case <-l.Joined():
			return nil
		case <-l.leave:
			return errors.New("not served any more")
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-late:
			return errors.New("not connected yet; trying on")
		case <-look.C:
			if l.other.Load() != nil {
				return errSkipped
			}
			if st := l.Status(); st.State != activity.ConnConnected && st.Reason != "" {
				return errors.New(st.Reason)
			}
		}
	}
}

// An accountSet holds the connections that exist now: the terminal's first, the others in the
// order in which they were added.
type accountSet struct {
	now   atomic.Pointer[[]*accountConn] // replaced whole
	added chan *accountConn              // to be served from now on; nil where only the terminal is
}

// all returns the connections; the caller must not change the slice.
func (u *accountSet) all() []*accountConn {
	if now := u.now.Load(); now != nil {
		return *now
	}
	return nil
}

// set replaces the connections. Only one goroutine may call it: the one that starts the
// process, then the one that applies a changed configuration.
func (u *accountSet) set(lines []*accountConn) { u.now.Store(&lines) }

// openAccount prepares the connection of a configured account and returns it, or nil for an
// entry that cannot run, which becomes a fault.
func (am *AccountManager) openAccount(a config.AdapterEntry) *accountConn {
	if a.Misconfigured {
		return nil
	}
	ad, err := am.NewAdapter(a)
	if err == nil {
		err = am.webhooks.add(ad)
	}
	if err != nil {
		am.addFault(adapterEntry(a), err)
		return nil
	}
	l := am.newConnection(a.Name, ad, am.joinPlatform(a.Name, ad, am.unpaced(a)))
	l.entry = a
	am.conns.set(append(slices.Clip(am.conns.all()), l))
	return l
}

// adapterEntry returns the key of an account in the configuration.
func adapterEntry(a config.AdapterEntry) string { return "adapters." + a.Name }

// serveAccount runs an account's connection until ctx is done or the account is removed. It
// waits while another process serves the account.
func (am *AccountManager) serveAccount(ctx context.Context, l *accountConn) error {
	defer close(l.gone)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		return am.runExclusive(ctx, AccountThing(l.name), l.standBy, func(ctx context.Context) error {
			l.other.Store(nil)
			return l.Run(ctx)
		})
	})
	g.Go(func() error { return am.fetchFiles(ctx, l) })
	g.Go(func() error { return am.registerCommands(ctx, l) })
	g.Go(func() error {
		select {
		case <-l.leave:
			cancel()
		case <-ctx.Done():
		}
		return nil
	})
	return g.Wait()
}

// serveAdded serves accounts that are added after the start, until ctx is done.
func (am *AccountManager) serveAdded(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for {
		select {
		case <-ctx.Done():
			return g.Wait()
		case l := <-am.conns.added:
			g.Go(func() error { return am.serveAccount(ctx, l) })
		}
	}
}

// closeRemoved closes the connections whose entries were removed or changed, and returns when
// their work in progress has ended.
func (am *AccountManager) closeRemoved(ctx context.Context, next *config.Config) error {
	var stay, gone []*accountConn
	for _, l := range am.conns.all() {
		if l.name == LocalName || slices.ContainsFunc(next.Adapters, func(a config.AdapterEntry) bool { return sameAccount(a, l.entry) }) {
			stay = append(stay, l)
		} else {
			gone = append(gone, l)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	am.conns.set(stay)
	for _, l := range gone {
		am.webhooks.drop(l.adapter)
		close(l.leave)
		am.Log.Info("account is not served any more as it was", "adapter", l.name)
	}
	for _, l := range gone {
		select {
		case <-l.gone:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		am.forgetAccount(l)
	}
	return nil
}

// sameAccount reports whether two entries are served alike. Who may talk there is not compared:
// it is read anew with every message.
func sameAccount(a, b config.AdapterEntry) bool {
	a.Admit = b.Admit
	return a == b
}

// forgetAccount removes the account of a closed connection from those that are connected.
func (am *AccountManager) forgetAccount(l *accountConn) {
	am.Opening.Lock()
	defer am.Opening.Unlock()
	account := l.Status().Account
	am.joined = slices.DeleteFunc(am.joined, func(j connectedAccount) bool { return j.adapter == l.name && j.account == account })
	own := slices.DeleteFunc(slices.Clone(am.accounts()), func(a adapters.BotAccount) bool { return a.Key() == account })
	am.own.Store(&own)
}

// openAdded opens the configured accounts that have no connection yet. Earlier faults of their
// entries are cleared.
func (am *AccountManager) openAdded(ctx context.Context) error {
	if am.conns.added == nil {
		return nil
	}
	for _, a := range am.Config().Adapters {
		if am.connectionOf(a.Name) != nil {
			continue
		}
		am.clearFault(adapterEntry(a))
		l := am.openAccount(a)
		if l == nil {
			continue
		}
		select {
		case am.conns.added <- l:
			am.Log.Info("account is served from now on", "adapter", l.name)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}
