package access

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/trestle-bridge/trestle/spaces"
)

// The bounds of what owners are asked.
const (
	MaxAsked    = 5              // requests an owner is asked about within an hour, for an account
	RefusalTTL  = 24 * time.Hour // how long owners are not asked again about a person they refused
	askWindow   = time.Hour
	maxNameShow = 40 // characters of a stranger's name that an owner is shown
)

// An OwnerNotice is that an owner was asked about a request, or told that more wait.
type OwnerNotice struct {
	Account string    `json:"account"`
	Chat    string    `json:"chat"`    // the owner's
	Request string    `json:"request"` // id of the pairing
	More    bool      `json:"more,omitempty"`
	At      time.Time `json:"at"`
}

// A RefusedPerson is a person whom an owner has refused.
type RefusedPerson struct {
	Account string    `json:"account"`
	User    string    `json:"user"`
	Scope   string    `json:"scope,omitempty"`
	Until   time.Time `json:"until"`
}

// TellOwners stores which owners, by their chats, are asked about a new request, and which are
// told that more wait.
func (d *PairingState) TellOwners(p PairingRequest, chats []string, at time.Time) {
	refused := slices.ContainsFunc(d.Refused, func(r RefusedPerson) bool {
		return r.Account == p.Account && r.User == p.User && r.Scope == p.Scope
	})
	if refused {
		return
	}
	for _, chat := range chats {
		asked, more := 0, false
		for _, n := range d.Told {
			if n.Account == p.Account && n.Chat == chat {
				if n.More {
					more = true
				} else {
					asked++
				}
			}
		}
		if asked < MaxAsked || !more {
			d.Told = append(d.Told, OwnerNotice{Account: p.Account, Chat: chat, Request: p.ID, More: asked >= MaxAsked, At: at})
		}
	}
}

// toldOf returns what owners are told because of a request.
func (d *PairingState) toldOf(p PairingRequest) (all []OwnerNotice) {
	for _, n := range d.Told {
		if p.ID != "" && n.Request == p.ID {
			all = append(all, n)
		}
	}
	return all
}

// byID returns the place of a pending pairing of an account; -1 if there is none.
func (d *PairingState) byID(account, id string, at time.Time) int {
	d.expire(at)
	return slices.IndexFunc(d.Pending, func(p PairingRequest) bool { return id != "" && p.ID == id && p.Account == account })
}

// refuse voids the codes of the person of a pending pairing and drops what was kept of them. It
// returns the ids of the requests that are over by it.
func (d *PairingState) refuse(i int, at time.Time) (over []string) {
	of := d.Pending[i]
	is := func(account, scope, user string) bool {
		return account == of.Account && scope == of.Scope && user == of.User
	}
	d.Pending = slices.DeleteFunc(d.Pending, func(p PairingRequest) bool {
		if !is(p.Account, p.Scope, p.User) {
			return false
		}
		over = append(over, p.ID)
		return true
	})
	d.Sealed = slices.DeleteFunc(d.Sealed, func(m SealedMessage) bool { return is(m.Account, m.Update.From.Scope, m.Update.From.ID) })
	d.Refused = append(d.Refused, RefusedPerson{Account: of.Account, User: of.User, Scope: of.Scope, Until: at.Add(RefusalTTL)})
	return over
}

// Decide does what an owner decided about a pending pairing of an account, and returns the
// outcome in words. done is false when it waits no more. The caller has made sure that an
// owner decides. With an error and done, what follows the decision is not all done.
func (p ApprovalManager) Decide(ctx context.Context, q spaces.PairingDecision) (outcome string, done bool, err error) {
	var over []string
	var a ChatApproval
	wrote := false
	by := PersonName(q.By.Platform, q.By.Scope, q.By.User)
	err = p.Pairings.Amend(ctx, func(d *PairingState) {
		done = false
		i := d.byID(q.Account, q.Request, q.At)
		if i < 0 {
			return
		}
		over, done = []string{q.Request}, true
		if !q.LetIn {
			over = d.refuse(i, q.At)
			return
		}
		wrote = d.keepsOf(d.Pending[i])
		a = d.admit(i, ApprovalGrant{By: by}, q.At)
	})
	switch {
	case err != nil:
		return "", false, fmt.Errorf("decide about pairing: %w", err)
	case !done:
		return "", false, nil
	}
	outcome = "Refused"
	if q.LetIn {
		outcome, err = "Let in", p.welcome(ctx, a, wrote)
	}
	outcome += ". Decided by " + shownName(q.By.Name) + "."
	for _, id := range over {
		err = errors.Join(err, p.close(ctx, id, outcome, q.At))
	}
	return outcome, true, err
}

