package access

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// A deskStore is a store in memory of pairings and of what people are told.
type deskStore struct {
	state  PairingState
	posted []spaces.ProcessNotice
	closed []string
}

func (s *deskStore) Load(context.Context) (PairingState, error) { return s.state, nil }

func (s *deskStore) Amend(_ context.Context, change func(*PairingState)) error {
	change(&s.state)
	return nil
}

func (s *deskStore) Post(_ context.Context, n spaces.ProcessNotice) error {
	s.posted = append(s.posted, n)
	return nil
}

func (s *deskStore) CloseChoices(_ context.Context, key, outcome string, _ time.Time) error {
	s.closed = append(s.closed, key+": "+outcome)
	return nil
}

func (s *deskStore) Open(context.Context, spaces.OpenRequest) (spaces.ChatPlacement, error) {
	return spaces.ChatPlacement{}, nil
}

// identified is asks with an id.
func identified(n int) PairingRequest {
	p := asks(n)
	p.ID = fmt.Sprintf("ID%06d", n)
	return p
}

func TestAnOwnerIsAskedAboutFewRequestsAnHour(t *testing.T) {
	var d PairingState
	tell := func(n int, at time.Time) {
		p, err := d.Begin(identified(n), at)
		if err != nil {
			t.Fatal(err)
		}
		d.TellOwners(p, []string{"zoe"}, at)
	}
	count := func() (asked, more int) {
		for _, n := range d.Told {
			if n.More {
				more++
			} else {
				asked++
			}
		}
		return asked, more
	}
	for n := range 3 * MaxAsked {
		tell(n, noon)
	}
	if asked, more := count(); asked != MaxAsked || more != 1 {
		t.Errorf("asked about %d and told %d times that more wait, want %d and 1", asked, more, MaxAsked)
	}
	tell(100, noon.Add(askWindow))
	if asked, more := count(); asked != 1 || more != 0 {
		t.Errorf("an hour later asked about %d and told %d times that more wait, want 1 and 0", asked, more)
	}
}

func TestARefusedPersonIsNotAskedAboutAgain(t *testing.T) {
	s := &deskStore{}
	p, err := s.state.Begin(identified(1), noon)
	if err != nil {
		t.Fatal(err)
	}
	second := identified(1)
	second.Chat, second.ID = "second", "ID000099"
	if _, err := s.state.Begin(second, noon); err != nil {
		t.Fatal(err)
	}
	desk := ApprovalManager{Pairings: s, Spaces: s, Notices: s}
	q := spaces.PairingDecision{Request: p.ID, Account: p.Account, By: spaces.PlatformIdentity{Platform: "telegram", User: "9", Name: "Zoe"}, At: noon}
	for i, want := range []bool{true, false} { // a second press changes nothing
		if text, done, err := desk.Decide(t.Context(), q); err != nil || done != want {
			t.Errorf("press %d gives %q, %v, %v", i, text, done, err)
		}
	}
	if len(s.posted) != 0 || len(s.closed) != 2 || s.closed[0] != "letin|"+p.ID+": Refused. Decided by Zoe." || s.closed[1] != "letin|ID000099: Refused. Decided by Zoe." {
		t.Errorf("the stranger is told %v, the owners %v", s.posted, s.closed)
	}
	if _, err := desk.Approve(t.Context(), p.Code, ApprovalGrant{}, noon); err == nil {
		t.Error("the code of a refused person lets them in")
	}
	for _, later := range []time.Duration{PairingTTL, RefusalTTL - 1, RefusalTTL} {
		s.state.Told = nil
		at := noon.Add(later)
		again, err := s.state.Begin(identified(1), at)
		if err != nil {
			t.Fatal(err)
		}
		s.state.TellOwners(again, []string{"zoe"}, at)
		if asked := len(s.state.Told) > 0; asked != (later == RefusalTTL) {
			t.Errorf("%s after the refusal the owner is asked: %v", later, asked)
		}
	}
}

func TestAnOwnersDecisionIsBoundToTheRequest(t *testing.T) {
	s := &deskStore{}
	p, err := s.state.Begin(identified(1), noon)
	if err != nil {
		t.Fatal(err)
	}
	desk := ApprovalManager{Pairings: s, Spaces: s, Notices: s}
	q := spaces.PairingDecision{Request: p.ID, Account: p.Account, LetIn: true, By: spaces.PlatformIdentity{Platform: "slack", Scope: "T1", User: "U9", Name: "Zoe"}, At: noon}
	for what, change := range map[string]func(*spaces.PairingDecision){
		"the code":        func(d *spaces.PairingDecision) { d.Request = p.Code },
		"no id":           func(d *spaces.PairingDecision) { d.Request = "" },
		"another account": func(d *spaces.PairingDecision) { d.Account = "b" },
		"a late press":    func(d *spaces.PairingDecision) { d.At = noon.Add(PairingTTL) },
	} {
		wrong := q
		change(&wrong)
		kept := s.state
		if _, done, err := desk.Decide(t.Context(), wrong); done || err != nil || len(s.state.Admitted) > 0 {
			t.Errorf("%s decides: %v, %v", what, done, err)
		}
		kept.Pending = []PairingRequest{p}
		s.state = kept
	}
	if _, done, err := desk.Decide(t.Context(), q); !done || err != nil {
		t.Fatalf("the decision does not count: %v", err)
	}
	a, ok := s.state.Admission(p.Account, p.Chat, p.Scope, p.User)
	if !ok || a.Role != spaces.OfMember || a.By != "slack:T1/U9" {
		t.Errorf("admitted %v: %+v", ok, a)
	}
}

func TestPairingAtTheTerminalClosesTheQuestion(t *testing.T) {
	s := &deskStore{}
	p, err := s.state.Begin(identified(1), noon)
	if err != nil {
		t.Fatal(err)
	}
	desk := ApprovalManager{Pairings: s, Spaces: s, Notices: s}
	if _, err := desk.Approve(t.Context(), p.Code, ApprovalGrant{}, noon); err != nil {
		t.Fatal(err)
	}
	if len(s.closed) != 1 || !strings.HasPrefix(s.closed[0], "letin|"+p.ID+": Let in") {
		t.Errorf("closed %v", s.closed)
	}
}

func TestAStrangersNameIsNoTextOfTheProgram(t *testing.T) {
	for name, want := range map[string]string{
		"Kai":                               "Kai",
		"":                                  "no name",
		"\u202e**\u200b":                    "no name",
		"Kai”\nAccount: `telegram:1`":       "Kai Account telegram1",
		"[Let in](https://evil.example) @x": "Let inhttpsevilexample x",
		strings.Repeat("a", 500):            strings.Repeat("a", maxNameShow),
		"Zoë Müller-O'Neil":                 "Zoë Müller-O'Neil",
	} {
		if got := shownName(name); got != want {
			t.Errorf("%q is shown as %q, want %q", name, got, want)
		}
	}
	p := identified(1)
	if text := ownerText("telegram", p); strings.Contains(text, p.Code) {
		t.Errorf("the owner is shown the code: %s", text)
	}
}
