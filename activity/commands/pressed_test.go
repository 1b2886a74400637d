package commands

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// A desk is an ApprovalStore with one call that waits, and one question.
type desk struct {
	run   spaces.ToolRun
	wait  *spaces.PendingWait
	taken bool
	err   error

	decided []spaces.ToolDecision
	chosen  []spaces.QuestionAnswer
}

func (d *desk) RunByCode(context.Context, string) (*spaces.ToolRun, error) { return &d.run, nil }

func (d *desk) DecideRun(_ context.Context, x spaces.ToolDecision) (*spaces.ToolRun, bool, error) {
	d.decided = append(d.decided, x)
	return &d.run, true, nil
}

func (d *desk) RateAnswer(_ context.Context, p spaces.RatingPress) (spaces.AnswerRating, bool, error) {
	return p.Rating, true, nil
}

func (d *desk) AnswerQuestion(_ context.Context, a spaces.QuestionAnswer) (*spaces.PendingWait, bool, error) {
	d.chosen = append(d.chosen, a)
	return d.wait, d.taken, d.err
}

func (d *desk) EntityOf(context.Context, spaces.PlatformIdentity) (spaces.EntityID, error) {
	return "kai", nil
}

// A plainRole gives everyone the role of a member.
type plainRole struct{ RoleLookup }

func (plainRole) Role(context.Context, spaces.PlatformIdentity) (spaces.AuthorityLevel, error) {
	return spaces.OfMember, nil
}

func TestWhoPressedIsToldWhatCameOfIt(t *testing.T) {
	now := time.Now()
	over := func(o spaces.WaitOutcome) *spaces.PendingWait { return &spaces.PendingWait{Outcome: o} }
	for name, c := range map[string]struct {
		desk desk
		want string
	}{
		"taken":           {desk{wait: over(spaces.WaitReplied), taken: true}, ""},
		"no question":     {desk{}, noButton},
		"another's":       {desk{wait: over("")}, "That question is for another person."},
		"answered before": {desk{wait: over(spaces.WaitReplied)}, "That was answered already."},
		"too late":        {desk{wait: over(spaces.WaitTimeout)}, "That came too late: the question is over."},
		"not stored":      {desk{err: errors.New("disk full")}, notStored},
	} {
		a := &CommandHandler{Roles: plainRole{}, Approvals: &c.desk}
		got := a.RunPressed(t.Context(), "ask run-1 2", CommandRequest{At: now}, []spaces.ChatPlacement{{Space: "s"}}, slog.New(slog.DiscardHandler))
		if got != c.want {
			t.Errorf("%s: told %q, want %q", name, got, c.want)
		}
		if want := (spaces.QuestionAnswer{Run: "run-1", Who: "kai", Choice: 2, At: now}); len(c.desk.chosen) != 1 || c.desk.chosen[0].Run != want.Run || c.desk.chosen[0].Choice != 2 || c.desk.chosen[0].Who != "kai" {
			t.Errorf("%s: stored %+v, want %+v", name, c.desk.chosen, want)
		}
	}
}

// What a tool asks for is chosen by whom it is called for, by a number of its options; a
// plain yes is none.
func TestWhatAToolAsksForIsChosen(t *testing.T) {
	asks := spaces.ToolRun{
		Asker: "kai", Space: "s", State: spaces.ToolAsked, ToolApproval: spaces.ToolApproval{Code: "K7QDX", Approvers: []string{spaces.ApproverRequester}},
		Input: spaces.ToolInput{Question: "Which?", Options: []string{"small", "medium"}},
	}
	plain := asks
	plain.Input = spaces.ToolInput{}
	others := asks
	others.Asker = "zoe"
	for name, c := range map[string]struct {
		run    spaces.ToolRun
		words  string
		want   string
		choice int
	}{
		"an option":          {asks, "choose K7QDX 2", "", 2},
		"no such option":     {asks, "choose k7qdx 3", "Write `choose K7QDX` and the number of an option.", 0},
		"no option":          {asks, "choose K7QDX", "Write `choose K7QDX` and the number of an option.", 0},
		"a plain yes":        {asks, "approve K7QDX", "Write `choose K7QDX` and the number of an option.", 0},
		"nothing to choose":  {plain, "choose K7QDX 1", "There is nothing to choose: approve or deny it.", 0},
		"another's question": {others, "choose K7QDX 1", "You may not decide about that: who asked for it may.", 0},
	} {
		d := &desk{run: c.run}
		a := &CommandHandler{Roles: plainRole{}, Approvals: d}
		got := a.RunPressed(t.Context(), c.words, CommandRequest{}, []spaces.ChatPlacement{{Space: "s"}}, slog.New(slog.DiscardHandler))
		if got != c.want || (len(d.decided) == 1) != (c.choice > 0) {
			t.Errorf("%s: told %q and decided %+v, want %q", name, got, d.decided, c.want)
		}
		if len(d.decided) == 1 && (d.decided[0].Choice != c.choice || d.decided[0].Outcome != "Chosen: medium. Decided by a person.") {
			t.Errorf("%s: decided %+v", name, d.decided[0])
		}
	}
}
