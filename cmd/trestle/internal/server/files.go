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

// fetchFiles fetches the files that an account's messages carry, from when it has
// connected until ctx is done.
func (fm *fileManager) fetchFiles(ctx context.Context, l *accountConn) error {
	if !fm.fetchesFiles(l.name) {
		return nil
	}
	select {
	case <-ctx.Done():
		return nil
	case <-l.Joined():
	}
	limits := fm.Config().SettingsFor("", "").Attachments
	c := media.NewFileFetcher(l.Status().Account, l.adapter.(adapters.FileDownloader), fm.border, fm.files, media.FileFetcherOptions{
		MaxFile: int64(limits.MaxMB) << 20, MaxAll: int64(limits.KeepMB) << 20, Notify: fm.notifyAccounts, Logger: fm.Log.With("adapter", l.name),
	})
	l.collector.Store(c)
	return c.Run(ctx)
}

// fetchesFiles reports whether the files of an adapter's messages are fetched.
func (fm *fileManager) fetchesFiles(adapter string) bool {
	l := fm.connectionOf(adapter)
	if l == nil || fm.files == nil || !fm.Config().SettingsFor("", "").Attachments.Fetch {
		return false
	}
	_, can := l.adapter.(adapters.FileDownloader)
	return can
}

// connectionOf returns the line of an adapter, or nil.
func (cs *connectionSet) connectionOf(adapter string) *accountConn {
	for _, l := range cs.conns.all() {
		if l.name == adapter {
			return l
		}
	}
	return nil
}

// notifyFor returns the notification for work that an adapter's messages cause: for the part that
// fetches their files, and to minds, which come last: of those who were woken here,
// the last one runs first.
func (cs *connectionSet) notifyFor(adapter string) func([]spaces.PendingWork) {
	return func(ws []spaces.PendingWork) {
		if l := cs.connectionOf(adapter); l != nil {
			if c := l.collector.Load(); c != nil {
				c.Ring()
			}
		}
		cs.sendWorkCalls(ws)
		cs.notifyMinds(ws)
	}
}

// notifyMinds tells the minds of this process, if it has any.
func (as *agentSet) notifyMinds(ws []spaces.PendingWork) {
	if as.Config().HasRole(config.RoleMinds) {
		as.shell.Ring(ws)
	}
}

// notifyAccounts tells connections that their outbox has something new, and the worker for
// voices that there may be one.
func (fm *fileManager) notifyAccounts(accounts []string) {
	if s := fm.voices.Load(); s != nil {
		s.Ring()
	}
	for _, a := range accounts {
		fm.notifyAccount(a)
	}
}

// openFiles opens the folder of files. Without it the rest runs, and no files are
// fetched.
func (fm *fileManager) openFiles() {
	folder, err := blobs.Open(filepath.Join(fm.Config().Data, FilesFolder))
	if err != nil {
		fm.Log.Error("files are not fetched", "error", err)
		return
	}
	fm.files = folder
	if fm.Store.Process() == "" {
		return
	}
	if fm.folder, err = folder.Mark(fm.Mint); err != nil {
		fm.Log.Error("other processes cannot tell whether they share the folder of files", "error", err)
	}
}

// removeUnused takes the bytes of forgotten files off the disk until ctx is done.
func (fm *fileManager) removeUnused(ctx context.Context) error {
	if fm.files == nil {
		return nil
	}
	return media.NewBlobCollector(fm.border, fm.files, fm.Log).Run(ctx)
}
