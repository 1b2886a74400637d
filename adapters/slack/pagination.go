package slack

import (
	"encoding/json"
	"iter"
)

// pageSize is how many things one call for a list asks for.
const pageSize = 200

// A list is one page of what Slack lists: messages or channels.
type list struct {
	Messages []json.RawMessage `json:"messages"`
	Channels []channel         `json:"channels"`
	Metadata struct {
		Cursor string `json:"next_cursor"`
	} `json:"response_metadata"`
}

// pages returns the pages of a list, which get asks for, up to the first error.
// Only the cursor says whether there are more: Slack may leave a page empty. One
// that leads to itself leads nowhere.
func pages(get func(cursor string) (list, error)) iter.Seq2[list, error] {
	return func(yield func(list, error) bool) {
		for cursor := ""; ; {
			page, err := get(cursor)
			next := page.Metadata.Cursor
			if !yield(page, err) || err != nil || next == "" || next == cursor {
				return
			}
			cursor = next
		}
	}
}
