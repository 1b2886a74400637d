package hud

import (
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/spaces"
)

// WaitOver returns the turn that tells the end of a wait as the result of the call
// that asked (BLU-19):
//
//	RESULT call_7: replied, of what you asked #o3 in s1. Max (agent) replied #a9; Zoe (agent) silent ← TRIGGER
//
// What was answered stands in the INBOX that follows, and is not repeated.
func (v *View) WaitOver(w *spaces.Wait) spaces.TranscriptTurn {
	b := append(append([]byte("RESULT "), callName(w.Call)...), ": "...)
	b = append(b, word(string(w.Outcome))...)
	b = v.appendAsked(append(b, ", of what you asked "...), w)
	s := v.Seat(w.Space)
	for i, a := range w.Answers {
		if i == 0 {
			b = append(b, ". "...)
		} else {
			b = append(b, "; "...)
		}
		if s != nil && a.Who != "" {
			b = append(s.Room.appendSpeaker(b, a.Who, v.me()), ' ')
		}
		b = append(b, word(string(a.Outcome))...)
		if s == nil {
			continue
		}
		if m := s.Room.Chat.Find(a.Event); a.Event != "" && m != nil {
			b = appendShort(append(b, ' '), m.Seq)
		}
	}
	if left := w.Missing(); len(left) > 0 && s != nil {
		b = append(b, ". No answer of "...)
		b = s.Room.appendPeople(b, left, v.me())
	}
	return spaces.TranscriptTurn{Role: spaces.RoleUser, Text: string(append(b, triggerMark...))}
}

// callName returns the id of a call as it may stand in a line: ids come from models.
func callName(id string) string {
	return clip(strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}, id), 40)
}

// appendAsked names a question and where it stands.
func (v *View) appendAsked(dst []byte, w *spaces.Wait) []byte {
	dst = appendShort(dst, w.Seq)
	if s := v.Seat(w.Space); s != nil {
		dst = append(append(dst, " in "...), s.Short...)
	}
	return dst
}

// appendWait appends what the agent waits for, as one of its runs (BLU-50).
func (v *View) appendWait(dst []byte, w *spaces.Wait) []byte {
	dst = v.appendAsked(append(dst, "- waiting_reply to "...), w)
	dst = append(dst, ", from "...)
	switch left, s := w.Missing(), v.Seat(w.Space); {
	case len(left) > 0 && s != nil:
		dst = s.Room.appendPeople(dst, left, v.me())
	case w.People:
		dst = append(dst, "a person"...)
	default:
		dst = append(dst, "anybody"...)
	}
	return append(w.Due.AppendFormat(append(dst, ", until "...), clock), '\n')
}

// appendPeople appends names with commas between.
func (r *Room) appendPeople(dst []byte, who []spaces.EntityID, self spaces.EntityID) []byte {
	for i, id := range slices.Compact(slices.Clone(who)) {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = r.appendSpeaker(dst, id, self)
	}
	return dst
}
