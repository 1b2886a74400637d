package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	waitOfRun     engine.QueryText = `select ` + tables.WaitColumns + ` from waits w where w.cycle = $1`
	redactOptions engine.QueryText = `update waits set options = $2 where cycle = $1`
)

// choicesOf returns the buttons below a message: those of a question, whose values name the
// run that asks, or those by which people rate it.
func choicesOf(run spaces.CycleID, f spaces.RoomEffect) []spaces.ChoiceButton {
	if f.Wait == nil && f.Kind == spaces.ActSend && f.Feedback == spaces.FeedbackButtons {
		return spaces.RatingButtons(f.ID)
	}
	if f.Wait == nil {
		return nil
	}
	var buttons []spaces.ChoiceButton
	for i, o := range f.Wait.Options {
		buttons = append(buttons, spaces.ChoiceButton{Label: o, Value: "ask " + string(run) + " " + strconv.Itoa(i+1)})
	}
	return buttons
}

// AnswerQuestion stores the choice of a person by a button, once, and returns the wait as
// it is then: nil if there is no such question in one of the spaces, or it ended long ago.
// taken is false when it was answered before, or is for another person.
func (r ToolRunStore) AnswerQuestion(ctx context.Context, a spaces.QuestionAnswer) (w *spaces.PendingWait, taken bool, err error) {
	err = r.s.write(ctx, func(ctx context.Context, t *storeTx) (err error) {
		w, taken, err = t.wait.answer(ctx, a)
		return err
	})
	if err != nil {
		return nil, false, fmt.Errorf("answer question of %s: %w", a.Run, err)
	}
	return w, taken, nil
}

func (t *waitTx) answer(ctx context.Context, a spaces.QuestionAnswer) (w *spaces.PendingWait, taken bool, err error) {
	w, err = engine.FirstRow(ctx, t, waitOfRun, []any{string(a.Run)}, tables.ScanWait)
	if err != nil || w == nil || !slices.Contains(a.Spaces, w.Space) || a.Choice < 1 || a.Choice > len(w.Options) {
		return nil, false, err
	}
	if w.Outcome == "" && engine.ToMillis(w.Due) <= t.SharedMillis(a.At) {
		w.Outcome = spaces.WaitTimeout // the next claim stores it
	}
	if w.Outcome != "" || len(w.Who) > 0 && !w.Awaits(a.Who) {
		return w, false, nil
	}
	_, err = t.settle(ctx, w.Space, a.At, func(open *spaces.PendingWait) []spaces.WaitAnswer {
		if open.Cycle != a.Run {
			return nil
		}
		return []spaces.WaitAnswer{{Who: a.Who, Outcome: spaces.WaitReplied, Choice: a.Choice}}
	})
	return w, true, err
}

// closeAnswered has a question with options say who answered it, and how.
func (t *waitTx) closeAnswered(ctx context.Context, w *spaces.PendingWait, at time.Time) error {
	if len(w.Options) == 0 || w.Outcome != spaces.WaitReplied {
		return nil
	}
	a := w.Answers[len(w.Answers)-1]
	who, _, err := tables.EntityByID(ctx, t, a.Who)
	if err != nil {
		return err
	}
	name := cmp.Or(spaces.PlainText(who.Name), "A person")
	if a.Choice > 0 {
		return t.closeQuestion(ctx, *w, name+" chose: "+w.Options[a.Choice-1], at)
	}
	return t.closeQuestion(ctx, *w, name+" answered in words.", at)
}

// closeQuestion has a question with options say how it ended in place of the options, and
// lose its buttons. A question that was deleted is left alone.
func (t *waitTx) closeQuestion(ctx context.Context, w spaces.PendingWait, outcome string, at time.Time) error {
	if len(w.Options) == 0 {
		return nil
	}
	asked, err := tables.EventByID(ctx, t, w.Message)
	if err != nil || asked == nil {
		return err
	}
	said, _ := asked.Body.(spaces.MessagePosted)
	changes, err := engine.AllRows(ctx, t, lateChanges, []any{string(w.Space), string(spaces.Primary), w.Seq, int64(math.MaxInt64)}, tables.ScanEvent)
	if err != nil {
		return fmt.Errorf("look what became of question %s: %w", w.Message, err)
	}
	for _, e := range changes {
		if b, ok := e.Body.(spaces.MessageDeleted); ok && b.Target == w.Message {
			return nil
		}
		if b, ok := e.Body.(spaces.MessageEdited); ok && b.Target == w.Message {
			said.Text = b.Text
		}
	}
	return t.edit(ctx, spaces.OutsideMessage{Agent: w.Mind.Agent, At: at, Effect: spaces.RoomEffect{
		Kind: spaces.ActEdit, Space: w.Space, Thread: w.Thread, ID: spaces.EventID(t.newID()), Target: w.Message,
		Text: strings.TrimSuffix(said.Text, spaces.OptionList(w.Options)) + "\n\n" + outcome, Chain: spaces.CausalChain{Cause: w.Message, Root: w.Root, Depth: w.Depth},
		Expires: at.Add(withdrawTTL),
	}})
}

// editAs stores a change of a message by its agent that no cycle decided.
func (t *storeTx) editAs(ctx context.Context, m spaces.OutsideMessage) error {
	k := stepTx{storeTx: t, mind: spaces.Mind{Agent: m.Agent}, commit: spaces.StepCommit{At: m.At}}
	return k.storeEffect(ctx, m.Effect)
}

// redactOptions removes deleted words from what a run had people choose from.
func (t *frameTx) redactOptions(ctx context.Context, id spaces.CycleID, redact func(string) string) error {
	w, err := engine.FirstRow(ctx, t, waitOfRun, []any{string(id)}, tables.ScanWait)
	if err != nil || w == nil {
		return err
	}
	kept := slices.Clone(w.Options)
	for i := range kept {
		kept[i] = redact(kept[i])
	}
	if slices.Equal(kept, w.Options) {
		return nil
	}
	return t.Run(ctx, redactOptions, string(id), engine.EncodeList(kept))
}
