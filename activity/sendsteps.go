package activity

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/spaces"
)

// postNamespace is where the keys of posts are made; it never changes.
var postNamespace = uuid.MustParse("6f1f6f0e-6c1f-5d0a-9c1b-2f4b1d9f7a10")

// A stepBuilder turns actions into calls to the platform, with whatever the adapter
// can do beyond sending.
type stepBuilder struct {
	account adapters.BotAccount
	adapter adapters.Adapter
	box     Outbox
	o       EgressOptions
	logger  *slog.Logger

	editor      adapters.MessageEditor // nil: the platform cannot
	deleter     adapters.MessageDeleter
	reactor     adapters.ReactionSetter
	typer       adapters.TypingNotifier
	chooser     adapters.ChoiceOfferer
	finder      adapters.DeliveryChecker
	draftShower adapters.DraftShower
	stopper     adapters.Stopper
	fileSender  adapters.FileSender
	private     adapters.PrivateSender
	acks        ackTracker

	personaSender adapters.PersonaSender
	broadcaster   adapters.ThreadBroadcaster
	threader      adapters.ThreadOpener
	statusShower  adapters.StatusShower
}

// A sendStep is one call to the platform on behalf of an action.
type sendStep struct {
	// do makes the call and returns the message it made, if it made one.
	do func(ctx context.Context) (adapters.Receipt, error)
	// repeatable is true when a second copy of the call changes nothing, so that an
	// unknown outcome is simply tried again.
	repeatable bool
	// find looks whether an earlier attempt arrived; nil where that cannot be found out.
	find func(ctx context.Context) (adapters.Receipt, bool, error)
	// file is true when it sends a file and no words.
	file bool
	// gone are the messages that are deleted once it is done, of an action of which it is
	// the last.
	gone []spaces.MessageRef
	// shown is what people may be shown while it waits for its turn; one without
	// text shows nothing.
	shown adapters.OutgoingMessage
}

// steps returns the calls an action takes, in order. They are the same for the
// same action, so that a restart goes on at the step it had reached. A failure
// that is the platform's nature, not the moment's, is an [*adapters.Error].
func (e *stepBuilder) steps(ctx context.Context, a spaces.Action) ([]sendStep, error) {
	switch a.Kind {
	case spaces.ActSend:
		return e.sendSteps(ctx, a)
	case spaces.ActEdit:
		return e.editSteps(ctx, a)
	case spaces.ActDelete:
		return e.deleteSteps(ctx, a)
	case spaces.ActReact:
		return e.reactSteps(ctx, a)
	}
	return nil, unsupported("act", "do "+string(a.Kind))
}

// unsupported is the error for what this platform has no call for.
func unsupported(op, what string) error {
	return &adapters.Error{Kind: adapters.Invalid, Op: op, Err: fmt.Errorf("this platform cannot %s", what)}
}

// missingTarget is the error for a message that is not in the chat.
func missingTarget(op string) error {
	return &adapters.Error{Kind: adapters.NoTarget, Op: op, Err: fmt.Errorf("the message never arrived in this chat")}
}

// sendSteps posts the words part by part, and behind them each file as a message of
// its own: so the words can be edited whatever a platform makes of a caption. A recording of the
// words is the last.
func (e *stepBuilder) sendSteps(ctx context.Context, a spaces.Action) ([]sendStep, error) {
	var parts []string
	unmasked := ""
	if e.chooser != nil {
		a.Text = strings.TrimSuffix(a.Text, spaces.OptionList(labels(a.Choices)))
	}
	if a.Text != "" {
		parts, unmasked = e.parts(a)
	}
	if len(parts)+len(a.Files) == 0 {
		return nil, &adapters.Error{Kind: adapters.Invalid, Op: "send", Err: fmt.Errorf("the message is empty")}
	}
	answered, start, err := e.replyTarget(ctx, a.Account, a.Chat, a.Target)
	if err != nil {
		return nil, fmt.Errorf("find message answered: %w", err)
	}
	people, broadcast, err := e.mentionedPeople(ctx, a, answered)
	if err != nil {
		return nil, err
	}
	var steps []sendStep
	at := e.target(a)
	at.start = start
	outside, masked := e.outsideThread(a, parts, unmasked)
	for i, text := range parts {
		p := adapters.OutgoingMessage{Text: text, Unmasked: unmasked, ReplyTo: answered, Mentions: people, Broadcast: broadcast}
		if e.chooser != nil && i == len(parts)-1 {
			p.Choices = choiceButtons(a.Choices)
		}
		steps = append(steps, e.post(at, i, p))
		if i < len(outside) {
			steps[i] = e.elsewhere(at, steps[i], outside[i], masked)
		}
		masked = ""
		answered, unmasked, broadcast = "", "", false // only the first part answers, names who speaks, and is shown twice
	}
	for _, f := range a.Files {
		s, err := e.sendFile(ctx, at, len(steps), f, answered)
		if err != nil {
			return nil, err
		}
		steps, answered = append(steps, s), ""
	}
	if e.speaks(ctx, a) {
		steps = append(steps, e.speakStep(at, len(steps)))
	}
	return steps, nil
}

