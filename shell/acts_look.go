package shell

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/spaces"
)

// maxRead is the most lines one look shows.
const maxRead = 200

type enterSpace struct {
	Space string `json:"space" jsonschema:"id of the space, such as s2"`
}

func (a enterSpace) perform(s *stepContext) toolResult {
	room, out := s.room(a.Space)
	if room == nil {
		return out
	}
	s.active = room.ID()
	s.view.Active = room.ID()
	return s.done(map[string]any{"spaceId": s.short(room), "spaceName": hud.CleanName(room.Name())})
}

type view struct {
	What string `json:"what"`
}

func (view) values() map[string][]string {
	return map[string][]string{"what": {"spaces", "members", "plans", "notes"}}
}

func (a view) perform(s *stepContext) toolResult {
	switch a.What {
	case "spaces":
		return s.shown(hud.SpacesText(s.view))
	case "members":
		room, out := s.room("")
		if room == nil {
			return out
		}
		return s.shown(hud.MembersText(s.view, room.ID()))
	case "plans":
		text, refs, _ := hud.ObjectText(s.view, string(spaces.PlansObject), "")
		return s.shown(text, refs)
	case "notes":
		return s.shown(hud.NotesText(s.view))
	}
	return s.deny("unknown_view", "There is no such view.", "view takes spaces, members, plans or notes.")
}

type readMessages struct {
	Space  string `json:"space,omitempty" jsonschema:"default: the active space"`
	Limit  int    `json:"limit,omitempty" jsonschema:"how many lines; default 50"`
	Before string `json:"before,omitempty" jsonschema:"id of a message: read what came before it"`
}

func (a readMessages) perform(s *stepContext) toolResult {
	if a.Space == "" && s.active == "" {
		return s.deny("no_active_space", "No active space and no spaceId provided.", "Name a space, or enter_space first.")
	}
	room, out := s.looked(a.Space)
	if room == nil {
		return out
	}
	limit := cmp.Or(min(max(a.Limit, 0), maxRead), s.settings.ReadLimit)
	var before int64
	if a.Before != "" {
		m := s.message(room, a.Before)
		if m == nil {
			return s.noMessage(a.Before)
		}
		before = m.Seq
	}
	return s.shown(hud.ReadLines(s.view, room.ID(), before, limit))
}

type search struct {
	Query string `json:"query" jsonschema:"words to look for"`
	Space string `json:"space,omitempty" jsonschema:"only in this space; default: all of yours"`
	Since string `json:"since,omitempty" jsonschema:"only after this date (2026-01-31) or within this time (48h)"`
	Limit int    `json:"limit,omitempty" jsonschema:"how many lines; default 20"`
}

func (a search) perform(s *stepContext) toolResult {
	q := hud.SearchQuery{Text: a.Query, Limit: cmp.Or(min(max(a.Limit, 0), maxRead), 20)}
	if a.Space != "" {
		room, out := s.looked(a.Space)
		if room == nil {
			return out
		}
		q.Space = room.ID()
	}
	if a.Since != "" {
		since, ok := parseSince(a.Since, s.now)
		if !ok {
			return s.deny("bad_since", "since is neither a date nor a duration.", "Write 2026-01-31 or 48h.")
		}
		q.Since = since
	}
	return s.shown(hud.SearchLines(s.view, q))
}

// parseSince reads a date, a time, or a duration before now ("48h", "7d").
func parseSince(text string, now time.Time) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 {
			return now.AddDate(0, 0, -n), true
		}
	}
	d, err := time.ParseDuration(text)
	return now.Add(-d), err == nil && d >= 0
}

type use struct {
	Object string `json:"object"`
	Input  string `json:"input,omitempty" jsonschema:"only entries that hold these words"`
}

func (use) values() map[string][]string {
	return map[string][]string{"object": {"info", "members", "attachments", "agent_notes", "goals", "memories", "plans", "context_manager", "capabilities"}}
}

func (a use) perform(s *stepContext) toolResult {
	if a.Object == "capabilities" {
		return s.shown(prompt("capabilities.v1"), nil)
	}
	text, refs, ok := hud.ObjectText(s.view, a.Object, a.Input)
	if a.Object == "memories" {
		text += "\n\n" + prompt("memory.v1")
	}
	if !ok {
		return s.deny("unknown_object", "There is no such object here.", "use takes info, members, attachments, agent_notes, goals, memories, plans or context_manager.")
	}
	return s.shown(text, refs)
}
