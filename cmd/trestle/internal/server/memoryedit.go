package server

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// A MemoryChange has a mind forget a memory or, with a fact, replaces the memory's fact. The
// same value is the answer.
type MemoryChange struct {
	Mind string  `json:"mind"`
	ID   string  `json:"id"`
	Fact *string `json:"fact,omitempty"`
}

// A memoryEditor changes what minds remember; see [console.Process].
type memoryEditor interface {
	Forget(ctx context.Context, m spaces.Mind, id string) (bool, error)
	Correct(ctx context.Context, m spaces.Mind, id, fact string) (bool, error)
}

var _ memoryEditor = consoleBackend{}

// CheckFact returns a fact as it may be stored, or an error.
func CheckFact(conf *config.Config, m spaces.Mind, fact string) (string, error) {
	fact = strings.TrimSpace(fact)
	if wrong, better := shell.WrongFact(fact, conf.SettingsFor(string(m.Agent), "").Memory.MaxChars); wrong != "" {
		return "", &apperr.Error{What: wrong, Where: "memory of " + m.String(), Remedy: better, Code: apperr.Usage}
	}
	return fact, nil
}

// Do applies the change.
func (q MemoryChange) Do(ctx context.Context, of memoryEditor) error {
	m, err := ParseMindName(q.Mind)
	if err != nil {
		return err
	}
	var had bool
	things := "memory, timer or plan"
	if q.Fact == nil {
		had, err = of.Forget(ctx, m, q.ID)
	} else {
		things = "memory"
		had, err = of.Correct(ctx, m, q.ID, *q.Fact)
	}
	if err == nil && !had {
		return &apperr.Error{What: "there is no " + things + " of that id", Where: m.String() + " " + q.ID, Remedy: "see trestle memory " + m.String(), Code: apperr.Failed}
	}
	return err
}

func (ctl controlServer) forget(ctx context.Context, q MemoryChange) (MemoryChange, error) {
	q.Fact = nil
	return q, q.Do(ctx, consoleBackend{ctl.Server})
}

func (ctl controlServer) correct(ctx context.Context, q MemoryChange) (MemoryChange, error) {
	q.Fact = cmp.Or(q.Fact, new(""))
	return q, q.Do(ctx, consoleBackend{ctl.Server})
}

// ParseMindName returns the mind of that name, or an error with the form of names.
func ParseMindName(name string) (spaces.Mind, error) {
	m, ok := spaces.ParseMind(name)
	if !ok {
		return m, &apperr.Error{What: fmt.Sprintf("%q names no mind", name), Where: "mind " + name, Remedy: "write agent/circle, such as ada/home; see trestle status", Code: apperr.Usage}
	}
	return m, nil
}
