package spaces

import (
	"strings"
	"time"
)

// A FeedbackMode says how people rate what an agent says in a space.
type FeedbackMode string

// The modes of feedback.
const (
	FeedbackOff       FeedbackMode = "off"
	FeedbackReactions FeedbackMode = "reactions" // by thumbs that they put on it
	FeedbackButtons   FeedbackMode = "buttons"   // also by buttons below it, where the platform has them
)

// An AnswerRating is what a person thinks of a message of an agent.
type AnswerRating string

// The ratings.
const (
	RatedGood AnswerRating = "good"
	RatedBad  AnswerRating = "bad"
)

// AnswerRatings returns all ratings.
func AnswerRatings() []AnswerRating { return []AnswerRating{RatedGood, RatedBad} }

// Emoji returns the reaction by which people give the rating.
func (r AnswerRating) Emoji() string {
	if r == RatedBad {
		return "👎"
	}
	return "👍"
}

// RatingOf returns the rating that a reaction is, in any color of skin; empty for another
// reaction.
func RatingOf(emoji string) AnswerRating {
	switch {
	case strings.HasPrefix(emoji, "👍"), strings.HasPrefix(emoji, "thumbsup"), strings.HasPrefix(emoji, "+1"):
		return RatedGood
	case strings.HasPrefix(emoji, "👎"), strings.HasPrefix(emoji, "thumbsdown"), strings.HasPrefix(emoji, "-1"):
		return RatedBad
	}
	return ""
}

// RatingTime is how long after a bad rating the answer of the same person to the message
// counts as the reason.
const RatingTime = 10 * time.Minute

// A Feedback is the rating of one person for one message of an agent.
type Feedback struct {
	Event  EventID      `json:"event"` // the message
	Who    EntityID     `json:"who"`
	Name   string       `json:"name,omitempty"` // of Who
	Space  SpaceID      `json:"space"`
	Run    CycleID      `json:"run"` // that said it
	Rating AnswerRating `json:"rating"`
	Why    string       `json:"why,omitempty"` // in their words; empty: they gave no reason, or took it back
	At     time.Time    `json:"at"`
}

// A RatingPress is a press of a button by which a person rates a message of an agent. The
// same rating once more takes it back.
type RatingPress struct {
	Event  EventID
	Rating AnswerRating
	Who    EntityID
	Spaces []SpaceID // of the chat with the button
	At     time.Time
}

// RatingButtons returns the buttons below a message by which people rate it.
func RatingButtons(e EventID) (buttons []ChoiceButton) {
	for _, r := range AnswerRatings() {
		buttons = append(buttons, ChoiceButton{Label: r.Emoji(), Value: "rate " + string(e) + " " + string(r)})
	}
	return buttons
}
