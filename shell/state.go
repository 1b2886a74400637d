package shell

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// ErrInvalidTransition is returned for a move the state machine does not have.
// The machine stays where it was.
var ErrInvalidTransition = errors.New("invalid transition")

// A StateMachine is the state of one cycle. Its state changes only through Move, and
// every move leaves an immutable record (PRD-6.3).
type StateMachine struct {
	cycle spaces.CycleID
	state spaces.ShellState
	moves []spaces.StateTransition // since the last Taken
}

// NewMachine returns the machine of a cycle in state.
func NewMachine(c spaces.CycleID, state spaces.ShellState) *StateMachine {
	return &StateMachine{cycle: c, state: state}
}

// State returns the current state.
func (m *StateMachine) State() spaces.ShellState { return m.state }

// legal lists the moves the machine has.
var legal = map[spaces.ShellState][]spaces.ShellState{
	spaces.Idle:          {spaces.Contemplating, spaces.Engaging},
	spaces.Contemplating: {spaces.Engaging, spaces.Idle},
	spaces.Engaging:      {spaces.Acting, spaces.Idle, spaces.Sleeping, spaces.WaitingReply},
	spaces.Acting:        {spaces.Engaging, spaces.Idle, spaces.Sleeping, spaces.WaitingReply},
	spaces.WaitingReply:  {spaces.Idle},
	spaces.Sleeping:      {spaces.Idle},
}

// A TransitionCause says who moves the machine and why.
type TransitionCause struct {
	By     string // coordinator, agent, user, system
	Reason string
	Stop   spaces.StopReason // set when the cycle ends with this move
	At     time.Time
}

// Move takes the machine to a state and returns the record of it.
func (m *StateMachine) Move(to spaces.ShellState, c TransitionCause) (spaces.StateTransition, error) {
	if !slices.Contains(legal[m.state], to) {
		return spaces.StateTransition{}, fmt.Errorf("%w: %s to %s", ErrInvalidTransition, m.state, to)
	}
	t := spaces.StateTransition{Cycle: m.cycle, From: m.state, To: to, By: c.By, Reason: c.Reason, Stop: c.Stop, At: c.At}
	m.state = to
	m.moves = append(m.moves, t)
	return t, nil
}

// must makes a move that our own code knows to be legal.
func (m *StateMachine) must(to spaces.ShellState, c TransitionCause) spaces.StateTransition {
	t, err := m.Move(to, c)
	if err != nil {
		panic("shell: " + err.Error())
	}
	return t
}

// Taken returns the moves since the last call as one inner event, and false
// when there were none.
func (m *StateMachine) Taken() (spaces.StatesChanged, bool) {
	if len(m.moves) == 0 {
		return spaces.StatesChanged{}, false
	}
	t := spaces.StatesChanged{Moves: m.moves}
	m.moves = nil
	return t, true
}
