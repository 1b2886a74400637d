package shell

import (
	"context"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/hud/recall"
)

const (
	maxSearched    = 50              // files that a search looks into, the newest
	searchPatience = 4 * time.Second // for reading them
)

// searchFiles finds what the files of messages say to the searches of a step. Files that
// cannot be read, or are not here yet, say nothing.
func (c *cycle) searchFiles(ctx context.Context, st *stepContext, calls []parsedCall) error {
	for i := range calls {
		a, ok := calls[i].deed.(search)
		if !ok || c.shell.Texts == nil || a.Query == "" || a.Kind != "" && a.Kind != string(recall.LookFiles) {
			continue
		}
		found, err := c.passages(ctx, c.postedFiles(st, a), a.Query)
		if err != nil {
			return err
		}
		if st.outside.passages == nil {
			st.outside.passages = map[string][]hud.FilePassage{}
		}
		st.outside.passages[calls[i].ID] = found
	}
	return nil
}

// postedFiles returns the files that a search covers.
func (c *cycle) postedFiles(st *stepContext, a search) []hud.PostedFile {
	c.mind.mu.Lock()
	defer c.mind.mu.Unlock()
	defer c.mind.across(st.view)()
	probe := *st // a call that is wrong is refused when it is performed
	q, out := a.query(&probe)
	if !out.ok {
		return nil
	}
	return hud.PostedFiles(st.view, q, maxSearched)
}

// passages returns what files say to a query.
func (c *cycle) passages(ctx context.Context, files []hud.PostedFile, query string) (found []hud.FilePassage, err error) {
	limited, cancel := context.WithTimeout(ctx, searchPatience)
	defer cancel()
	for _, f := range files {
		text, err := c.shell.Texts.Text(limited, f.Account, f.File)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if limited.Err() != nil {
			break
		}
		if err != nil {
			continue
		}
		if p, ok := hud.FindPassage(f, text.Text, query); ok {
			found = append(found, p)
		}
	}
	return found, nil
}
