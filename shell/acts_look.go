package shell

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/hud/recall"
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

type look struct {
	What string `json:"what"`
	Of   string `json:"of,omitempty" jsonschema:"a space; default: the active one"`
	Find string `json:"find,omitempty" jsonschema:"words it holds"`
}

// lookObjects are what can be looked at, and the objects of a mind or room they are; the
// others have a text of their own.
var lookObjects = map[string]string{
	"members": "members", "info": "info", "files": "attachments", "notes": "agent_notes", "goals": "goals", "memories": "memories",
	"reminders": "plans", "bookmarks": "context_manager",
}

func (look) values() map[string][]string {
	return map[string][]string{"what": {"spaces", "members", "info", "files", "reminders", "memories", "goals", "notes", "bookmarks", "capabilities"}}
}

func (a look) perform(s *stepContext) toolResult {
	if a.Of != "" {
		room, out := s.room(a.Of)
		if room == nil {
			return out
		}
		active := s.view.Active
		s.view.Active = room.ID()
		defer func() { s.view.Active = active }()
	}
	if a.What == "spaces" {
		return s.shown(hud.SpacesText(s.view))
	}
	return use{Object: cmp.Or(lookObjects[a.What], a.What), Input: a.Find}.perform(s)
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
	Before string `json:"before,omitempty" jsonschema:"id of a message"`
	Since  string `json:"since,omitempty" jsonschema:"a date (2026-01-31) or age (48h)"`
	Until  string `json:"until,omitempty" jsonschema:"the same"`
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
	since, until, out := between(s, a.Since, a.Until)
	if !out.ok {
		return out
	}
	return s.shown(hud.ReadLines(s.view, hud.ReadQuery{Space: room.ID(), Before: before, Since: since, Until: until, Limit: limit}))
}

type search struct {
	Query string `json:"query,omitempty" jsonschema:"words to look for; may be left out with kind or who"`
	Kind  string `json:"kind,omitempty" jsonschema:"only lines that are this; questions are those without an answer"`
	Who   string `json:"who,omitempty" jsonschema:"only lines of this person"`
	Space string `json:"space,omitempty" jsonschema:"default: all of yours"`
	Since string `json:"since,omitempty" jsonschema:"a date (2026-01-31) or age (48h)"`
	Until string `json:"until,omitempty" jsonschema:"the same"`
	Limit int    `json:"limit,omitempty" jsonschema:"how many lines; default 20"`
}

// searchKinds are the kinds of line that can be searched for.
var searchKinds = []recall.LookBackKind{recall.LookDecisions, recall.LookQuestions, recall.LookLinks, recall.LookFiles}

func (search) values() map[string][]string {
	kinds := make([]string, len(searchKinds))
	for i, k := range searchKinds {
		kinds[i] = string(k)
	}
	return map[string][]string{"kind": kinds}
}

// query returns what is searched for, or why nothing is.
func (a search) query(s *stepContext) (q hud.SearchQuery, out toolResult) {
	q = hud.SearchQuery{
		Text: strings.TrimSpace(a.Query), Kind: recall.LookBackKind(a.Kind), Who: strings.TrimSpace(a.Who),
		Limit: cmp.Or(min(max(a.Limit, 0), maxRead), 20),
	}
	switch {
	case a.Kind != "" && !slices.Contains(searchKinds, q.Kind):
		return q, s.deny("unknown_kind", "There is no such kind of line.", "Write decisions, questions, links or files, or leave kind out.")
	case q.Who != "" && len(hud.PeopleCalled(s.view, q.Who)) == 0:
		return q, s.deny("unknown_member", "Nobody in your spaces is called that.", "Write the name as lines show it, or look at members.")
	case q.Text == "" && a.Kind == "" && q.Who == "" && a.Since == "":
		return q, s.deny("nothing_to_find", "The search names nothing to look for.", "Write words in query, or a kind, a person in who, or a date in since.")
	}
	if a.Space != "" {
		room, out := s.looked(a.Space)
		if room == nil {
			return q, out
		}
		q.Space = room.ID()
	}
	if q.Since, q.Until, out = between(s, a.Since, a.Until); !out.ok {
		return q, out
	}
	q.Recalled = s.recalled
	return q, out
}

func (a search) perform(s *stepContext) toolResult {
	q, out := a.query(s)
	if !out.ok {
		return out
	}
	text, refs := hud.SearchLines(s.view, q)
	if files, more := hud.RenderPassages(s.outside.passages[s.call]); len(more) > 0 {
		if len(refs) == 0 {
			text = ""
		}
		text, refs = strings.TrimPrefix(text+"\n\n"+files, "\n\n"), append(refs, more...)
	}
	return s.shown(text, refs)
}

// between reads the bounds of what is looked for, by the clocks of the active room. Either
// may be empty.
func between(s *stepContext, since, until string) (from, to time.Time, out toolResult) {
	now := s.now.In(s.clockOf("", s.active))
	var ok bool
	if since != "" {
		if from, ok = parseSince(since, now); !ok {
			return from, to, s.deny("bad_since", "since is neither a date nor a duration.", "Write 2026-01-31 or 48h.")
		}
	}
	if until != "" {
		if to, ok = parseSince(until, now); !ok {
			return from, to, s.deny("bad_until", "until is neither a date nor a duration.", "Write 2026-01-31 or 48h.")
		}
		if len(strings.TrimSpace(until)) == len(time.DateOnly) {
			to = to.AddDate(0, 0, 1) // the day itself counts
		}
	}
	return from, to, toolResult{ok: true}
}

// parseSince reads a date or time in now's location, or a duration before now ("48h",
// "7d").
func parseSince(text string, now time.Time) (time.Time, bool) {
	text = strings.TrimSpace(text)
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, true
	}
	for _, layout := range []string{"2006-01-02 15:04", "2006-01-02T15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
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
		return s.shown(s.prompts.Text("capabilities"), nil)
	}
	text, refs, ok := hud.ObjectText(s.view, a.Object, a.Input)
	if a.Object == "memories" {
		text += "\n\n" + s.prompts.Text("memory")
	}
	if !ok {
		return s.deny("unknown_object", "There is no such object here.", "look takes spaces, members, info, files, reminders, memories, goals, notes, bookmarks or capabilities.")
	}
	return s.shown(text, refs)
}
