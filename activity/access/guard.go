package access

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	// maxCachedApprovals bounds the approved senders that a guard caches.
	maxCachedApprovals = 4096
	// approvalTTL is how long an approval is cached: so long a sender whose approval
	// another process revoked may still be admitted.
	approvalTTL = 2 * time.Second
	// noticeTTL is how long a notice may wait to be sent.
	noticeTTL = 10 * time.Minute
)

// NoticePoster stores what the process itself says in a chat.
type NoticePoster interface {
	// Post stores a notice. One with a key already posted changes nothing.
	Post(ctx context.Context, n spaces.ProcessNotice) error
	// CloseChoices has the outcome replace the last line and the buttons of the notices whose
	// keys are this one, a bar and a chat. Each is closed once.
	CloseChoices(ctx context.Context, key, outcome string, at time.Time) error
}

// An AdmissionGuard decides who may talk through one account, and tells senders who may not
// how to be approved. It is safe for concurrent use.
type AdmissionGuard struct {
	account  string // key
	pairings PairingStore
	notices  NoticePoster
	logger   *slog.Logger

	sealed atomic.Int64 // how often a message was kept, and once more for those of earlier processes
	opened atomic.Int64 // how often it had been when none was left

	mu     sync.Mutex // guards cached
	cached map[senderKey]cachedApproval
}

// NewGuard returns the guard of an account, named by its key.
func NewGuard(account string, p PairingStore, n NoticePoster, lg *slog.Logger) *AdmissionGuard {
	g := &AdmissionGuard{account: account, pairings: p, notices: n, logger: lg, cached: map[senderKey]cachedApproval{}}
	g.sealed.Store(1)
	return g
}

// An AdmissionRequest is an update of a chat, with what the caller knows about it.
type AdmissionRequest struct {
	Update adapters.Update
	Who    spaces.PlatformIdentity // the sender
	Source string                  // identity of the update in the log
	Named  bool                    // the configuration names the chat or its server
}

// Decide applies the policy to an update. It looks up stored approvals only where
// they count: in pairing mode, for a chat that the configuration does not name. An
// owner who adds the account to a chat approves the chat by that.
func (g *AdmissionGuard) Decide(ctx context.Context, p AdmissionPolicy, r AdmissionRequest, at time.Time) (d AdmissionDecision, err error) {
	facts := p.facts(r.Update, r.Named)
	if !r.Named && p.Mode == AdmitPairing {
		if d.Circle, d.Approved, err = g.approved(ctx, r.Update); err != nil {
			return d, err
		}
		if !d.Approved {
			if d.Approved, err = g.approveForOwner(ctx, p, r, at); err != nil {
				return d, err
			}
		}
		facts.approved = d.Approved
	}
	d.Outcome = decide(p.Mode, facts)
	return d, nil
}

// Answer tells the sender of an update that is not admitted how to be approved,
// where the decision allows it.
func (g *AdmissionGuard) Answer(ctx context.Context, p AdmissionPolicy, r AdmissionRequest, d AdmissionDecision, at time.Time) error {
	switch d.Outcome {
	case Refused:
		return errors.Join(g.correct(ctx, r.Update), g.explainRefusal(ctx, p, r.Update, at))
	case PairingOffered:
		return g.offerPairing(ctx, p, r, at)
	case Admitted:
	}
	return nil
}

// A SenderID identifies a sender within one platform by ids that the sender cannot
// choose.
type SenderID struct {
	Scope string // the Slack team; empty elsewhere
	User  string
}

// A senderKey is a sender in one chat.
type senderKey struct {
	chat string
	who  SenderID
}

// A cachedApproval is valid before until.
type cachedApproval struct {
	circle spaces.CircleID
	until  time.Time
}

