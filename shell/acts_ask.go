package shell

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/spaces"
)

// Bounds of a question with options.
const (
	minOptions = 2
	maxOptions = 8  // buttons below a message, on every platform
	maxOption  = 75 // bytes of a button's label, on every platform
	minAsk     = time.Minute
	maxAsk     = 7 * 24 * time.Hour
)

type ask struct {
	Question string   `json:"question"`
	Options  []string `json:"options" jsonschema:"2 to 8"`
	Who      string   `json:"who,omitempty" jsonschema:"who may choose; default: anyone"`
	Timeout  string   `json:"timeout,omitempty" jsonschema:"default: 1d"`
}

func (a ask) perform(s *stepContext) toolResult {
	room, out := s.room("")
	if room == nil {
		return out
	}
	wait := spaces.WaitSpec{Due: s.now.Add(approvalTime)}
	if wait.Options, out = a.choices(s); wait.Options == nil {
		return out
	}
	if a.Timeout != "" {
		after, ok := readSpan(a.Timeout)
		if !ok || after < minAsk || after > maxAsk {
			return s.deny("bad_timeout", "timeout is a length of time from 1m to 7d.", "Such as 30m, 2h or 1d.")
		}
		wait.Due = s.now.Add(after)
	}
	people := slices.DeleteFunc(slices.Clone(room.Members()), func(m spaces.SpaceMember) bool { return m.Kind != spaces.Human })
	if len(people) == 0 {
		return s.deny("nobody_here", "No person is here who could choose.", "Ask with send_message.")
	}
	question := strings.TrimSpace(a.Question)
	if name := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(a.Who), "@")); name != "" {
		who := namedAt(name, people)
		if who == "" {
			return s.deny("unknown_person", "There is no person "+hud.Quote(name)+" here.", "look members shows who is here; leave who out to ask anyone.")
		}
		wait.Who = []spaces.EntityID{who}
		if !slices.Contains(ParseMentions(question, people), who) {
			i := slices.IndexFunc(people, func(m spaces.SpaceMember) bool { return m.ID == who })
			question = "@" + hud.CleanName(people[i].Name) + " " + question
		}
	}
	text, out := s.speech(room, question+spaces.OptionList(wait.Options))
	if text == "" {
		return out
	}
	e := s.effect(spaces.ActSend, room)
	e.Text = text
	s.speaks(&e, room, "")
	return s.await(e, room, wait)
}

// choices returns the options of a question, or a denial.
func (a ask) choices(s *stepContext) ([]string, toolResult) {
	const form = "Give 2 to 8 different options of a few words each."
	if strings.TrimSpace(a.Question) == "" {
		return nil, s.deny("empty_text", "The question is empty.", "")
	}
	var options []string
	for _, o := range a.Options {
		o = strings.Join(strings.Fields(o), " ")
		switch {
		case o == "" || slices.ContainsFunc(options, func(has string) bool { return strings.EqualFold(has, o) }):
			return nil, s.deny("bad_options", "An option is empty or there twice.", form)
		case len(o) > maxOption:
			return nil, s.deny("bad_options", fmt.Sprintf("The option %s is longer than %d bytes.", hud.Quote(o), maxOption), form)
		}
		options = append(options, o)
	}
	if len(options) < minOptions || len(options) > maxOptions {
		return nil, s.deny("bad_options", fmt.Sprintf("There are %d options.", len(options)), form)
	}
	return options, toolResult{}
}
