package storetest

import (
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

var feedbackTests = map[string]func(*testing.T, *world){
	"APersonRatesAMessageOnce":    ratedOnce,
	"WhatMayNotBeRatedIsNotRated": notRateable,
}

// rateable has the agent say something that people may rate so, and returns the room and the
// person who asked.
func (w *world) rateable(mode spaces.FeedbackMode) (room spaces.SpaceID, asked spaces.EntityID) {
	w.t.Helper()
	room = w.family()
	asked = w.say(room, "zoe", "when?").Actor
	wake := w.woken(ada, room)
	c := w.step(wake, 0)
	c.Effect = []spaces.RoomEffect{{Kind: spaces.ActSend, Space: room, ID: "tea", Text: "At five.", Chain: spaces.NextChain(wake.Consumed, "", "tea"), Feedback: mode}}
	w.commit(c)
	w.rest(wake, 1)
	return room, asked
}

// rates has a person press a button below the message.
func (w *world) rates(room spaces.SpaceID, who spaces.EntityID, rating spaces.AnswerRating) (now spaces.AnswerRating, ok bool) {
	w.t.Helper()
	w.now = w.now.Add(time.Second)
	now, ok, err := w.s.Shell.RateAnswer(w.t.Context(), spaces.RatingPress{Event: "tea", Rating: rating, Who: who, Spaces: []spaces.SpaceID{room}, At: w.now})
	w.ok(err)
	return now, ok
}

func ratedOnce(t *testing.T, w *world) {
	room, zoe := w.rateable(spaces.FeedbackButtons)
	for i, c := range []struct{ press, want spaces.AnswerRating }{
		{spaces.RatedGood, spaces.RatedGood},
		{spaces.RatedBad, spaces.RatedBad},
		{spaces.RatedBad, ""},
		{spaces.RatedBad, spaces.RatedBad},
		{spaces.RatedGood, spaces.RatedGood},
		{spaces.RatedGood, ""},
	} {
		if now, ok := w.rates(room, zoe, c.press); !ok || now != c.want {
			t.Errorf("press %d, %s: the rating is %q (%t), want %q", i, c.press, now, ok, c.want)
		}
	}
	w.settleAll(w.due())
}

func notRateable(t *testing.T, w *world) {
	room, zoe := w.rateable(spaces.FeedbackOff)
	if now, ok := w.rates(room, zoe, spaces.RatedGood); ok {
		t.Errorf("it is rated %q where feedback is off", now)
	}
	w.settleAll(w.due())
}