// approved reports whether the sender or the whole chat is approved, and for which
// circle. Only a positive answer is cached, and briefly: approvals are granted and
// revoked in other processes.
func (g *AdmissionGuard) approved(ctx context.Context, u adapters.Update) (spaces.CircleID, bool, error) {
	k, now := senderKey{u.Chat.ID, SenderID{u.From.Scope, u.From.ID}}, time.Now()
	if u.Chat.Guest {
		k.chat = "" // of the person, in whichever chat
	}
	g.mu.Lock()
	c, known := g.cached[k]
	g.mu.Unlock()
	if known && now.Before(c.until) {
		return c.circle, true, nil
	}
	state, err := g.pairings.Load(ctx)
	if err != nil {
		return "", false, fmt.Errorf("look up admission: %w", err)
	}
	a, ok := state.Admission(g.account, u.Chat.ID, u.From.Scope, u.From.ID)
	if u.Chat.Guest {
		a, ok = ChatApproval{}, state.AdmitsPerson(g.account, k.who) // who reads the answer is in no circle
	}
	if !ok {
		return "", false, nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.cached) >= maxCachedApprovals {
		clear(g.cached)
	}
	g.cached[k] = cachedApproval{a.Circle, now.Add(approvalTTL)}
	return a.Circle, true, nil
}

// Forget drops cached approvals, so that a revocation counts at once.
func (g *AdmissionGuard) Forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.cached)
}

// MoveChat moves the approvals of a chat to its new id.
func (g *AdmissionGuard) MoveChat(ctx context.Context, from, to string) error {
	state, err := g.pairings.Load(ctx)
	if err != nil {
		return fmt.Errorf("look up admission: %w", err)
	}
	if _, ok := state.Admission(g.account, from, "", ""); !ok {
		return nil
	}
	if err := g.pairings.Amend(ctx, func(s *PairingState) { s.Move(g.account, from, to) }); err != nil {
		return fmt.Errorf("move approvals of chat %s: %w", from, err)
	}
	return nil
}

// approveForOwner approves a chat to which an owner adds the account, and reports
// whether it did.
func (g *AdmissionGuard) approveForOwner(ctx context.Context, p AdmissionPolicy, r AdmissionRequest, at time.Time) (bool, error) {
	u := r.Update
	_, added := u.Body.(adapters.ChatGained)
	if !added || u.Chat.Kind == adapters.Direct || p.Role == nil || u.From.Kind != adapters.Human || u.From.ID == "" {
		return false, nil
	}
	role, err := p.Role(ctx, r.Who)
	if err != nil {
		return false, fmt.Errorf("role of who added us: %w", err)
	}
	if role < spaces.OfOwner {
		return false, nil
	}
	a := ChatApproval{PairingRequest: PairingRequest{Account: g.account, Chat: u.Chat.ID, Name: spaces.TruncateText(u.Chat.Title, spaces.MaxNameBytes)}, At: at}
	if err := g.pairings.Amend(ctx, func(s *PairingState) { s.AdmitChat(a) }); err != nil {
		return false, fmt.Errorf("admit chat %s: %w", u.Chat.ID, err)
	}
	g.logger.Info("an owner let a chat in", "chat", u.Chat.ID)
	return true, nil
}

// offerPairing posts a code by which an operator can approve the sender. The code
// is posted once; the command /start posts it again. Nothing that the sender wrote
// is repeated; it is sealed.
func (g *AdmissionGuard) offerPairing(ctx context.Context, p AdmissionPolicy, r AdmissionRequest, at time.Time) error {
	u := r.Update
	code, err := newCode(p.Random)
	if err != nil {
		return fmt.Errorf("draw pairing code: %w", err)
	}
	asked := PairingRequest{
		Code: code, Account: g.account, Chat: u.Chat.ID,
		User: u.From.ID, Scope: u.From.Scope, Name: spaces.TruncateText(u.From.Name, spaces.MaxNameBytes),
	}
	if asked.User == "" {
		return nil
	}
	asked.known = p.facts(u, false).listed
	if p.Role != nil && !asked.known {
		role, err := p.Role(ctx, r.Who)
		if err != nil {
			return fmt.Errorf("role of who asks to be let in: %w", err)
		}
		asked.known = role > spaces.OfMember
	}
	if asked.ID, err = newRequestID(p.Random); err != nil {
		return fmt.Errorf("draw the id of a pairing: %w", err)
	}
	owners, err := g.owners(ctx, p, r, asked, at)
	if err != nil {
		return err
	}
	var pending PairingRequest
	var told []OwnerNotice
	var refusal error
	err = g.pairings.Amend(ctx, func(s *PairingState) {
		if pending, refusal = s.Begin(asked, at); refusal == nil {
			g.seal(s, p, u, at)
			if pending.ID == asked.ID {
				s.TellOwners(pending, owners, at)
			}
			told = s.toldOf(pending)
		}
	})
	g.sealed.Add(1) // after the state is stored, so that nothing is looked for too early
	switch {
	case err != nil:
		return fmt.Errorf("begin pairing: %w", err)
	case errors.Is(refusal, ErrTooManyPending):
		g.logger.Warn("pairing refused: too many pending", "chat", u.Chat.ID)
		return nil
	case refusal != nil:
		return refusal
	}
	key := "pairing|" + pending.Code
	if m, ok := u.Body.(adapters.IncomingMessage); ok && m.Command != nil && m.Command.Name == "start" {
		key = r.Source
	}
	if err := g.post(ctx, u, key, codeText(pending.Code, p.Remember > 0), at, pending.Expires); err != nil {
		return err
	}
	return g.tellOwners(ctx, p, pending, told, at)
}