// close has the notices about a request say its outcome.
func (p ApprovalManager) close(ctx context.Context, id, outcome string, at time.Time) error {
	if id == "" {
		return nil
	}
	if err := p.Notices.CloseChoices(ctx, ownersKey(id), outcome, at); err != nil {
		return fmt.Errorf("close notices about a pairing: %w", err)
	}
	return nil
}

func ownersKey(id string) string { return "letin|" + id }

// owners returns the chats of the owners who may be asked about a request that begins; none
// about one that has begun. They are direct: a person is approved in no other chat.
func (g *AdmissionGuard) owners(ctx context.Context, p AdmissionPolicy, r AdmissionRequest, asks PairingRequest, at time.Time) ([]string, error) {
	if p.Role == nil {
		return nil, nil
	}
	state, err := g.pairings.Load(ctx)
	if err != nil {
		return nil, fmt.Errorf("look up owners: %w", err)
	}
	waits := func(q PairingRequest) bool { return at.Before(q.Expires) && q.same(asks) }
	if slices.ContainsFunc(state.Pending, waits) {
		return nil, nil
	}
	var chats []string
	for _, a := range state.Admitted {
		if a.Account != g.account || a.User == "" || slices.Contains(chats, a.Chat) {
			continue
		}
		role, err := p.Role(ctx, spaces.PlatformIdentity{Platform: r.Who.Platform, Scope: a.Scope, User: a.User})
		if err != nil {
			return nil, fmt.Errorf("role of who may let in: %w", err)
		}
		if role >= spaces.OfOwner {
			chats = append(chats, a.Chat)
		}
	}
	return chats, nil
}

// tellOwners posts what owners are told about a request. It may be called again.
func (g *AdmissionGuard) tellOwners(ctx context.Context, p AdmissionPolicy, asks PairingRequest, told []OwnerNotice, at time.Time) error {
	for _, t := range told {
		n := spaces.ProcessNotice{Key: ownersKey(asks.ID) + "|" + t.Chat, Account: g.account, Chat: t.Chat, At: at, Expires: asks.Expires}
		if t.More {
			n.Key = "more" + n.Key
			n.Text = "More people ask to be let in. `trestle pair` lists them."
		} else {
			n.Text = ownerText(p.Entry, asks)
			n.Choices = []spaces.ChoiceButton{{Label: "Let in", Value: "letin " + asks.ID}, {Label: "Refuse", Value: "refuse " + asks.ID}}
		}
		if err := g.notices.Post(ctx, n); err != nil {
			return fmt.Errorf("post notice: %w", err)
		}
	}
	return nil
}

// ownerText asks an owner about a person. Of the person it has the name and ids alone.
func ownerText(entry string, p PairingRequest) string {
	return fmt.Sprintf("**A person asks to be let in.** They wrote to me in a direct chat.\nName, as they chose it: “%s”\nAccount: `%s`\n"+
		"Write `letin %s` to let them in as a member, or `refuse %[3]s` (within 10 minutes).", shownName(p.Name), PersonName(entry, p.Scope, p.User), p.ID)
}

// PersonName returns how the configuration names a person.
func PersonName(platform, scope, user string) string {
	if scope != "" {
		user = scope + "/" + user
	}
	return platform + ":" + strings.ReplaceAll(user, "`", "")
}

// shownName returns a name that a person chose, with nothing in it that could be taken for
// words of the program: letters, digits and single spaces, and few of them.
func shownName(name string) string {
	plain := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '\'':
			return r
		case unicode.IsMark(r) && r < 0xFE00: // no variation selectors
			return r
		case unicode.IsSpace(r):
			return ' '
		}
		return -1
	}, name)
	runes := []rune(strings.Join(strings.Fields(plain), " "))
	if len(runes) == 0 {
		return "no name"
	}
	return strings.TrimSpace(string(runes[:min(len(runes), maxNameShow)]))
}
