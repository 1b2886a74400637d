package server

import (
	"context"
	"errors"
	"io"
	"path/filepath"

	"github.com/trestle-bridge/trestle/activity/media"
	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/store/blobs"
	"github.com/trestle-bridge/trestle/spaces"
)

// FilesFolder is the folder for files of messages, within the data folder.
const FilesFolder = "attachments"

// fetchFiles fetches the files of an account's messages, from the first connection until ctx is
// done.
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

// connectionOf returns the connection of an adapter, or nil.
func (cs *connectionSet) connectionOf(adapter string) *accountConn {
	for _, l := range cs.conns.all() {
		if l.name == adapter {
			return l
		}
	}
	return nil
}

// notifyFor returns the function that notifies of work that an adapter's messages cause: first
// the fetcher of their files, then the minds, of which the one that was woken last runs first.
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

// notifyMinds notifies the minds of this process, if it runs any.
func (as *agentSet) notifyMinds(ws []spaces.PendingWork) {
	if as.Config().HasRole(config.RoleMinds) {
		as.shell.Ring(ws)
	}
}

// notifyAccounts notifies connections that their outbox may have changed, and the transcription
// worker that there may be a voice message.
func (fm *fileManager) notifyAccounts(accounts []string) {
	if s := fm.voices.Load(); s != nil {
		s.Ring()
	}
	for _, a := range accounts {
		fm.notifyAccount(a)
	}
}

// openFiles opens the folder of files. If it cannot be opened, the process runs without
// fetching files.
func (fm *fileManager) openFiles() {
	folder, err := blobs.Open(filepath.Join(fm.Config().Data, FilesFolder))
	if err != nil {
		fm.Log.Error("files are not fetched", "error", err)
		return
	}
	fm.files = folder
	switch changed, err := folder.KeepPrivate(); {
	case err != nil:
		fm.Log.Warn("other users can read the files that people posted", "error", err)
	case changed:
		fm.Log.Warn("other users could read the files that people posted; now their owner alone can", "dir", filepath.Join(fm.Config().Data, FilesFolder))
	}
	if fm.Store.Process() == "" {
		return
	}
	if fm.folder, err = folder.Mark(fm.Mint); err != nil {
		fm.Log.Error("other processes cannot tell whether they share the folder of files", "error", err)
	}
}

// openUpload opens a file that was uploaded in a browser, by its hash.
func (fm *fileManager) openUpload(_ context.Context, hash string) (io.ReadCloser, error) {
	if fm.files == nil {
		return nil, errors.New("the folder of files is not open")
	}
	return fm.files.Take(hash)
}

// removeUnused deletes files that no message refers to any more, until ctx is done.
func (fm *fileManager) removeUnused(ctx context.Context) error {
	if fm.files == nil {
		return nil
	}
	return media.NewBlobCollector(fm.border, fm.files, fm.Log).Run(ctx)
}
