package telegram

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/trestle-bridge/trestle/adapters"
)

var _ adapters.AccountDiagnoser = (*Client)(nil)

// tokenShape is what BotFather gives: the bot's number, a colon, a secret.
var tokenShape = regexp.MustCompile(`^[0-9]+:[A-Za-z0-9_-]+$`)

// errShape is said of a token before anybody is asked.
var errShape = errors.New("the token does not have the shape of a bot's token, 123456789:AA…")

// holderWait is how long the search for another poller waits for it to come back.
const holderWait = 3 * time.Second

// Examine looks at the token, the way of receiving, and each chat. The search
// for a second poller makes one poll beside it, which ends the other's; it is
// left out while this client itself receives, or will again, and where the account
// is served.
func (c *Client) Examine(ctx context.Context, chats []string, served bool) []adapters.AccountDiagnosis {
	if !tokenShape.MatchString(string(c.token)) {
		return []adapters.AccountDiagnosis{fail("TRS-T01", errShape.Error(),
			"copy it again from @BotFather → /mybots → API Token, without quotes or spaces")}
	}
	me, err := call[selfUser](ctx, c, "getMe", nil, c.limit)
	if err != nil {
		return []adapters.AccountDiagnosis{unreached(c.endpoint, err)}
	}
	found := c.examineWay(ctx, served)
	if !me.ReadsAll {
		found = append(found, adapters.AccountDiagnosis{
			Code: "TRS-T02", Level: adapters.Warning, What: "privacy mode is on: in groups the bot sees only mentions and replies",
			Mend: "@BotFather → /setprivacy → Disable, then re-add the bot",
		})
	}
	if me.Inline {
		found = append(found, adapters.AccountDiagnosis{
			Code: "TRS-T11", Level: adapters.Warning, What: "inline mode is on, and nobody answers what people type behind the bot's name in other chats",
			Mend: "@BotFather → /setinline → Turn off",
		})
	}
	for _, id := range chats {
		if f, bad := c.examineChat(ctx, me.user, id); bad {
			found = append(found, f)
		}
	}
	if len(found) == 0 {
		return []adapters.AccountDiagnosis{{Level: adapters.Fine, What: fine(me.user, len(chats))}}
	}
	return found
}

// selfUser is what getMe says beyond a user.
type selfUser struct {
	user
	ReadsAll bool `json:"can_read_all_group_messages"`
	Inline   bool `json:"supports_inline_queries"`
}

func fail(code, what, mend string) adapters.AccountDiagnosis {
	return adapters.AccountDiagnosis{Code: code, Level: adapters.Failure, What: what, Mend: mend}
}

func fine(me user, chats int) string {
	s := "@" + me.Username + " answers"
	switch {
	case chats == 1:
		s += ", and may write in its named chat"
	case chats > 1:
		s += fmt.Sprintf(", and may write in each of its %d named chats", chats)
	}
	return s
}

// unreached says why getMe failed.
func unreached(endpoint string, err error) adapters.AccountDiagnosis {
	if adapters.KindOf(err) == adapters.Unauthorized {
		return fail("TRS-T08", "Telegram refuses the token", "@BotFather → /token shows the one that is good; put it where the configuration names it")
	}
	return fail("TRS-T09", "Telegram's server does not answer: "+adapters.ReasonOf(err),
		"see that this machine reaches "+strings.TrimSuffix(endpoint, "/bot%s/%s")+", or set api_url")
}

// examineWay finds what prevents receiving.
func (c *Client) examineWay(ctx context.Context, served bool) []adapters.AccountDiagnosis {
	hook, err := call[hookInfo](ctx, c, "getWebhookInfo", nil, c.limit)
	if err != nil {
		return []adapters.AccountDiagnosis{unreached(c.endpoint, err)}
	}
	if c.hook.url != "" {
		return examineHook(c, hook)
	}
	if hook.URL != "" {
		return []adapters.AccountDiagnosis{fail("TRS-T03", "a webhook is set for this bot, and nobody can poll beside one",
			"call deleteWebhook, without drop_pending_updates, or stop the program that uses the webhook")}
	}
	if !served && !c.receiving.Load() && !c.resumes.Load() && c.heldByAnother(ctx) {
		return []adapters.AccountDiagnosis{fail("TRS-T04", "another program polls with this token",
			"stop it, or give it a bot of its own; a token has one poller at a time")}
	}
	return nil
}

