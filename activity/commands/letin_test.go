package commands

import (
	"context"
	"log/slog"
	"testing"

	"github.com/trestle-bridge/trestle/spaces"
)

// A pairingDesk decides once, and one role is that of each person.
type pairingDesk struct {
	role    spaces.AuthorityLevel
	decided []spaces.PairingDecision
}

func (d *pairingDesk) Role(context.Context, spaces.PlatformIdentity) (spaces.AuthorityLevel, error) {
	return d.role, nil
}

func (d *pairingDesk) DecidePairing(_ context.Context, q spaces.PairingDecision) (string, bool, error) {
	d.decided = append(d.decided, q)
	return "Let in.", len(d.decided) == 1, nil
}

func TestOnlyAnOwnerInTheirOwnChatLetsPeopleIn(t *testing.T) {
	for _, c := range []struct {
		name   string
		role   spaces.AuthorityLevel
		kind   spaces.EntityKind
		direct bool
		want   string
	}{
		{"owner", spaces.OfOwner, spaces.Human, true, "Let in."},
		{"owner in a group", spaces.OfOwner, spaces.Human, false, notHere},
		{"admin", spaces.OfAdmin, spaces.Human, true, onlyOwners},
		{"member", spaces.OfMember, spaces.Human, true, onlyOwners},
		{"program", spaces.OfOwner, spaces.Bot, true, onlyOwners},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &pairingDesk{role: c.role}
			h := &CommandHandler{Roles: d, Pairings: d}
			q := CommandRequest{Who: spaces.PlatformIdentity{Kind: c.kind}, Account: "telegram:1", Direct: c.direct}
			lg := slog.New(slog.DiscardHandler)
			typed := q
			typed.Command, typed.Args = CommandLetIn, "k7qdx2ab"
			if got := h.RunInSpaces(t.Context(), typed, nil, lg); got != c.want {
				t.Errorf("the command is answered %q, want %q", got, c.want)
			}
			counts := c.want == "Let in."
			if (len(d.decided) > 0) != counts {
				t.Fatalf("decided %+v", d.decided)
			}
			want := c.want
			if counts { // the notice says it
				want, d.decided = "", nil
			}
			if got := h.RunPressed(t.Context(), "letin K7QDX2AB", q, nil, lg); got != want {
				t.Errorf("the press is answered %q, want %q", got, want)
			}
			if !counts {
				return
			}
			if p := d.decided[0]; p.Request != "K7QDX2AB" || p.Account != "telegram:1" || !p.LetIn {
				t.Errorf("decided %+v", p)
			}
			if got := h.RunPressed(t.Context(), "refuse K7QDX2AB", q, nil, lg); got != pairingOver || d.decided[1].LetIn {
				t.Errorf("a second press is answered %q", got)
			}
		})
	}
}

// A message in which an ordinary word follows "refuse" is no command.
func TestTalkIsNoDecisionAboutAPairing(t *testing.T) {
	for _, text := range []string{"refuse anything", "Refuse whatever.", "letin strangers", "refuse"} {
		if c := parsePairing(text); c != nil {
			t.Errorf("%q is the command %+v", text, c)
		}
	}
	if c := parsePairing("refuse k7qdx2ab"); c == nil || c.Args != "K7QDX2AB" {
		t.Errorf("an id is read as %+v", c)
	}
}
