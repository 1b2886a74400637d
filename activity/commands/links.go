package commands

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/spaces"
)

// CommandLink links two accounts of one person.
const CommandLink = "link"

// A LinkStore stores which accounts on platforms are one person's.
type LinkStore interface {
	// BeginLink stores a code, in place of an earlier one of the same account.
	BeginLink(ctx context.Context, c spaces.LinkCode) error
	// TakeLink does one step with a code and returns it. ok is false when no code waits
	// under that name, or when a person confirms what was not shown to them.
	TakeLink(ctx context.Context, step spaces.LinkStep) (c spaces.LinkCode, ok bool, err error)
	// Unlink makes an account one of its own again, and reports whether it was linked.
	Unlink(ctx context.Context, who spaces.PlatformIdentity) (unlinked bool, err error)
	// Linked returns the other accounts of the person whose account it is.
	Linked(ctx context.Context, who spaces.PlatformIdentity) ([]spaces.PlatformIdentity, error)
}

// NoticePoster posts what the program says of itself.
type NoticePoster interface {
	Post(ctx context.Context, n spaces.ProcessNotice) error
}

// AccountLinks lets people link their accounts.
type AccountLinks struct {
	Store   LinkStore
	Notices NoticePoster
	// NewCode draws a code: eight of the letters A to Z and the digits 2 to 9, with a digit.
	NewCode func() (string, error)
}

// linkWords is a message that links accounts: "link K7QDX2AB", "/link K7QDX2AB yes".
var linkWords = regexp.MustCompile(`(?i)^[/!]?link\s+([a-z2-9]{8})(\s+yes)?[.!]?$`)

// parseLink returns the command of a message that has a code which links accounts; nil of
// another one. It needs no mention. A code has a digit: "link everything" is talk.
func parseLink(text string) *adapters.ChatCommand {
	m := linkWords.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil || !strings.ContainsAny(m[1], "23456789") {
		return nil
	}
	return &adapters.ChatCommand{Name: CommandLink, Args: strings.ToUpper(m[1]) + strings.ToLower(m[2])}
}

// What people are told who link accounts.
const (
	linksOfOperator = "Accounts are linked by the operator alone, in the configuration."
	linkHere        = "Link accounts in your own chat with me."
	codeSeen        = "Others can read a code here, so it is void now. Ask for a new one, and write it in your own chat with me."
	noSuchCode      = "No account waits with that code: it was used, or its ten minutes are over. Ask for a new one in your other chat with me."
	sameAccount     = "That is the code of this account. Write it to me in your chat on the other platform."
	showFirst       = "Write the code without `yes` first, and see whose account it is."
	unlinkedNow     = "This account is on its own again. What was already said in this chat stays in it."
	notLinked       = "This account was not linked in a chat. Accounts that the operator links are in the configuration."
	linkPromised    = "From then on I know in each of the two chats what you told me in the other, and what you read in rooms under either account."
)

// answer does what a person asks about the accounts that are theirs.
func (l *AccountLinks) answer(ctx context.Context, q CommandRequest) (string, error) {
	c := parseLink(CommandLink + " " + q.Args)
	switch {
	case l == nil:
		return linksOfOperator, nil
	case q.Who.Kind != spaces.Human:
		return linkHere, nil
	case !q.Direct && c == nil:
		return linkHere, nil
	case !q.Direct:
		return l.void(ctx, q, c)
	case strings.EqualFold(strings.TrimSpace(q.Args), "off"):
		unlinked, err := l.Store.Unlink(ctx, q.Who)
		if err == nil && !unlinked {
			return notLinked, nil
		}
		return unlinkedNow, err
	case c == nil && q.Args != "":
		return fmt.Sprintf("Write `%[1]s` for a code, `%[1]s` and the code in your other chat with me, or `%[1]s off`.", adapters.TypedCommand(q.Who.Platform, CommandLink)), nil
	case c == nil:
		return l.begin(ctx, q)
	}
	code, yes, _ := strings.Cut(c.Args, " ")
	if yes == "" {
		return l.show(ctx, q, code)
	}
	return l.confirm(ctx, q, code)
}

