package access

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

// The bounds of what is kept of people who wait to be let in.
const (
	MaxSealedPerPerson = 5         // messages of one person in one chat
	MaxSealedBytes     = 256 << 10 // of text, of all people of an account
)

// A SealedMessage is what a person wrote before they were let in. No list, log line or prompt
// contains it. Once they are let in, it is recorded as a message received then.
type SealedMessage struct {
	Account string                   `json:"account"`
	Until   time.Time                `json:"until"`  // when it is dropped
	Update  adapters.Update          `json:"update"` // without its body
	Message adapters.IncomingMessage `json:"message"`
}

// Whole returns the update as it was received.
func (m SealedMessage) Whole() adapters.Update {
	u := m.Update
	u.Body = m.Message
	return u
}

func (m SealedMessage) is(n SealedMessage) bool {
	return m.Account == n.Account && m.Update.Chat.ID == n.Update.Chat.ID && m.Message.ID == n.Message.ID
}

// Seal keeps a message of a person who waits. Once a bound is reached it keeps no further message,
// and drops none of those that it has.
func (d *PairingState) Seal(m SealedMessage, at time.Time) {
	d.expire(at)
	ofPerson := 0
	for _, o := range d.Sealed {
		if o.is(m) {
			return
		}
		if o.Account == m.Account && o.Update.Chat.ID == m.Update.Chat.ID && o.Update.From.ID == m.Update.From.ID {
			ofPerson++
		}
	}
	if ofPerson < MaxSealedPerPerson && d.sealedBytes(m.Account)+len(m.Message.Text) <= MaxSealedBytes {
		d.Sealed = append(d.Sealed, m)
	}
}

// Correct carries an edit or a deletion by a person who waits into what is kept of them.
func (d *PairingState) Correct(account string, u adapters.Update) {
	isMessage := func(id string) func(SealedMessage) bool {
		return func(m SealedMessage) bool {
			return m.Account == account && m.Update.Chat.ID == u.Chat.ID && m.Message.ID == id
		}
	}
	if deleted, ok := u.Body.(adapters.MessageDeletion); ok {
		for _, id := range deleted.Messages {
			d.Sealed = slices.DeleteFunc(d.Sealed, isMessage(id))
		}
	}
	edit, ok := u.Body.(adapters.MessageEdit)
	i := slices.IndexFunc(d.Sealed, isMessage(edit.New.ID))
	if !ok || i < 0 || d.Sealed[i].Update.From.ID != u.From.ID {
		return
	}
	if d.Sealed[i].Message.Text = edit.New.Text; d.sealedBytes(account) > MaxSealedBytes {
		d.Sealed = slices.Delete(d.Sealed, i, i+1)
	}
}

// sealedBytes returns how much text is kept for an account.
func (d *PairingState) sealedBytes(account string) (n int) {
	for i := range d.Sealed {
		if d.Sealed[i].Account == account {
			n += len(d.Sealed[i].Message.Text)
		}
	}
	return n
}

// Unsealed returns what was kept of people who have been let in since, the oldest first.
func (d *PairingState) Unsealed(account string, at time.Time) []SealedMessage {
	d.expire(at)
	return slices.DeleteFunc(slices.Clone(d.Sealed), func(m SealedMessage) bool {
		from := m.Update.From
		_, admitted := d.Admission(account, m.Update.Chat.ID, from.Scope, from.ID)
		return m.Account != account || !admitted
	})
}

// keepsOf reports whether something is kept of the people who a pairing or approval is about.
func (d *PairingState) keepsOf(p PairingRequest) bool {
	return slices.ContainsFunc(d.Sealed, func(m SealedMessage) bool {
		return PairingRequest{Account: m.Account, Chat: m.Update.Chat.ID, User: m.Update.From.ID, Scope: m.Update.From.Scope}.same(p)
	})
}

// seal keeps a message that is answered by a code. A command is answered anyway.
func (g *AdmissionGuard) seal(s *PairingState, p AdmissionPolicy, u adapters.Update, at time.Time) {
	m, said := u.Body.(adapters.IncomingMessage)
	if p.Remember <= 0 || !said || m.Command != nil {
		return
	}
	u.Body, u.Raw = nil, nil
	s.Seal(SealedMessage{Account: g.account, Until: at.Add(p.Remember), Update: u, Message: m}, at)
}

// mayKeep reports whether something may be kept of people who write to the account.
func (g *AdmissionGuard) mayKeep() bool { return g.sealed.Load() != g.opened.Load() }

// correct carries an edit or a deletion into what is kept.
func (g *AdmissionGuard) correct(ctx context.Context, u adapters.Update) error {
	_, edit := u.Body.(adapters.MessageEdit)
	_, deletion := u.Body.(adapters.MessageDeletion)
	if !edit && !deletion || u.Chat.Kind != adapters.Direct || !g.mayKeep() {
		return nil
	}
	if err := g.pairings.Amend(ctx, func(s *PairingState) { s.Correct(g.account, u) }); err != nil {
		return fmt.Errorf("correct what waits: %w", err)
	}
	return nil
}

// Unseal passes what was kept of people who have been let in to record, each message whole, and
// drops it once record returns nil. After a crash between, record gets it again.
func (g *AdmissionGuard) Unseal(ctx context.Context, at time.Time, record func(adapters.UpdateBatch) error) error {
	n := g.sealed.Load()
	if !g.mayKeep() {
		return nil
	}
	state, err := g.pairings.Load(ctx)
	if err != nil {
		return fmt.Errorf("look up who was let in: %w", err)
	}
	before := len(state.Sealed)
	open := state.Unsealed(g.account, at)
	if len(open) > 0 {
		var b adapters.UpdateBatch
		for _, m := range open {
			b.Updates = append(b.Updates, m.Whole())
		}
		if err := record(b); err != nil {
			return err
		}
	}
	if len(open) > 0 || len(state.Sealed) < before {
		err = g.pairings.Amend(ctx, func(s *PairingState) {
			s.Sealed = slices.DeleteFunc(s.Sealed, func(m SealedMessage) bool { return slices.ContainsFunc(open, m.is) })
			s.expire(at)
			state.Sealed = s.Sealed
		})
		if err != nil {
			return fmt.Errorf("drop what was kept: %w", err)
		}
	}
	if !slices.ContainsFunc(state.Sealed, func(m SealedMessage) bool { return m.Account == g.account }) {
		g.opened.Store(n)
	}
	return nil
}
