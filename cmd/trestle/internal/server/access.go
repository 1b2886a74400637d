package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/activity/access"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/control"
	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/spaces"
)

// refusedShown is the number of refused senders that are listed.
const refusedShown = 20

// accessManager admits people and chats, and lists who is admitted.
type accessManager struct{ *AccountManager }

func (acc *accessManager) servePairings(rw http.ResponseWriter, r *http.Request) {
	all, err := acc.pairings(r.Context())
	if err != nil {
		control.WriteError(rw, err)
		return
	}
	control.WriteJSON(rw, http.StatusOK, all)
}

// approvals returns the manager that admits people with the default settings of a room.
func (acc *accessManager) approvals() access.ApprovalManager {
	c := acc.Config()
	return access.ApprovalManager{
		Pairings: acc.border, Spaces: acc.mapping, Notices: acc.border,
		Room: spaces.RoomDefaults{Agents: acc.runningAgents(c.DefaultAgents), Wake: c.SettingsFor("", "").Wake},
	}
}

// pair admits the person with a code, or a chat.
func (acc *accessManager) pair(ctx context.Context, q console.PairRequest) (console.AdmittedPerson, error) {
	g := access.ApprovalGrant{Circle: spaces.CircleID(q.Circle), Role: spaces.OfMember}
	switch q.Role {
	case "", spaces.OfMember.String():
	case spaces.OfAdmin.String():
		g.Role = spaces.OfAdmin
	case spaces.OfOwner.String():
		g.Role = spaces.OfOwner
	default:
		return console.AdmittedPerson{}, &apperr.Error{What: "there is no role " + q.Role, Where: "pair", Remedy: "member, admin or owner", Code: apperr.Usage}
	}
	if q.Chat != "" {
		return acc.pairChat(ctx, q.Chat, g)
	}
	a, err := acc.approvals().Approve(ctx, q.Code, g, time.Now())
	switch {
	case errors.Is(err, access.ErrNoPairing):
		return console.AdmittedPerson{}, &apperr.Error{What: "nobody is waiting with this code", Where: "pair " + q.Code, Remedy: "ask them to write to the bot again; a code is good for ten minutes", Code: apperr.Failed}
	case errors.Is(err, access.ErrDeskLocked):
		return console.AdmittedPerson{}, &apperr.Error{What: "too many wrong codes were tried", Where: "pair " + q.Code, Remedy: "try again in an hour", Code: apperr.TryAgain}
	case err != nil:
		return console.AdmittedPerson{}, err
	}
	acc.unseal(ctx, a.Account)
	return shownAdmission(a), nil
}

// unseal has what people wrote to an account before they were let in recorded at once. Where that
// fails, or another process serves the account, it is done soon.
func (acc *accessManager) unseal(ctx context.Context, account string) {
	acc.Opening.Lock()
	joined := slices.Clone(acc.joined)
	acc.Opening.Unlock()
	for _, j := range joined {
		if j.account != account {
			continue
		}
		if err := j.in.Unseal(ctx); err != nil {
			acc.Log.Warn("what a person wrote before they were let in is not recorded yet", "account", account, "error", err)
		}
	}
}

// pairChat admits a whole chat. It refuses a role, which only a person has.
func (acc *accessManager) pairChat(ctx context.Context, chat string, g access.ApprovalGrant) (console.AdmittedPerson, error) {
	if g.Role != spaces.OfMember {
		return console.AdmittedPerson{}, &apperr.Error{What: "a role is given to a person, not to a chat", Where: "pair " + chat, Remedy: "pair the person with the code that the bot shows them", Code: apperr.Usage}
	}
	account, id, err := acc.parseAccount(chat)
	if err != nil {
		return console.AdmittedPerson{}, err
	}
	platform, _, _ := strings.Cut(account, ":")
	if wrong := config.CheckChatID(platform, id); wrong != nil {
		return console.AdmittedPerson{}, &apperr.Error{What: wrong.What, Where: "pair " + chat, Remedy: wrong.Remedy, Code: apperr.Usage}
	}
	a, err := acc.approvals().AdmitChat(ctx, account, id, g, time.Now())
	if err != nil {
		return console.AdmittedPerson{}, err
	}
	return shownAdmission(a), nil
}

// revoke takes access from a person or a chat, at once, and voids the code of one who waits.
func (acc *accessManager) revoke(ctx context.Context, q console.RevokeRequest) ([]console.AdmittedPerson, error) {
	account, id, err := q.Account, q.ID, error(nil)
	if account == "" {
		account, id, err = acc.parseAccount(q.Who)
	}
	if err != nil {
		return nil, err
	}
	gone, err := acc.approvals().Revoke(ctx, account, id)
	if errors.Is(err, access.ErrNotAdmitted) {
		return nil, &apperr.Error{What: "nobody waits or is let in under this name", Where: "pair --revoke " + cmp.Or(q.Who, id), Remedy: "see trestle pair; who a named chat lets in is said by the configuration", Code: apperr.Failed}
	}
	if err != nil {
		return nil, err
	}
	acc.Opening.Lock()
	defer acc.Opening.Unlock()
	for _, j := range acc.joined {
		j.in.Forget()
	}
	var all []console.AdmittedPerson
	for _, a := range gone {
		all = append(all, shownAdmission(a))
	}
	return all, nil
}