// lateCall is how old a failed call may be to be worth a finding.
const lateCall = 10 * time.Minute

// examineHook finds why Telegram does not reach a client. A webhook that is not ours
// is no fault while nothing runs: the next start sets it.
func examineHook(c *Client, info hookInfo) []adapters.AccountDiagnosis {
	const look = "see that the proxy before webhook_listen is up, has a certificate that is good, and passes this path on"
	switch {
	case c.receiving.Load() && info.URL != c.hook.url:
		return []adapters.AccountDiagnosis{fail("TRS-T10", "somebody else has taken the webhook of this bot, or removed it",
			"stop the other program, or give it a bot of its own; then restart")}
	case info.Error != "" && time.Since(at(info.ErrorDate)) < lateCall:
		return []adapters.AccountDiagnosis{fail("TRS-T10", fmt.Sprintf("Telegram cannot call us: %s; updates that wait: %d", info.Error, info.Pending), look)}
	}
	return nil
}

// heldByAnother reports whether another polls. An update that waits would
// have been taken by them; it is not confirmed here, so that nothing is lost.
func (c *Client) heldByAnother(ctx context.Context) bool {
	params := tgbotapi.Params{"timeout": formatID(int64(holderWait / time.Second)), "limit": "1"}
	_, err := call[[]any](ctx, c, "getUpdates", params, holderWait+pollSlack)
	return adapters.KindOf(err) == adapters.Conflict && ctx.Err() == nil
}

// memberRights is the part of getChatMember that says what we may do.
type memberRights struct {
	member
	CanSend *bool `json:"can_send_messages"` // restricted
	CanPost *bool `json:"can_post_messages"` // administrator of a channel
}

// examineChat finds what keeps the bot from living in a chat.
func (c *Client) examineChat(ctx context.Context, me user, id string) (f adapters.AccountDiagnosis, bad bool) {
	params := tgbotapi.Params{"chat_id": id, "user_id": formatID(me.ID)}
	about, err := call[chat](ctx, c, "getChat", params, c.limit)
	if e, ok := errors.AsType[*adapters.Error](err); ok && e.Kind == adapters.Moved {
		return fail("TRS-T05", fmt.Sprintf("the group %s has become the supergroup %s", id, e.MovedTo), "write "+e.MovedTo+" in place of "+id+" in the configuration"), true
	}
	var self memberRights
	if err == nil && about.Type != "private" {
		self, err = call[memberRights](ctx, c, "getChatMember", params, c.limit)
	}
	switch kind := adapters.KindOf(err); {
	case err == nil:
	case kind == adapters.NoTarget || kind == adapters.Forbidden:
		return notThere(id), true
	default:
		return fail("TRS-T09", fmt.Sprintf("the chat %s cannot be looked at: %s", id, adapters.ReasonOf(err)), "try again; if it stays so, see the server's log"), true
	}
	switch {
	case about.Type == "private":
		return adapters.AccountDiagnosis{}, false
	case !self.in():
		return notThere(id), true
	case self.Status == "restricted" && !isTrue(self.CanSend), about.Type == "channel" && self.Status == "administrator" && !isTrue(self.CanPost):
		return fail("TRS-T07", fmt.Sprintf("the bot may not write in the chat %s", id),
			"an administrator there gives it the right: members → the bot → send or post messages"), true
	}
	return adapters.AccountDiagnosis{}, false
}

func notThere(id string) adapters.AccountDiagnosis {
	return fail("TRS-T06", fmt.Sprintf("the bot is not in the chat %s", id), "add it there, or correct the id; a person must have written to the bot first")
}

func isTrue(b *bool) bool { return b != nil && *b }
