package server

import (
	"context"
	"path/filepath"

	"github.com/trestle-bridge/trestle/activity/media"
	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/store/blobs"
	"github.com/trestle-bridge/trestle/spaces"
)

// FilesFolder is where the files of messages are kept, within the data folder.
const FilesFolder = "attachments"

// collect fetches the files that an account's messages carry, from when it has
// connected until ctx is done.
func (p *Components) collect(ctx context.Context, l *accountConn) error {
	if !p.fetches(l.name) {
		return nil
	}
	select {
	case <-ctx.Done():
		return nil
	case <-l.Joined():
	}
	limits := p.Config().SettingsFor("", "").Attachments
	c := media.NewFileFetcher(l.Status().Account, l.adapter.(adapters.FileDownloader), p.border, p.files, media.FileFetcherOptions{
		MaxFile: int64(limits.MaxMB) << 20, MaxAll: int64(limits.KeepMB) << 20, Notify: p.ringAccounts, Logger: p.Log.With("adapter", l.name),
	})
	l.collector.Store(c)
	return c.Run(ctx)
}

// fetches reports whether the files of an adapter's messages are fetched.
func (p *Components) fetches(adapter string) bool {
	l := p.lineOf(adapter)
	if l == nil || p.files == nil || !p.Config().SettingsFor("", "").Attachments.Fetch {
		return false
	}
	_, can := l.adapter.(adapters.FileDownloader)
	return can
}

// lineOf returns the line of an adapter, or nil.
func (p *Components) lineOf(adapter string) *accountConn {
	for _, l := range p.lineup.all() {
		if l.name == adapter {
			return l
		}
	}
	return nil
}

// ringFor returns the notification for work that an adapter's messages cause: for the part that
// fetches their files, and to minds, which come last: of those who were woken here,
// the last one runs first.
func (p *Components) ringFor(adapter string) func([]spaces.PendingWork) {
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
func (p *Components) ringMinds(ws []spaces.PendingWork) {
	if p.Config().HasRole(config.RoleMinds) {
		p.shell.Ring(ws)
	}
}

// ringAccounts tells connections that their outbox has something new, and the worker for
// voices that there may be one.
func (p *Components) ringAccounts(accounts []string) {
	if s := p.scribe.Load(); s != nil {
		s.Ring()
	}
	for _, a := range accounts {
		p.ringAccount(a)
	}
}

// openFiles opens the folder of files. Without it the rest runs, and no files are
// fetched.
func (p *Components) openFiles() {
	folder, err := blobs.Open(filepath.Join(p.Config().Data, FilesFolder))
	if err != nil {
		p.Log.Error("files are not fetched", "error", err)
		return
	}
	p.files = folder
	if p.Store.Process() == "" {
		return
	}
	if p.folder, err = folder.Mark(p.Mint); err != nil {
		p.Log.Error("other processes cannot tell whether they share the folder of files", "error", err)
	}
}

// sweep takes the bytes of forgotten files off the disk until ctx is done.
func (p *Components) sweep(ctx context.Context) error {
	if p.files == nil {
		return nil
	}
	return media.NewBlobCollector(p.border, p.files, p.Log).Run(ctx)
}
