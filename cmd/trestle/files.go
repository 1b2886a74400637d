package main

import (
	"context"
	"path/filepath"

	"github.com/trestle-bridge/trestle/activity/media"
	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/store/blobs"
	"github.com/trestle-bridge/trestle/spaces"
)

// filesFolder is where the files of messages are kept, within the data folder.
const filesFolder = "attachments"

// collect fetches the files that an account's messages carry, from when it has
// connected until ctx is done.
func (p *components) collect(ctx context.Context, l *accountConn) error {
	if !p.fetches(l.name) {
		return nil
	}
	select {
	case <-ctx.Done():
		return nil
	case <-l.Joined():
	}
	limits := p.config().SettingsFor("", "").Attachments
	c := media.NewFileFetcher(l.Status().Account, l.adapter.(adapters.FileDownloader), p.border, p.files, media.FileFetcherOptions{
		MaxFile: int64(limits.MaxMB) << 20, MaxAll: int64(limits.KeepMB) << 20, Notify: p.ringAccounts, Logger: p.log.With("adapter", l.name),
	})
	l.collector.Store(c)
	return c.Run(ctx)
}

// fetches reports whether the files of an adapter's messages are fetched.
func (p *components) fetches(adapter string) bool {
	l := p.lineOf(adapter)
	if l == nil || p.files == nil || !p.config().SettingsFor("", "").Attachments.Fetch {
		return false
	}
	_, can := l.adapter.(adapters.FileDownloader)
	return can
}

// lineOf returns the line of an adapter, or nil.
func (p *components) lineOf(adapter string) *accountConn {
	for _, l := range p.lineup.all() {
		if l.name == adapter {
			return l
		}
	}
	return nil
}

// ringFor returns the bell of what an adapter's messages give to do: to whoever
// fetches their files, and to minds, which come last: of those who were woken here,
// the last one runs first.
func (p *components) ringFor(adapter string) func([]spaces.PendingWork) {
	return func(ws []spaces.PendingWork) {
		if l := p.lineOf(adapter); l != nil {
			if c := l.collector.Load(); c != nil {
				c.Ring()
			}
		}
		p.callForMinds(ws)
		p.ringMinds(ws)
	}
}

// ringMinds tells the minds of this process, if it has any.
func (p *components) ringMinds(ws []spaces.PendingWork) {
	if p.config().HasRole(config.RoleMinds) {
		p.shell.Ring(ws)
	}
}

// ringAccounts tells lines that their outbox has something new, and whoever hears
// voices that there may be one.
func (p *components) ringAccounts(accounts []string) {
	if s := p.scribe.Load(); s != nil {
		s.Ring()
	}
	for _, a := range accounts {
		p.ringAccount(a)
	}
}

// openFiles opens the folder of files. Without it the rest runs, and no files are
// fetched.
func (p *components) openFiles() {
	folder, err := blobs.Open(filepath.Join(p.config().Data, filesFolder))
	if err != nil {
		p.log.Error("files are not fetched", "error", err)
		return
	}
	p.files = folder
	if p.store.Process() == "" {
		return
	}
	if p.folder, err = folder.Mark(p.mint); err != nil {
		p.log.Error("other processes cannot tell whether they share the folder of files", "error", err)
	}
}

// sweep takes the bytes of forgotten files off the disk until ctx is done.
func (p *components) sweep(ctx context.Context) error {
	if p.files == nil {
		return nil
	}
	return media.NewBlobCollector(p.border, p.files, p.log).Run(ctx)
}
