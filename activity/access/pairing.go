package access

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// The bounds of pairing.
const (
	PairingTTL    = 10 * time.Minute // how long a code is good
	MaxPending    = 50               // codes an account may have out at once
	MaxPerPerson  = 3                // of them, for one person in several chats
	MaxWrong      = 5                // wrong codes before the desk locks
	PairingLock   = time.Hour        // how long it stays locked
	pairingLength = 8
)

// pairingAlphabet has 32 characters, none of which is taken for another when
// read aloud or copied by hand: no 0 and O, no 1 and I.
const pairingAlphabet = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"

// The errors of the desk.
var (
	ErrTooManyPending = errors.New("too many pairings are pending")
	ErrNoPairing      = errors.New("no pending pairing has this code")
	ErrDeskLocked     = errors.New("too many wrong codes, try again later")
)

// A PairingRequest is a person who asks to be let in, known by an immutable id and
// bound to the chat they asked in.
type PairingRequest struct {
	Code    string    `json:"code"`
	Account string    `json:"account"`
	Chat    string    `json:"chat"`
	User    string    `json:"user"`
	Scope   string    `json:"scope,omitempty"`
	Name    string    `json:"name,omitempty"` // for the approver's eyes; decides nothing
	Expires time.Time `json:"expires"`
	// ID names the request where owners decide about it. It lets no person in by itself.
	ID string `json:"id,omitempty"`

	known bool // an owner, an admin or a person the configuration lists: strangers leave a place for them
}

// same reports whether both are about the same person in the same chat.
func (p PairingRequest) same(q PairingRequest) bool {
	return p.Account == q.Account && p.Chat == q.Chat && p.User == q.User && p.Scope == q.Scope
}

// A ChatApproval is a pairing that an operator or owner approved, or, with
// an empty user, a whole chat that was let in.
type ChatApproval struct {
	PairingRequest
	Circle spaces.CircleID       `json:"circle,omitempty"` // of the chat's space; empty: one of its own
	Role   spaces.AuthorityLevel `json:"role,omitempty"`   // more than a member; 0: no more
	At     time.Time             `json:"at"`
	By     string                `json:"by,omitempty"` // the owner who decided in a chat; empty: the operator
}

// A PairingState is where pairings are begun and approved. It is a plain value whose
// methods are the whole of the rules; [PairingStore] stores it. The zero Desk is
// empty. The JSON form is its stored form.
type PairingState struct {
	Pending  []PairingRequest `json:"pending,omitempty"`
	Admitted []ChatApproval   `json:"admitted,omitempty"`
	Wrong    int              `json:"wrong,omitempty"` // wrong codes since the last good one
	Locked   time.Time        `json:"locked,omitzero"` // no code is looked at before this
	Sealed   []SealedMessage  `json:"sealed,omitempty"`
	Told     []OwnerNotice    `json:"told,omitempty"`    // of the last hour
	Refused  []RefusedPerson  `json:"refused,omitempty"` // about whom owners are not asked
}

// Begin stores a request and returns the person's pending pairing: the one they
// have, or p with its expiry set. It fails with [ErrTooManyPending] when the
// person has as many codes out as they may, or strangers have as many as an account may.
func (d *PairingState) Begin(p PairingRequest, at time.Time) (PairingRequest, error) {
	d.expire(at)
	ofAccount, ofPerson := 0, 0
	for _, q := range d.Pending {
		if q.same(p) {
			return q, nil
		}
		if q.Account == p.Account {
			ofAccount++
			if q.User == p.User && q.Scope == p.Scope {
				ofPerson++
			}
		}
	}
	if ofPerson >= MaxPerPerson || ofAccount >= MaxPending && !p.known {
		return PairingRequest{}, ErrTooManyPending
	}
	p.Expires = at.Add(PairingTTL)
	d.Pending = append(d.Pending, p)
	return p, nil
}

// Approve lets the person in whose code this is, once. Case, spaces and hyphens
// in code do not matter. It fails with [ErrNoPairing], which counts as a wrong
// guess, and with [ErrDeskLocked] without looking at the code.
func (d *PairingState) Approve(code string, g ApprovalGrant, at time.Time) (ChatApproval, error) {
	if at.Before(d.Locked) {
		return ChatApproval{}, ErrDeskLocked
	}
	d.expire(at)
	code = plainCode(code)
	i := slices.IndexFunc(d.Pending, func(p PairingRequest) bool {
		return subtle.ConstantTimeCompare([]byte(p.Code), []byte(code)) == 1
	})
	if i < 0 {
		d.Wrong++
		if d.Wrong >= MaxWrong {
			d.Wrong, d.Locked = 0, at.Add(PairingLock)
		}
		return ChatApproval{}, ErrNoPairing
	}
	d.Wrong = 0
	return d.admit(i, g, at), nil
}

