package jobs

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/trestle-bridge/trestle/internal/textformat"
)

// ProgressFormat is how progress is shown.
type ProgressFormat int

// The forms of progress.
const (
	Line  ProgressFormat = iota // one line, drawn again at most four times a second: for terminals
	Lines                       // a plain line every ten seconds and at each tenth: for pipes
	JSON                        // one object for each change: for programs
)

// How often a job is shown at most.
const (
	redraw = time.Second / 4
	remark = 10 * time.Second
)

// A ProgressPrinter shows one job as it goes on. It is not safe for concurrent use.
type ProgressPrinter struct {
	w    io.Writer
	form ProgressFormat
	late time.Duration // how long nothing is said at first
	from time.Time     // when it was first asked to show something

	shown time.Time
	tenth int
	state JobState
	width int // of the line that is in the terminal
}

// NewShower returns a shower that writes to w.
func NewShower(w io.Writer, form ProgressFormat) *ProgressPrinter {
	return &ProgressPrinter{w: w, form: form, tenth: -1}
}

// Late has the shower say nothing within the first second, for work behind which
// there is an answer; JSON is written all the same. It returns s.
func (s *ProgressPrinter) Late() *ProgressPrinter {
	s.late = time.Second
	return s
}

// Show writes the job's progress at most once an interval, and a change of its state
// always. Errors of the writer are ignored.
func (s *ProgressPrinter) Show(j Job, now time.Time) {
	if s.from.IsZero() {
		s.from = now
	}
	if s.form != JSON && now.Sub(s.from) < s.late {
		return
	}
	switch s.form {
	case JSON:
		_ = json.NewEncoder(s.w).Encode(Shown(j))
		return
	case Line:
		if j.State == s.state && now.Sub(s.shown) < redraw {
			return
		}
		text := Text(j, now)
		fmt.Fprint(s.w, "\r"+text+strings.Repeat(" ", max(0, s.width-utf8.RuneCountInString(text))))
		s.width = utf8.RuneCountInString(text)
		if j.State.Over() || j.State == Paused {
			fmt.Fprintln(s.w)
			s.width = 0
		}
	case Lines:
		percent, _ := j.Percent()
		if j.State == s.state && now.Sub(s.shown) < remark && percent/10 == s.tenth {
			return
		}
		s.tenth = percent / 10
		fmt.Fprintln(s.w, Text(j, now))
	}
	s.shown, s.state = now, j.State
}

// A JobSnapshot is a job as programs are shown it: all of it, and what follows.
type JobSnapshot struct {
	Job
	Percent *int     `json:"percent"`     // null when the total is not known
	ETA     *float64 `json:"eta_seconds"` // null when not known
}

// Shown returns the snapshot of a job.
func Shown(j Job) JobSnapshot {
	s := JobSnapshot{Job: j}
	if percent, ok := j.Percent(); ok {
		s.Percent = &percent
	}
	if eta, ok := j.ETA(); ok {
		s.ETA = new(eta.Seconds())
	}
	return s
}

// barWidth is how many cells a bar has.
const barWidth = 26

// Text is a job in one line.
func Text(j Job, now time.Time) string {
	parts := []string{strings.TrimSpace(j.Kind + " " + j.Subject)}
	if percent, ok := j.Percent(); ok {
		parts = append(parts, bar(j.Done, j.Total)+fmt.Sprintf("  %d %%  %s / %s %s", percent, textformat.Thousands(j.Done), textformat.Thousands(j.Total), j.Unit))
	} else {
		parts = append(parts, strings.TrimSpace(textformat.Thousands(j.Done)+" "+j.Unit))
	}
	if j.State != Running {
		parts = append(parts, string(j.State))
	} else if j.Rate > 0 {
		parts = append(parts, fmt.Sprintf("%.0f/s", j.Rate))
	}
	if eta, ok := j.ETA(); ok {
		parts = append(parts, "≈ "+duration(eta))
	}
	if j.Note != "" {
		note := j.Note
		if wait := j.Until.Sub(now); wait > 0 {
			note += " for " + duration(wait)
		}
		parts = append(parts, note)
	}
	if j.Error != "" {
		parts = append(parts, j.Error)
	}
	return strings.Join(parts, "   ")
}

func bar(done, total int64) string {
	eighths := int(min(max(done, 0), total) * barWidth * 8 / total)
	text := strings.Repeat("█", eighths/8)
	cells := eighths / 8
	if rest := eighths % 8; rest > 0 {
		text += string([]rune("▏▎▍▌▋▊▉")[rest-1])
		cells++
	}
	return text + strings.Repeat("·", barWidth-cells)
}

// duration writes a length of time for people, in seconds or coarser.
func duration(d time.Duration) string {
	d = d.Round(time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d m %d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %d m", int(d.Hours()), int(d.Minutes())%60)
}
