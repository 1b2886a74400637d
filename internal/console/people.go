package console

import (
	"context"
	"time"

	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/spaces"
)

// AdmissionDesk has the people and chats that are let in beside those that the configuration
// names. What cannot be done is [UserError].
type AdmissionDesk interface {
	// Admissions returns who waits, who was let in, and who was refused lately.
	Admissions(ctx context.Context) (AdmissionLists, error)
	// Admit lets in the person with a code, or a whole chat. They are told.
	Admit(ctx context.Context, q PairRequest) (AdmittedPerson, error)
	// ShutOut takes access from a person or a chat at once. The code of one who waits is void.
	ShutOut(ctx context.Context, q RevokeRequest) ([]AdmittedPerson, error)
}

// PairRequest lets in a person by their code, or a whole chat by its name.
type PairRequest struct {
	Code   string `json:"code,omitempty"`
	Chat   string `json:"chat,omitempty"` // adapter:chat
	Circle string `json:"circle,omitempty"`
	Role   string `json:"role,omitempty"` // member, admin, owner; empty: member
}

// RevokeRequest takes access from a person or a chat, named in one of two ways.
type RevokeRequest struct {
	Who     string `json:"who,omitempty"`     // adapter:user or adapter:chat
	Account string `json:"account,omitempty"` // with ID, as lists have it
	ID      string `json:"id,omitempty"`      // of the person or of the chat
}

// AdmittedPerson is a person or a chat with access.
type AdmittedPerson struct {
	Account string    `json:"account"`
	Chat    string    `json:"chat"`
	User    string    `json:"user"` // empty: the whole chat
	Name    string    `json:"name,omitempty"`
	Circle  string    `json:"circle,omitempty"`
	Role    string    `json:"role"`
	At      time.Time `json:"at"`
}

// RefusedSender is a person who was refused.
type RefusedSender struct {
	Account string    `json:"account"`
	Chat    string    `json:"chat"`
	User    string    `json:"user,omitempty"`
	Kind    string    `json:"kind"`
	Count   int64     `json:"count"`
	Last    time.Time `json:"last"`
}

// AdmissionLists lists who waits, who is admitted, and who was refused lately.
type AdmissionLists struct {
	Waiting  []Pairing        `json:"waiting"`
	Admitted []AdmittedPerson `json:"admitted"`
	Refused  []RefusedSender  `json:"refused"`
}

// AgentControl stops and mutes agents, and quietens problems, as chat commands do.
type AgentControl interface {
	// Stop ends what agents do in a room, with what they decided and was not sent.
	Stop(ctx context.Context, q spaces.StopRequest) (spaces.StopResult, error)
	// Mute has agents follow a room in silence, or lifts it, and returns those that it
	// changed. What they have under way there ends.
	Mute(ctx context.Context, q spaces.MuteRequest) ([]spaces.AgentID, error)
	// Quiet has an open problem not be told again until a time. One that is not open is
	// [ErrUnknown].
	Quiet(ctx context.Context, id alerts.AlertID, until time.Time) error
}
