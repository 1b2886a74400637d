package replay

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"
)

// A FileLine line is one line of a conversation file, or one question about it.
type FileLine struct {
	ID      string     `json:"id"`
	Space   string     `json:"space"`
	Session string     `json:"session,omitempty"` // for people; silence is what begins a new span
	At      replayTime `json:"at"`
	From    string     `json:"from"`
	Text    string     `json:"text"`
	ReplyTo *string    `json:"reply_to,omitempty"`
	Thread  string     `json:"thread,omitempty"`
	Edits   string     `json:"edits,omitempty"` // the line whose words this one replaces
}

// A replayTime is a moment as conversation files write it: ISO, with or without a
// zone, or a number of seconds or milliseconds since 1970. Without a zone it is UTC.
type replayTime struct{ time.Time }

// layouts are the ISO forms a file may use.
var layouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly}

// UnmarshalJSON reads any of the forms; nothing and null are the zero time.
func (t *replayTime) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		text = string(data)
	}
	if text == "" || text == "null" {
		return nil
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		if n < 0 || n > 1e14 {
			return fmt.Errorf("%s is no moment", text)
		}
		if n < 1e11 {
			n *= 1000
		}
		t.Time = time.UnixMilli(int64(n)).UTC()
		return nil
	}
	for _, layout := range layouts {
		if at, err := time.Parse(layout, text); err == nil && at.Year() > 0 && at.Year() < 10_000 {
			t.Time = at.UTC()
			return nil
		}
	}
	return fmt.Errorf("%q is no moment", text)
}

// longestRetold bounds one line of a file.
const longestRetold = 4 << 20

// ReadLines reads a file of lines or questions. What has no time gets that
// of the line before it.
func ReadLines(in io.Reader) ([]FileLine, error) {
	rows := bufio.NewScanner(in)
	rows.Buffer(nil, longestRetold)
	var all []FileLine
	seen := map[[2]string]bool{}
	for n := 1; rows.Scan(); n++ {
		row := bytes.TrimSpace(bytes.TrimPrefix(rows.Bytes(), []byte("\ufeff")))
		if len(row) == 0 {
			continue
		}
		var l FileLine
		if err := json.Unmarshal(row, &l); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		key := [2]string{l.Space, l.ID}
		switch {
		case l.ID == "" || l.Space == "" || l.From == "":
			return nil, fmt.Errorf("line %d: id, space and from are needed", n)
		case seen[key]:
			return nil, fmt.Errorf("line %d: there is another %q in %q", n, l.ID, l.Space)
		}
		seen[key] = true
		if l.At.IsZero() && len(all) > 0 {
			l.At = all[len(all)-1].At
		}
		all = append(all, l)
	}
	if errors.Is(rows.Err(), bufio.ErrTooLong) {
		return nil, fmt.Errorf("a line is longer than %d bytes", longestRetold)
	}
	return all, rows.Err()
}

// SortByTime sorts by time; lines of one moment keep their order.
func SortByTime(all []FileLine) []FileLine {
	slices.SortStableFunc(all, func(a, b FileLine) int { return a.At.Compare(b.At.Time) })
	return all
}