// codeText is the text of a pairing notice. keeps is true where what the person writes is kept.
func codeText(code string, keeps bool) string {
	text := "Your code is **" + shownCode(code) + "**.\n\n" +
		"To talk with me, give it to the person who runs this bot. They let you in with `trestle pair " + shownCode(code) + "`. " +
		"It is good for 10 minutes."
	if keeps {
		text += " I read what you wrote as soon as you are let in, and not before."
	}
	return text
}

// explainRefusal tells a group that is not admitted, once, how an operator can
// admit it. After that the account stays silent there. A person who asks a guest is told
// once a day.
func (g *AdmissionGuard) explainRefusal(ctx context.Context, p AdmissionPolicy, u adapters.Update, at time.Time) error {
	if u.Chat.Guest && p.Mode != AdmitDeny && addressesAccount(u) {
		key := "unadmitted|" + g.account + "|guest|" + u.From.Scope + "|" + u.From.ID + "|" + at.UTC().Format(time.DateOnly)
		text := "I answer only people whom my operator has let in."
		if p.Mode == AdmitPairing {
			text += " Write to me in private to ask for that."
		}
		return g.post(ctx, u, key, text, at, at.Add(noticeTTL))
	}
	if u.Chat.Kind == adapters.Direct || p.Mode != AdmitPairing || !addressesAccount(u) {
		return nil
	}
	text := "I am not let in here, so I neither keep nor answer what is said. Whoever runs me can let this chat in with `trestle pair " + p.Entry + ":" + u.Chat.ID + "`."
	return g.post(ctx, u, "unadmitted|"+g.account+"|"+u.Chat.ID, text, at, at.Add(noticeTTL))
}

// addressesAccount reports whether an update asks for the account in a chat: it was
// added, or a person mentioned it.
func addressesAccount(u adapters.Update) bool {
	switch b := u.Body.(type) {
	case adapters.ChatGained:
		return true
	case adapters.IncomingMessage:
		return b.ToUs && u.From.Kind == adapters.Human && u.From.ID != ""
	case adapters.MessageEdit, adapters.MessageDeletion, adapters.ReactionChange, adapters.ReactionsCleared, adapters.PeopleJoined, adapters.PeopleLeft, adapters.ChatRenamed, adapters.MessagePinned,
		adapters.MessageUnpinned, adapters.ChatMigrated, adapters.ChatLost, adapters.UpdateGap, adapters.UnreadableUpdate, adapters.ChoicePicked:
	}
	return false
}

// OnlyReader returns the person who alone reads the answer to an update, where only they are
// meant: the person who wrote in a chat of several people. It is empty in a direct chat, and
// where a guest cannot write to one person alone.
func OnlyReader(u adapters.Update) string {
	if u.Chat.Kind == adapters.Direct || u.Chat.Guest || u.From.Kind != adapters.Human {
		return ""
	}
	return u.From.ID
}

// post stores a notice in the chat and thread of an update, for who caused that.
func (g *AdmissionGuard) post(ctx context.Context, u adapters.Update, key, text string, at, expires time.Time) error {
	n := spaces.ProcessNotice{Key: key, Account: g.account, Chat: u.Chat.ID, Thread: spaces.ThreadID(u.Thread.ID), To: OnlyReader(u), Text: text, At: at, Expires: expires}
	if err := g.notices.Post(ctx, n); err != nil {
		return fmt.Errorf("post notice: %w", err)
	}
	return nil
}