// parseAccount reads "adapter:id" and returns the account that the adapter is.
func (acc *accessManager) parseAccount(text string) (account, id string, err error) {
	adapter, id, ok := strings.Cut(text, ":")
	if !ok || id == "" {
		return "", "", &apperr.Error{What: text + " names nobody", Where: "pair", Remedy: "write adapter:id, such as telegram:-1001234", Code: apperr.Usage}
	}
	acc.Opening.Lock()
	defer acc.Opening.Unlock()
	i := slices.IndexFunc(acc.joined, func(j connectedAccount) bool { return j.adapter == adapter })
	if l := acc.connectionOf(adapter); i < 0 && l != nil && l.other.Load() != nil {
		return "", "", &apperr.Error{What: l.other.Load().String() + " serves the adapter " + adapter, Where: "pair " + text, Remedy: "say it there, in its data folder", Code: apperr.TryAgain}
	}
	if i < 0 {
		return "", "", &apperr.Error{What: "the adapter " + adapter + " is not connected", Where: "pair " + text, Remedy: "see trestle status", Code: apperr.TryAgain}
	}
	return acc.joined[i].account, id, nil
}

// grantAccess returns what a token for the rooms of a person opens. The person must have
// written on a connected account, and the agent must be one of the configuration.
func (acc *accessManager) grantAccess(ctx context.Context, q console.TokenRequest) (console.PersonAccess, error) {
	refuse := func(what, remedy string) (console.PersonAccess, error) {
		return console.PersonAccess{}, &apperr.Error{What: what, Where: "--as " + q.As, Remedy: remedy, Code: apperr.Failed}
	}
	c := acc.Config()
	ref, ok := config.ParsePerson(q.As)
	if !ok {
		return refuse(q.As+" names no person", "write adapter:user with the id that the platform assigned, on Slack adapter:TEAM/USER")
	}
	if _, known := c.Agent(string(q.Agent)); q.Agent != "" && !known {
		return refuse(fmt.Sprintf("there is no agent %q", q.Agent), "name an agent of the configuration")
	}
	if q.Send && q.Agent == "" {
		return refuse("messages are sent in the name of an agent, and none is named", "name one with --agent")
	}
	account, _, err := acc.parseAccount(ref.Adapter + ":" + ref.User)
	if no, ok := errors.AsType[*apperr.Error](err); ok {
		return refuse(no.What, no.Remedy)
	}
	platform, _, _ := strings.Cut(account, ":")
	who, err := acc.Store.Shell().PersonOf(ctx, spaces.PlatformIdentity{Platform: platform, Scope: ref.Scope, User: ref.User})
	switch {
	case err != nil:
		return console.PersonAccess{}, err
	case who == "":
		return refuse(q.As+" has not written yet", "have them write in one of the chats first")
	}
	known, err := acc.Store.Shell().Entities(ctx, []spaces.EntityID{who})
	return console.PersonAccess{Person: who, As: q.As, Name: hud.CleanName(known[who].Name), Agent: q.Agent, Send: q.Send}, err
}

// pairings lists who waits, who is admitted, and who was refused.
func (acc *accessManager) pairings(ctx context.Context) (console.AdmissionLists, error) {
	waiting, admitted, err := acc.approvals().Lists(ctx, time.Now())
	if err != nil {
		return console.AdmissionLists{}, err
	}
	refused, err := acc.border.Refusals(ctx, refusedShown)
	if err != nil {
		return console.AdmissionLists{}, err
	}
	all := console.AdmissionLists{Waiting: []console.Pairing{}, Admitted: []console.AdmittedPerson{}, Refused: []console.RefusedSender{}}
	for _, w := range waiting {
		all.Waiting = append(all.Waiting, console.Pairing{Account: w.Account, Chat: w.Chat, User: w.User, Name: w.Name, Expires: w.Expires})
	}
	for _, a := range admitted {
		all.Admitted = append(all.Admitted, shownAdmission(a))
	}
	for _, r := range refused {
		all.Refused = append(all.Refused, console.RefusedSender{Account: r.Account, Chat: r.Chat, User: r.User, Kind: r.Kind, Count: r.Count, Last: r.Last})
	}
	return all, nil
}

// An admissionDesk implements [console.AdmissionDesk].
type admissionDesk struct{ s *Server }

var _ console.AdmissionDesk = admissionDesk{}

// Admissions implements [console.AdmissionDesk].
func (d admissionDesk) Admissions(ctx context.Context) (console.AdmissionLists, error) {
	return d.s.pairings(ctx)
}

// Admit implements [console.AdmissionDesk].
func (d admissionDesk) Admit(ctx context.Context, q console.PairRequest) (console.AdmittedPerson, error) {
	return d.s.pair(ctx, q)
}

// ShutOut implements [console.AdmissionDesk].
func (d admissionDesk) ShutOut(ctx context.Context, q console.RevokeRequest) ([]console.AdmittedPerson, error) {
	return d.s.revoke(ctx, q)
}

// pairingDesk decides for owners who let people in or refuse them in a chat.
type pairingDesk struct{ *accessManager }

// DecidePairing implements [commands.PairingDesk]. What the person wrote before is recorded
// by the loop that looks for it: this may run while their account records.
func (d pairingDesk) DecidePairing(ctx context.Context, q spaces.PairingDecision) (string, bool, error) {
	outcome, done, err := d.approvals().Decide(ctx, q)
	if done {
		d.Log.Info("an owner decided about a person who asked to be let in", "account", q.Account, "request", q.Request, "let_in", q.LetIn, "by", access.PersonName(q.By.Platform, q.By.Scope, q.By.User))
	}
	return outcome, done, err
}

func shownAdmission(a access.ChatApproval) console.AdmittedPerson {
	return console.AdmittedPerson{
		Account: a.Account, Chat: a.Chat, User: a.User, Name: a.Name, Circle: string(a.Circle), Role: max(a.Role, spaces.OfMember).String(), At: a.At,
	}
}
