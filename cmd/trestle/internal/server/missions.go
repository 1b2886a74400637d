package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/spaces"
)

// missionControl reads and steps missions for chat commands.
type missionControl struct{ *connectionSet }

// MissionsIn returns missions of a space.
func (c missionControl) MissionsIn(ctx context.Context, space spaces.SpaceID, since time.Time) ([]spaces.Mission, error) {
	return c.Store.Shell().MissionsIn(ctx, space, since)
}

// StepMission does a step to a mission, and has its new timers looked at.
func (c missionControl) StepMission(ctx context.Context, step spaces.MissionStep) (*spaces.Mission, bool, error) {
	defer c.notifyOutbox()
	return c.Store.Shell().StepMission(ctx, step)
}

// StepMission implements [console.Process].
func (d consoleBackend) StepMission(ctx context.Context, id string, step spaces.MissionStepKind) (spaces.Mission, error) {
	defer d.s.notifyOutbox()
	return StepMission(ctx, d.s.Store, id, step)
}

// StepMission does an operator's step to a mission of a store; see [console.ProcessControl].
func StepMission(ctx context.Context, s *sqlstore.Store, id string, step spaces.MissionStepKind) (spaces.Mission, error) {
	record, err := s.Console().Missions().Mission(ctx, id)
	if err != nil {
		return spaces.Mission{}, err
	}
	m, taken, err := s.Shell().StepMission(ctx, spaces.MissionStep{Mission: record.Mission.ID, Kind: step, By: spaces.MissionOperator, At: time.Now()})
	switch {
	case err != nil:
		return spaces.Mission{}, err
	case m == nil:
		return spaces.Mission{}, console.ErrUnknown
	case !taken:
		return *m, &apperr.Error{What: fmt.Sprintf("a mission that is %s cannot %s", m.State, step), Where: "mission " + m.Number(), Remedy: "trestle missions show " + m.Number() + " tells how it stands", Code: apperr.Failed}
	}
	return *m, nil
}

// A MissionRequest asks for a step to a mission.
type MissionRequest struct {
	ID   string                 `json:"id"`
	Step spaces.MissionStepKind `json:"step"`
}

// stepMission does an operator's step to a mission.
func (ctl controlServer) stepMission(ctx context.Context, q MissionRequest) (spaces.Mission, error) {
	m, err := consoleBackend{ctl.Server}.StepMission(ctx, q.ID, q.Step)
	return m, MissionError(err, q.ID)
}

// MissionError returns what a command says when a mission could not be found.
func MissionError(err error, id string) error {
	if several, ok := errors.AsType[console.AmbiguousNameError](err); ok {
		return &apperr.Error{What: several.Error(), Where: "missions", Remedy: "write more of the id that is meant", Code: apperr.Failed}
	}
	if errors.Is(err, console.ErrUnknown) {
		return &apperr.Error{What: fmt.Sprintf("there is no mission %q", id), Where: "missions", Remedy: "see trestle missions", Code: apperr.Failed}
	}
	return err
}