// replyTarget returns where a message that is answered is in a chat, and, where
// threads hang on messages, where the answers begin that it is among; both are
// empty when it never arrived there.
func (e *stepBuilder) replyTarget(ctx context.Context, account, chat string, target spaces.EventID) (message, start string, err error) {
	if target == "" {
		return "", "", nil
	}
	words, files, err := e.box.MessageRefs(ctx, account, chat, target)
	refs := append(words, files...)
	if err != nil || len(refs) == 0 {
		return "", "", err
	}
	if e.threader == nil {
		return refs[0].Message, "", nil
	}
	start, err = e.box.ReplyRoot(ctx, account, chat, target)
	return refs[0].Message, start, err
}

// mentionedPeople returns the people that words call, and whether an agent's are shown beside
// their thread. A copy of what a person said calls whom that called, where this
// platform knows them; the process's own words mention no one.
func (e *stepBuilder) mentionedPeople(ctx context.Context, a spaces.Action, answered string) (people []adapters.Person, broadcast bool, err error) {
	may := a.Agent != "" && e.broadcaster != nil && (a.Thread != "" || answered != "") && e.broadcaster.Broadcasts(a.Chat)
	if a.Agent == "" && a.Voice == "" || a.Event == "" || !may && !strings.Contains(a.Text, "@") {
		return nil, false, nil
	}
	found, broadcast, err := e.box.ResolveMentions(ctx, a.Account, a.Event, e.o.IdentityLookup)
	if err != nil {
		return nil, false, fmt.Errorf("find people named: %w", err)
	}
	for _, i := range found {
		people = append(people, adapters.Person{ID: i.User, Scope: i.Scope, Kind: adapters.PersonKind(i.Kind), Name: i.Name, Handle: i.Handle})
	}
	return people, broadcast && may, nil
}

// post returns the step that sends p as a part of the action.
func (e *stepBuilder) post(at *sendTarget, part int, p adapters.OutgoingMessage) sendStep {
	a := at.action
	p.Chat, p.Thread, p.Key = a.Chat, string(a.Thread), postKey(a.ID, part)
	p.Face, p.Decided = e.persona(a), a.Created
	if p.ReplyTo != "" {
		p.Start = at.start
	}
	private := a.Recipient != "" && e.private != nil
	s := sendStep{shown: p, do: func(ctx context.Context) (adapters.Receipt, error) {
		p, err := at.in(ctx, p, part == 0)
		if err != nil {
			return adapters.Receipt{}, err
		}
		if private {
			receipt, err := e.private.SendPrivate(ctx, a.Recipient, p)
			if err == nil || !adapters.KindOf(err).Permanent() {
				return receipt, err
			}
			e.logger.Debug("not shown to one person alone", "action", string(a.ID), "chat", a.Chat, "error", err)
		}
		return e.adapter.Send(ctx, p)
	}}
	if e.finder != nil && !private { // nobody finds what one person saw
		s.find = func(ctx context.Context) (adapters.Receipt, bool, error) {
			p, err := at.in(ctx, p, part == 0)
			if err != nil {
				return adapters.Receipt{}, false, err
			}
			return e.finder.Find(ctx, p)
		}
	}
	return s
}

// postKey is the same for every attempt at a part, and no other part's.
func postKey(a spaces.ActionID, part int) string {
	return uuid.NewSHA1(postNamespace, fmt.Appendf(nil, "%s/%d", a, part)).String()
}

