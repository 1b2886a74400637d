package commands

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/spaces"
)

// The commands by which people decide about calls of tools. They are in no menu: the
// request says how to write them.
const (
	CommandApprove = "approve"
	CommandDeny    = "deny"
	CommandChoose  = "choose" // an option that the tool of the call asks for
)

// An ApprovalStore holds the calls of tools that people decide about, and the questions
// that they answer by buttons.
type ApprovalStore interface {
	// RunByCode returns the newest call with a code; nil if there is none.
	RunByCode(ctx context.Context, code string) (*spaces.ToolRun, error)
	// DecideRun stores a decision, once, and returns the call as it is then. decided is
	// false when the call was decided before, or has ended.
	DecideRun(ctx context.Context, d spaces.ToolDecision) (run *spaces.ToolRun, decided bool, err error)
	// AnswerQuestion stores the choice of a person, once, and returns the wait for it as it
	// is then; nil if there is none in these spaces. taken is false when it was answered
	// before, when its time is over, and when it is for another person.
	AnswerQuestion(ctx context.Context, c spaces.QuestionAnswer) (w *spaces.PendingWait, taken bool, err error)
	// RateAnswer stores what a person pressed below a message of an agent, and returns the
	// rating as it is then: empty when the press took it back. ok is false when the message
	// cannot be rated in one of the spaces.
	RateAnswer(ctx context.Context, p spaces.RatingPress) (now spaces.AnswerRating, ok bool, err error)
	// EntityOf returns who an identity is. A person who has said nothing so far, and may
	// have pressed a button only, is stored.
	EntityOf(ctx context.Context, who spaces.PlatformIdentity) (spaces.EntityID, error)
}

// decision is a message that decides about a call: "approve K7QDX", "deny K7QDX", or
// "choose K7QDX 2" where the tool asks for a choice.
var decision = regexp.MustCompile(`(?i)^[/!]?(approve|deny|choose)\s+([a-z2-7]{5})(?:\s+(always|\d))?[.!]?$`)

// parseDecision returns the command of a message that decides about a call, nil of another
// one. It needs no mention: its code names the call.
func parseDecision(text string) *adapters.ChatCommand {
	m := decision.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return nil
	}
	return &adapters.ChatCommand{Name: strings.ToLower(m[1]), Args: strings.TrimSpace(strings.ToUpper(m[2]) + " " + strings.ToLower(m[3]))}
}

// RunPressed does what a person chose by a button, in a chat of the given spaces, and
// returns what that person alone is to be told; empty when the chat sees it.
func (a *CommandHandler) RunPressed(ctx context.Context, value string, q CommandRequest, places []spaces.ChatPlacement, lg *slog.Logger) string {
	if h, ok := spaces.ParseStop(value); ok {
		return a.stopPressed(ctx, h, q, places, lg)
	}
	if chosen := choice.FindStringSubmatch(value); chosen != nil && a.Approvals != nil {
		return a.choose(ctx, spaces.CycleID(chosen[1]), chosen[2], q, places, lg)
	}
	if rated := rating.FindStringSubmatch(value); rated != nil && a.Approvals != nil {
		return a.rate(ctx, spaces.RatingPress{Event: spaces.EventID(rated[1]), Rating: spaces.AnswerRating(rated[2])}, q, places, lg)
	}
	if s, ok := spaces.ParseMissionButton(value); ok && a.Missions != nil {
		return a.missionPressed(ctx, s, q, places, lg)
	}
	if c := parsePairing(value); c != nil && a.Pairings != nil {
		q.Command, q.Args = c.Name, c.Args
		text, done := decidePairing(ctx, a, q, lg)
		if done {
			return "" // the notice says it
		}
		return text
	}
	c := parseDecision(value)
	if c == nil || a.Approvals == nil {
		return noButton
	}
	q.Command, q.Args = c.Name, c.Args
	text, decided := a.decideGuarded(ctx, q, places, lg)
	if decided {
		return ""
	}
	return text
}

// choice is the value of a button below a question: the run that asks, and the option.
var choice = regexp.MustCompile(`^ask (\S+) (\d)$`)

