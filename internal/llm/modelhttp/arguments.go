package modelhttp

import (
	"encoding/json"
	"strings"
)

// CallArguments are the arguments of a call that arrive in pieces. The zero value has none.
type CallArguments struct {
	all     strings.Builder
	last    string // piece of all
	growing bool   // last begins with the piece before
}

// Add adds a piece. Some endpoints begin with an empty object, send all that came so far in
// each piece, or repeat the whole at the end, perhaps written otherwise.
func (a *CallArguments) Add(piece string) {
	if strings.HasPrefix(piece, "{") && a.all.Len() > 1 {
		switch all := a.Whole(); {
		case all == "{}":
			a.all.Reset()
		case IsObject(all) && IsObject(WholeText(piece, true)):
			return
		}
	}
	a.growing = piece != "" && strings.HasPrefix(piece, a.last)
	a.last = piece
	a.all.WriteString(piece)
}

// IsEmpty reports whether none have come.
func (a *CallArguments) IsEmpty() bool { return a.all.Len() == 0 }

// Text returns the pieces as they came, joined.
func (a *CallArguments) Text() string { return a.all.String() }

// SoFar returns what has arrived, without the beginning of a character at its end.
func (a *CallArguments) SoFar() string { return WholeText(a.all.String(), false) }

// Whole returns the arguments after their last piece; "" for none.
func (a *CallArguments) Whole() string {
	all := WholeText(a.all.String(), true)
	if a.growing && len(a.last) < a.all.Len() && !IsObject(all) {
		if last := WholeText(a.last, true); IsObject(last) {
			return last
		}
	}
	return all
}

// IsObject reports whether text is one JSON object.
func IsObject(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "{") && json.Valid([]byte(text))
}
