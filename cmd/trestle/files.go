package main

import (
	"context"
	"path/filepath"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/store/files"
)

// filesFolder is where the files of messages are kept, within the data folder.
const filesFolder = "attachments"

// collect fetches the files that an account's messages carry, from when it has
// connected until ctx is done.
func (p *parts) collect(ctx context.Context, l *line) error {
	fetcher, ok := l.adapter.(adapters.Fetcher)
	limits := p.config().SettingsFor("", "").Attachments
	if !ok || !limits.Fetch || p.files == nil {
		return nil
	}
	select {
	case <-ctx.Done():
		return nil
	case <-l.joined:
	}
	c := activity.NewCollector(l.Status().Account, fetcher, p.border, p.files, activity.CollectorOptions{
		MaxFile: int64(limits.MaxMB) << 20, MaxAll: int64(limits.KeepMB) << 20, Logger: p.log.With("adapter", l.name),
	})
	return c.Run(ctx)
}

// openFiles opens the folder of files. Without it the rest runs, and no files are
// fetched.
func (p *parts) openFiles() {
	folder, err := files.Open(filepath.Join(p.config().Data, filesFolder))
	if err != nil {
		p.log.Error("files are not fetched", "error", err)
		return
	}
	p.files = folder
}