const (
	noButton  = "This button no longer does anything."
	notStored = "I could not do that just now. Please try again in a moment."
)

// rating is the value of a button by which people rate a message.
var rating = regexp.MustCompile(`^rate (\S+) (good|bad)$`)

// What people are told alone who rated a message by a button.
const (
	ratedGood = "Noted: good. Thank you."
	ratedBad  = "Noted: not good. If you reply to that message in the next ten minutes, your words are kept as the reason."
	unrated   = "Taken back."
)

// rate stores how a person rated a message of an agent, and returns what that person alone
// is told.
func (a *CommandHandler) rate(ctx context.Context, p spaces.RatingPress, q CommandRequest, places []spaces.ChatPlacement, lg *slog.Logger) string {
	p.At = q.At
	for _, at := range places {
		p.Spaces = append(p.Spaces, at.Space)
	}
	var now spaces.AnswerRating
	ok := false
	var err error
	if p.Who, err = a.Approvals.EntityOf(ctx, q.Who); err == nil {
		now, ok, err = a.Approvals.RateAnswer(ctx, p)
	}
	switch {
	case err != nil:
		lg.Error("rating not stored", "event", p.Event, "err", err)
		return notStored
	case !ok:
		return noButton
	case now == spaces.RatedGood:
		return ratedGood
	case now == spaces.RatedBad:
		return ratedBad
	}
	return unrated
}

// choose stores what a person chose below a question, and returns what that person alone
// is to be told.
func (a *CommandHandler) choose(ctx context.Context, run spaces.CycleID, option string, q CommandRequest, places []spaces.ChatPlacement, lg *slog.Logger) string {
	c := spaces.QuestionAnswer{Run: run, Choice: int(option[0] - '0'), At: q.At}
	for _, p := range places {
		c.Spaces = append(c.Spaces, p.Space)
	}
	var w *spaces.PendingWait
	var taken bool
	var err error
	if c.Who, err = a.Approvals.EntityOf(ctx, q.Who); err == nil {
		w, taken, err = a.Approvals.AnswerQuestion(ctx, c)
	}
	switch {
	case err != nil:
		lg.Error("choice not stored", "run", run, "err", err)
		return notStored
	case taken:
		return ""
	case w == nil:
		return noButton
	case w.Outcome == "":
		return "That question is for another person."
	case w.Outcome == spaces.WaitReplied:
		return "That was answered already."
	}
	return "That came too late: the question is over."
}

// decideGuarded is decide for a chat of several spaces: a person decides in that of the
// call, if it is among them.
func (a *CommandHandler) decideGuarded(ctx context.Context, q CommandRequest, places []spaces.ChatPlacement, lg *slog.Logger) (text string, decided bool) {
	text, decided, err := a.decide(ctx, q, places)
	if err != nil {
		lg.Error("decision not stored", "args", q.Args, "err", err)
		return notStored, false
	}
	return text, decided
}

// decide stores a person's decision about a call, and returns what comes of it and
// whether it was this decision that counted.
func (a *CommandHandler) decide(ctx context.Context, q CommandRequest, places []spaces.ChatPlacement) (text string, decided bool, err error) {
	code, how, _ := strings.Cut(strings.TrimSpace(q.Args), " ")
	if a.Approvals == nil || code == "" {
		return "Write the code that the request shows, such as `approve K7QDX`.", false, nil
	}
	run, err := a.Approvals.RunByCode(ctx, strings.ToUpper(code))
	if err != nil {
		return "", false, err
	}
	if run == nil {
		return fmt.Sprintf("There is no request %s.", spaces.PlainText(code)), false, nil
	}
	here := slices.ContainsFunc(places, func(p spaces.ChatPlacement) bool { return p.Space == run.Space })
	by, err := a.Approvals.EntityOf(ctx, q.Who)
	if err != nil {
		return "", false, err
	}
	may, err := a.mayDecide(ctx, q, run, by, here)
	if err != nil {
		return "", false, err
	}
	if !may {
		return "You may not decide about that: " + deciders(run) + " may.", false, nil
	}
	d := spaces.ToolDecision{Code: run.Code, By: by, Allow: q.Command != CommandDeny, Always: strings.EqualFold(how, "always"), At: q.At}
	if q.Command == CommandChoose {
		d.Choice, _ = strconv.Atoi(how)
	}
	if wrong := mischosen(run, d, q.Command); wrong != "" {
		return wrong, false, nil
	}
	d.Outcome = outcome(run, d) + " Decided by " + cmp.Or(spaces.PlainText(q.Who.Name), "a person") + "."
	d.Say = !here
	run, decided, err = a.Approvals.DecideRun(ctx, d)
	switch {
	case err != nil || run == nil:
		return "", false, err
	case !decided:
		return tooLate(run), false, nil
	}
	return outcome(run, d), true, nil
}