// editSteps replaces a message part by part: parts that stood there are edited,
// further ones posted, and those no longer needed deleted.
func (e *stepBuilder) editSteps(ctx context.Context, a spaces.Action) ([]sendStep, error) {
	if e.editor == nil {
		return nil, unsupported("edit", "edit messages")
	}
	refs, files, err := e.targetRefs(ctx, a, "edit") // a file has no words of its own
	if err != nil {
		return nil, err
	}
	parts, unmasked := e.parts(a)
	if a.Text == "" && a.Agent == "" { // people took back the words, as a picture's caption
		parts = nil
	} else if len(parts) == 0 {
		return nil, &adapters.Error{Kind: adapters.Invalid, Op: "edit", Err: fmt.Errorf("the new text is empty")}
	}
	var steps []sendStep
	at := e.target(a)
	for i, text := range parts {
		switch {
		case i >= len(refs):
			steps = append(steps, e.post(at, i, adapters.OutgoingMessage{Text: text}))
		case i == 0 && unmasked != "":
			steps = append(steps, at.silent(refs[i], func(ctx context.Context, r adapters.MessageRef) error {
				return e.personaSender.EditAs(ctx, r, text, unmasked)
			}))
		default:
			steps = append(steps, at.silent(refs[i], func(ctx context.Context, r adapters.MessageRef) error {
				if e.chooser != nil && i == len(parts)-1 && len(a.Choices) > 0 {
					return e.chooser.EditChoices(ctx, r, text, choiceButtons(a.Choices))
				}
				return e.editor.Edit(ctx, r, text)
			}))
		}
	}
	for i := len(parts); i < len(refs) && e.deleter != nil; i++ {
		steps = append(steps, at.silent(refs[i], e.deleter.Delete))
		steps[i].gone = refs[len(parts):] // all at once, for until then they count among the steps
	}
	if len(a.Files) > 0 && e.deleter != nil { // the message no longer carries these
		for _, f := range files {
			steps = append(steps, at.silent(f, e.deleter.Delete))
		}
		if len(files) > 0 {
			steps[len(steps)-1].gone = append(slices.Clone(refs[min(len(parts), len(refs)):]), files...)
		}
	}
	return steps, nil
}

func (e *stepBuilder) deleteSteps(ctx context.Context, a spaces.Action) ([]sendStep, error) {
	if e.deleter == nil {
		return nil, unsupported("delete", "delete messages")
	}
	words, files, err := e.targetRefs(ctx, a, "delete")
	if err != nil {
		return nil, err
	}
	var steps []sendStep
	at := e.target(a)
	for _, r := range append(words, files...) {
		steps = append(steps, at.silent(r, e.deleter.Delete))
	}
	return steps, nil
}

func (e *stepBuilder) reactSteps(ctx context.Context, a spaces.Action) ([]sendStep, error) {
	if e.reactor == nil {
		return nil, unsupported("react", "react to messages")
	}
	words, files, err := e.targetRefs(ctx, a, "react")
	if err != nil {
		return nil, err
	}
	first := append(words, files...)[0]
	return []sendStep{e.target(a).silent(first, func(ctx context.Context, r adapters.MessageRef) error {
		return setReaction(ctx, e, a.Account, r, a.Text)
	})}, nil
}

// targetRefs returns the platform ids of the message that an action changes: at least one of
// its words and its files.
func (e *stepBuilder) targetRefs(ctx context.Context, a spaces.Action, op string) (words, files []spaces.MessageRef, err error) {
	words, files, err = e.box.MessageRefs(ctx, a.Account, a.Chat, a.Target)
	if err != nil {
		return nil, nil, fmt.Errorf("find message to %s: %w", op, err)
	}
	if len(words)+len(files) == 0 {
		return nil, nil, missingTarget(op)
	}
	return words, files, nil
}

// silent is a step about one message that makes none and may be repeated.
func (b *sendTarget) silent(r spaces.MessageRef, do func(context.Context, adapters.MessageRef) error) sendStep {
	return sendStep{repeatable: true, do: func(ctx context.Context) (adapters.Receipt, error) {
		m, err := b.ref(ctx, r)
		if err == nil {
			err = do(ctx, m)
		}
		return adapters.Receipt{}, err
	}}
}
