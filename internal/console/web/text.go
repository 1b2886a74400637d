package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/jobs"
	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/spaces"
)

// templateFuncs are the functions that templates use. What people wrote goes through
// plain or clip, and through html/template's own escaping after that.
func (site *Site) templateFuncs() template.FuncMap {
	return template.FuncMap{
		"plain": console.Plain, "clip": func(text string, n int) string { return console.ClipLine(console.Plain(text), n) },
		"short": func(id spaces.CycleID) string { return shortID(string(id)) },
		"iso":   func(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") },
		"ago":   func(t time.Time) string { return ago(time.Since(t)) },
		"text":  func(raw json.RawMessage) string { return string(raw) },
		"count": textformat.CountNoun,
		"num":   console.NarrowThousands, "num64": func(n int64) string { return console.NarrowThousands(int(n)) }, "bytes": console.Size,
		"seconds": func(s float64) string { return console.Span(time.Duration(s * float64(time.Second))) },
		"percent": console.Percent[int], "percent64": console.Percent[int64],
		"coded":         coded,
		"markdown":      pageMarkdown,
		"meaning":       func(text string) template.HTML { return pageMarkdown(documentLink.ReplaceAllString(text, "$1")) },
		"next":          func(seq int64) int64 { return seq + 1 },
		"money":         func(v float64) string { return fmt.Sprintf("%.4f", v) },
		"stopClass":     stopClass,
		"deliveryClass": deliveryClass,
		"jobClass":      jobClass,
		"toolClass":     toolClass,
		"missionClass":  missionClass,
		"serverClass":   serverClass,
		"toolState":     func(s spaces.ToolRunState) string { return strings.ReplaceAll(string(s), "_", " ") },
		"args":          readableArgs,
		"millis":        func(ms int64) string { return console.Span(time.Duration(ms) * time.Millisecond) },
		"between":       func(from, to time.Time) string { return console.Span(to.Sub(from)) },
		"more":          func(n int) int { return n - 1 },
		"quiet":         func(until time.Time) bool { return time.Now().Before(until) },
		"left":          func(until time.Time) string { return console.Span(time.Until(until)) },
		"spaceName":     site.names.ofSpace,
		"mindName":      site.names.ofMind,
	}
}

// shortID is the end of an id, which tells ids of one moment apart.
func shortID(id string) string {
	if len(id) > 12 {
		return "…" + id[len(id)-8:]
	}
	return id
}

func ago(d time.Duration) string {
	if d < 0 {
		return "in " + console.Span(-d)
	}
	if d < time.Second {
		return "now"
	}
	return console.Span(d) + " ago"
}

func stopClass(s spaces.StopReason) string {
	switch {
	case s == spaces.StopCompleted, s == spaces.StopSilent:
		return "good"
	case s.Failed():
		return "bad"
	}
	return "calm"
}

func deliveryClass(s spaces.ActionState) string {
	switch s {
	case spaces.ActionSent:
		return "good"
	case spaces.ActionReady, spaces.ActionSending:
		return "calm"
	case spaces.ActionUnknown, spaces.ActionFailed, spaces.ActionExpired, spaces.ActionCancelled:
		return "bad"
	}
	return "calm"
}

func toolClass(s spaces.ToolRunState) string {
	switch s {
	case spaces.ToolDone:
		return "good"
	case spaces.ToolRunning, spaces.ToolAsked:
		return "open"
	case spaces.ToolFailed, spaces.ToolDenied, spaces.ToolExpired, spaces.ToolUnknown:
		return "bad"
	case spaces.ToolReady, spaces.ToolCancelled:
	}
	return "calm"
}

func serverClass(status string) string {
	switch status {
	case "ready":
		return "good"
	case "failing":
		return "bad"
	}
	return "calm"
}

// readableArgs writes the arguments of a call over several lines.
func readableArgs(raw json.RawMessage) string {
	var out bytes.Buffer
	if err := json.Indent(&out, raw, "", "  "); err != nil {
		return string(raw)
	}
	return out.String()
}

func jobClass(s jobs.JobState) string {
	switch s {
	case jobs.Done:
		return "good"
	case jobs.Failed:
		return "bad"
	case jobs.Running:
		return "open"
	case jobs.Ready, jobs.Paused, jobs.Cancelled:
	}
	return "calm"
}

// problemPages is where every code of a problem is explained.
const problemPages = "https://github.com/trestle-bridge/trestle/blob/main/docs/problems.md"

var problemCode = regexp.MustCompile(`TRS-[A-Z][0-9]{2}`)

// coded writes text with a link to the page of each problem code in it.
func coded(text string) template.HTML {
	text = console.Plain(text)
	var out strings.Builder
	from := 0
	for _, at := range problemCode.FindAllStringIndex(text, -1) {
		code := text[at[0]:at[1]]
		out.WriteString(template.HTMLEscapeString(text[from:at[0]]))
		out.WriteString(`<a rel="noreferrer" href="` + problemPages + "#" + strings.ToLower(code) + `">` + code + `</a>`)
		from = at[1]
	}
	out.WriteString(template.HTMLEscapeString(text[from:]))
	return template.HTML(out.String()) //nolint:gosec // everything but the links, which are ours, is escaped
}

// merged returns a query with some of its parameters changed.
func merged(r *http.Request, change map[string]string) string {
	q := maps.Clone(r.URL.Query())
	for name, value := range change {
		q.Set(name, value)
	}
	return r.URL.Path + "?" + q.Encode()
}

func param(name, value string) string {
	if value == "" {
		return ""
	}
	return "&" + name + "=" + value
}

// flags writes the parameters that are set as the command has them.
func flags(get func(string) string, names ...string) string {
	var out strings.Builder
	for _, name := range names {
		if v := get(name); v != "" {
			fmt.Fprintf(&out, " --%s %s", name, v)
		}
	}
	return out.String()
}

// quoted writes words as one argument of a shell.
func quoted(words string) string { return "'" + strings.ReplaceAll(words, "'", `'\''`) + "'" }

func clock(t time.Time) string { return t.UTC().Format("Jan 2 15:04:05") }

func minTime(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