// mischosen says why a decision cannot be about what the run waits for; empty if it can.
func mischosen(run *spaces.ToolRun, d spaces.ToolDecision, command string) string {
	switch asks := run.Input.Question != ""; {
	case run.State != spaces.ToolAsked || command == CommandDeny:
		return ""
	case asks && (d.Choice < 1 || d.Choice > len(run.Input.Options)):
		return fmt.Sprintf("Write `choose %s` and the number of an option.", run.Code)
	case !asks && command == CommandChoose:
		return "There is nothing to choose: approve or deny it."
	}
	return ""
}

// outcome says what was decided.
func outcome(run *spaces.ToolRun, d spaces.ToolDecision) string {
	tool := "`" + strings.ReplaceAll(run.Tool, "`", "") + "`"
	switch {
	case d.Choice > 0 && d.Choice <= len(run.Input.Options):
		return "Chosen: " + spaces.PlainText(run.Input.Options[d.Choice-1]) + "."
	case d.Allow && d.Always:
		return "Allowed, here always: " + tool + "."
	case d.Allow:
		return "Allowed once: " + tool + "."
	}
	return "No: " + tool + " is not called."
}

// tooLate says why a decision changes nothing.
func tooLate(run *spaces.ToolRun) string {
	switch run.State {
	case spaces.ToolExpired:
		return "That came too late: the request has expired. Ask again if it still matters."
	case spaces.ToolDenied:
		return "That was refused already."
	case spaces.ToolCancelled:
		return "That was cancelled."
	case spaces.ToolAsked, spaces.ToolReady, spaces.ToolRunning, spaces.ToolDone, spaces.ToolFailed, spaces.ToolUnknown:
	}
	return "That was decided already."
}

// mayDecide reports whether a person may decide about a call: who its approvers name, else
// who asked for it, in their own chat, and admins. here is true in a chat of the call's
// space.
func (a *CommandHandler) mayDecide(ctx context.Context, q CommandRequest, run *spaces.ToolRun, who spaces.EntityID, here bool) (bool, error) {
	if who == "" {
		return false, nil
	}
	role, err := a.Roles.Role(ctx, q.Who)
	if err != nil {
		return false, fmt.Errorf("role of who decides: %w", err)
	}
	asked := who == run.Asker
	if len(run.Approvers) == 0 {
		return role >= spaces.OfAdmin || asked && q.Direct && here, nil
	}
	id := q.Who.Platform + ":" + q.Who.User
	if q.Who.Scope != "" {
		id = q.Who.Platform + ":" + q.Who.Scope + "/" + q.Who.User
	}
	return slices.ContainsFunc(run.Approvers, func(name string) bool {
		switch name {
		case spaces.ApproverRequester:
			return asked
		case spaces.ApproverAdmins:
			return role >= spaces.OfAdmin
		case spaces.ApproverOwner:
			return role >= spaces.OfOwner
		}
		return name == id
	}), nil
}

// deciders says who may decide about a call.
func deciders(run *spaces.ToolRun) string {
	if len(run.Approvers) == 0 {
		return "an admin or the owner"
	}
	var names []string
	for _, name := range run.Approvers {
		switch name {
		case spaces.ApproverRequester:
			names = append(names, "who asked for it")
		case spaces.ApproverAdmins:
			names = append(names, "an admin")
		case spaces.ApproverOwner:
			names = append(names, "the owner")
		}
	}
	if len(names) == 0 {
		return "people whom the configuration names"
	}
	return strings.Join(names, " or ")
}