// void uses up a code that others can read.
func (l *AccountLinks) void(ctx context.Context, q CommandRequest, c *adapters.ChatCommand) (string, error) {
	code, _, _ := strings.Cut(c.Args, " ")
	_, ok, err := l.Store.TakeLink(ctx, spaces.LinkStep{Code: code, By: q.Who, Do: spaces.VoidLink, At: q.At})
	if err == nil && !ok {
		return linkHere, nil
	}
	return codeSeen, err
}

// begin gives a person a code.
func (l *AccountLinks) begin(ctx context.Context, q CommandRequest) (string, error) {
	code, err := l.NewCode()
	if err != nil {
		return "", fmt.Errorf("draw code: %w", err)
	}
	c := spaces.LinkCode{Code: code, Of: q.Who, Account: q.Account, Chat: q.Chat, Expires: q.At.Add(spaces.LinkTTL)}
	if err := l.Store.BeginLink(ctx, c); err != nil {
		return "", err
	}
	others, err := l.Store.Linked(ctx, q.Who)
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("Are you on another platform too? Write `link %s` to me there, in your own chat with me, within ten minutes. %s", code, linkPromised)
	if len(others) > 0 {
		names := make([]string, len(others))
		for i, o := range others {
			names[i] = accountName(o)
		}
		text += fmt.Sprintf("\n\nLinked with this account: %s. `%s off` ends that.", joined(names), adapters.TypedCommand(q.Who.Platform, CommandLink))
	}
	return text, nil
}

// show tells a person whose code it is before they confirm: from then on the other account
// knows what they say.
func (l *AccountLinks) show(ctx context.Context, q CommandRequest, code string) (string, error) {
	c, ok, err := l.Store.TakeLink(ctx, spaces.LinkStep{Code: code, By: q.Who, Do: spaces.ShowLink, At: q.At})
	switch {
	case err != nil:
		return "", err
	case !ok:
		return noSuchCode, nil
	case sameUser(c.Of, q.Who):
		return sameAccount, nil
	}
	return fmt.Sprintf("That is the code of %s. The person who uses that account can ask me for all that you tell me here and for what you read in rooms, and you for theirs.\n\n"+
		"If that is you, write `link %s yes`. If a person sent you this code, it is not your account: write nothing.", accountName(c.Of), code), nil
}

func (l *AccountLinks) confirm(ctx context.Context, q CommandRequest, code string) (string, error) {
	c, ok, err := l.Store.TakeLink(ctx, spaces.LinkStep{Code: code, By: q.Who, Do: spaces.ConfirmLink, At: q.At})
	switch {
	case err != nil:
		return "", err
	case !ok && c.Of.User == "":
		return noSuchCode, nil
	case !ok && sameUser(c.Of, q.Who):
		return sameAccount, nil
	case !ok:
		return showFirst, nil
	}
	off := adapters.TypedCommand(c.Of.Platform, CommandLink)
	n := spaces.ProcessNotice{
		Key: "link|" + c.Code + "|" + c.Chat, Account: c.Account, Chat: c.Chat, At: q.At, Expires: q.At.Add(spaces.LinkTTL),
		Text: fmt.Sprintf("This account is linked with %s now. If that is not you, write `%s off`.", accountName(q.Who), off),
	}
	if err := l.Notices.Post(ctx, n); err != nil {
		return "", fmt.Errorf("post notice: %w", err)
	}
	return fmt.Sprintf("Linked with %s. `%s off` ends that.", accountName(c.Of), adapters.TypedCommand(q.Who.Platform, CommandLink)), nil
}

func sameUser(a, b spaces.PlatformIdentity) bool {
	return a.Platform == b.Platform && a.Scope == b.Scope && a.User == b.User
}

// accountName returns how a person is shown an account: the name, which its owner chose, and
// the ids that the platform assigned.
func accountName(i spaces.PlatformIdentity) string {
	user := i.User
	if i.Scope != "" {
		user = i.Scope + "/" + user
	}
	return fmt.Sprintf("“%s” (`%s:%s`)", spaces.PlainText(spaces.TruncateText(i.Name, 40)), i.Platform, strings.ReplaceAll(user, "`", ""))
}