// admit lets in the person of a pending pairing.
func (d *PairingState) admit(i int, g ApprovalGrant, at time.Time) ChatApproval {
	a := ChatApproval{PairingRequest: d.Pending[i], Circle: g.Circle, Role: max(g.Role, spaces.OfMember), At: at, By: g.By}
	a.Code = ""
	d.Pending = slices.Delete(d.Pending, i, i+1)
	d.Admitted = append(d.Admitted, a)
	return a
}

// AdmitChat admits a whole chat with everyone in it. It reports whether that
// is news.
func (d *PairingState) AdmitChat(a ChatApproval) bool {
	a.Code, a.User, a.Scope, a.Expires = "", "", "", time.Time{}
	if _, known := d.Admission(a.Account, a.Chat, "", ""); known {
		return false
	}
	d.Admitted = append(d.Admitted, a)
	return true
}

// Revoke takes back every admission that match accepts, voids the codes of those who wait and
// that it accepts, and returns both. What was kept of these people is dropped.
func (d *PairingState) Revoke(match func(ChatApproval) bool) []ChatApproval {
	var gone []ChatApproval
	d.Pending = slices.DeleteFunc(d.Pending, func(p PairingRequest) bool {
		a := ChatApproval{PairingRequest: p}
		if !match(a) {
			return false
		}
		a.Code = ""
		gone = append(gone, a)
		return true
	})
	d.Admitted = slices.DeleteFunc(d.Admitted, func(a ChatApproval) bool {
		if !match(a) {
			return false
		}
		gone = append(gone, a)
		return true
	})
	d.Sealed = slices.DeleteFunc(d.Sealed, func(m SealedMessage) bool {
		from := m.Update.From
		return match(ChatApproval{PairingRequest: PairingRequest{Account: m.Account, Chat: m.Update.Chat.ID, User: from.ID, Scope: from.Scope}})
	})
	return gone
}

// Move carries everything about a chat over to its new id.
func (d *PairingState) Move(account, from, to string) {
	for i := range d.Pending {
		if p := &d.Pending[i]; p.Account == account && p.Chat == from {
			p.Chat = to
		}
	}
	for i := range d.Admitted {
		if a := &d.Admitted[i]; a.Account == account && a.Chat == from {
			a.Chat = to
		}
	}
	for i := range d.Sealed {
		if m := &d.Sealed[i]; m.Account == account && m.Update.Chat.ID == from {
			m.Update.Chat.ID = to
		}
	}
}

// Waiting returns the pairings that can still be approved.
func (d *PairingState) Waiting(at time.Time) []PairingRequest {
	d.expire(at)
	return d.Pending
}

// Admission returns the admission of a person in a chat, or that of the chat as
// a whole. An empty user is the platform itself and is admitted where
// anybody is.
func (d *PairingState) Admission(account, chat, scope, user string) (ChatApproval, bool) {
	for _, a := range d.Admitted {
		if a.Account == account && a.Chat == chat && (user == "" || a.User == "" || a.User == user && a.Scope == scope) {
			return a, true
		}
	}
	return ChatApproval{}, false
}

// AdmitsPerson reports whether a person is admitted in any chat of an account.
func (d *PairingState) AdmitsPerson(account string, who SenderID) bool {
	return who.User != "" && slices.ContainsFunc(d.Admitted, func(a ChatApproval) bool {
		return a.Account == account && a.User == who.User && a.Scope == who.Scope
	})
}

// expire drops the pairings whose time is over, and messages kept for as long as they may be.
func (d *PairingState) expire(at time.Time) {
	d.Sealed = slices.DeleteFunc(d.Sealed, func(m SealedMessage) bool { return !at.Before(m.Until) })
	d.Pending = slices.DeleteFunc(d.Pending, func(p PairingRequest) bool { return !at.Before(p.Expires) })
	d.Told = slices.DeleteFunc(d.Told, func(n OwnerNotice) bool { return at.Sub(n.At) >= askWindow })
	d.Refused = slices.DeleteFunc(d.Refused, func(r RefusedPerson) bool { return !at.Before(r.Until) })
}

// newCode draws a code: 40 bits of random.
func newCode(random io.Reader) (string, error) {
	var b [pairingLength]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", err
	}
	for i := range b {
		b[i] = pairingAlphabet[b[i]%byte(len(pairingAlphabet))]
	}
	return string(b[:]), nil
}

// NewLinkCode draws a code by which a person links another account of theirs. It has 40 bits,
// and a digit. It is good for ten minutes and senders are limited, so that guessing is
// hopeless without a lock.
func NewLinkCode() (string, error) { return newRequestID(rand.Reader) }

// newRequestID draws the id of a request. It has a digit, so that it is no word.
func newRequestID(random io.Reader) (string, error) {
	id, err := newCode(random)
	if err == nil && !strings.ContainsAny(id, "23456789") {
		id = "2" + id[1:]
	}
	return id, err
}

// shownCode is a code as people read it: ABCD-EFGH.
func shownCode(code string) string {
	return code[:len(code)/2] + "-" + code[len(code)/2:]
}

// plainCode undoes what people do to a code on its way.
func plainCode(shown string) string {
	return strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(shown))
}
