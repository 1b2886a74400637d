package telegram

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/adapters/fake"
)

// answer plays one call: the flood window it may be in, the fault that may meet
// it, its effect, the ledger, the answer.
func (t *Server) answer(w http.ResponseWriter, r *http.Request, c *call) {
	defer t.ring()
	if p := t.floods.refuse(c, t.opts.Limits); p != nil {
		t.finish(w, c, p)
		return
	}
	f, hit := t.faults.Hit(c.matches)
	if !hit {
		t.finish(w, c, botAPI{t}.apply(r, c))
		return
	}
	c.entry.Fault = f.Do
	var done *reply
	if f.Do == fake.Delay {
		if !fake.WaitUnlessGone(r, f.Wait) {
			t.ledger.call(c.entry)
			return
		}
		t.finish(w, c, botAPI{t}.apply(r, c))
		return
	}
	if f.Apply || f.Do == fake.Truncate {
		done = botAPI{t}.apply(r, c)
		c.note(done)
	}
	t.fail(w, r, c, f, done)
}

// matches reports whether the fault is meant for this call.
func (c *call) matches(f fake.CallFault) bool {
	return (f.Bot == 0 || f.Bot == c.bot.user.ID) &&
		(f.Method == "" || strings.EqualFold(f.Method, c.method)) &&
		(f.Chat == 0 || f.Chat == c.entry.Chat) &&
		(f.Thread == 0 || f.Thread == c.entry.Thread)
}

// note writes the outcome into the ledger's entry.
func (c *call) note(p *reply) {
	c.entry.Status = p.status()
	c.entry.Detail = p.text
	c.entry.Message = p.message
	c.entry.Handed = p.handed
	c.entry.Applied = p.code == 0
}

func (t *Server) finish(w http.ResponseWriter, c *call, p *reply) {
	c.note(p)
	t.ledger.call(c.entry)
	p.write(w)
}

// fail answers as the fault says. done is the true answer where the call was applied.
func (t *Server) fail(w http.ResponseWriter, r *http.Request, c *call, f fake.CallFault, done *reply) {
	switch f.Do {
	case fake.Refuse:
		p := refusalOf(f)
		if p.retryAfter > 0 {
			t.floods.start(c, time.Duration(p.retryAfter)*time.Second)
		}
		c.entry.Status, c.entry.Detail = p.status(), p.text
		t.ledger.call(c.entry)
		p.write(w)
	case fake.HTML:
		c.entry.Status = statusOf(f, http.StatusBadGateway)
		t.ledger.call(c.entry)
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(c.entry.Status)
		_, _ = w.Write([]byte("<html>\r\n<head><title>" + strconv.Itoa(c.entry.Status) + "</title></head>\r\n<body><center>nginx</center></body>\r\n</html>\r\n"))
	case fake.Garbage:
		c.entry.Status = http.StatusOK
		t.ledger.call(c.entry)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(cmp.Or(f.Description, "{\"ok\":true,\"resu\x00\xff")))
	case fake.Truncate:
		t.ledger.call(c.entry)
		fake.WriteHalf(w, done.status(), done.body())
	case fake.Hang:
		c.entry.Status = 0
		t.ledger.call(c.entry)
		<-r.Context().Done()
	case fake.Cut:
		c.entry.Status = 0
		t.ledger.call(c.entry)
		fake.BreakConnection(w)
	case fake.Delay:
		panic("fake: a delay does not fail")
	}
}

// refusalOf returns the answer of a Refuse fault.
func refusalOf(f fake.CallFault) *reply {
	p := &reply{code: statusOf(f, http.StatusInternalServerError), text: f.Description, retryAfter: f.RetryAfter, migrateTo: f.MigrateTo}
	if f.RetryAfter > 0 {
		p.code = http.StatusTooManyRequests
	}
	if p.text != "" {
		return p
	}
	switch p.code {
	case http.StatusTooManyRequests:
		p.text = "Too Many Requests: retry after " + strconv.Itoa(f.RetryAfter)
	case http.StatusConflict:
		p.text = conflictText
	default:
		p.text = http.StatusText(p.code)
	}
	return p
}

func statusOf(f fake.CallFault, otherwise int) int {
	if f.Status == 0 {
		return otherwise
	}
	return f.Status
}

// apply lets the call have its effect.
func (t botAPI) apply(r *http.Request, c *call) *reply {
	switch c.method {
	case "getme":
		return &reply{result: fake.EncodeJSON(c.bot.self())}
	case "getupdates":
		return t.getUpdates(r.Context(), c)
	case "setwebhook":
		return t.setWebhook(c)
	case "deletewebhook":
		return t.deleteWebhook(c)
	case "getwebhookinfo":
		return c.getWebhookInfo()
	case "sendmessage":
		return t.sendMessage(c)
	case "sendphoto", "senddocument", "sendvoice", "sendvideo", "sendaudio":
		return t.sendFile(r, c)
	case "sendmessagedraft":
		return t.sendMessageDraft(c)
	case "editmessagetext":
		return t.editMessageText(c)
	case "deletemessage":
		return t.deleteMessage(c)
	case "deletemessages":
		return t.deleteMessages(c)
	case "setmessagereaction":
		return t.setMessageReaction(c)
	case "sendchataction":
		return t.sendChatAction(c)
	case "getchat":
		return t.getChat(c)
	case "getchatmember":
		return t.getChatMember(c)
	case "getchatmembercount":
		return t.getChatMemberCount(c)
	case "getchatadministrators":
		return t.getChatAdministrators(c)
	case "leavechat":
		return t.leaveChat(c)
	case "setmycommands":
		return c.setMyCommands()
	case "getmycommands":
		return c.getMyCommands()
	case "deletemycommands":
		return c.deleteMyCommands()
	case "answercallbackquery":
		return t.answerCallbackQuery(c)
	case "answerguestquery":
		return answerGuestQuery(t.Server, c)
	case "getfile":
		return t.getFile(c)
	default:
		return refuse(http.StatusNotFound, "Not Found: method not found")
	}
}
