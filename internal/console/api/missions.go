package api

import (
	"net/http"
	"slices"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/spaces"
)

// A MissionsAnswer lists missions, newest first.
type MissionsAnswer struct {
	Missions []spaces.Mission `json:"missions"`
}

// ListMissions returns the newest missions.
func (api *API) ListMissions(r *http.Request) (MissionsAnswer, error) {
	limit, err := console.QueryLimit(r)
	if err != nil {
		return MissionsAnswer{}, err
	}
	found, err := api.Store.Missions().Missions(r.Context(), limit)
	return MissionsAnswer{Missions: append([]spaces.Mission{}, found...)}, err
}

// ReadMission returns the mission that a path names, with its moves and what it used.
func (api *API) ReadMission(r *http.Request) (console.MissionRecord, error) {
	return api.Store.Missions().Mission(r.Context(), r.PathValue("id"))
}

// A CheckpointsAnswer lists the checkpoints of a mission, oldest first.
type CheckpointsAnswer struct {
	Checkpoints []spaces.MissionCheckpoint `json:"checkpoints"`
}

// ListCheckpoints returns the checkpoints of the mission that a path names.
func (api *API) ListCheckpoints(r *http.Request) (CheckpointsAnswer, error) {
	m, err := api.ReadMission(r)
	return CheckpointsAnswer{append([]spaces.MissionCheckpoint{}, m.Checkpoints...)}, err
}

// StepMission starts, pauses, resumes or cancels the mission that a path names, as its verb
// says; resume, from a checkpoint too.
func (api *API) StepMission(r *http.Request) (spaces.Mission, error) {
	step := spaces.MissionStep{Kind: spaces.MissionStepKind(r.PathValue("verb"))}
	if !slices.Contains(spaces.PeopleSteps(), step.Kind) {
		return spaces.Mission{}, console.ErrUnknown
	}
	if from := r.FormValue("from_checkpoint"); from != "" {
		var ok bool
		if step.From, ok = spaces.ParseCheckpoint(from); !ok || step.Kind != spaces.MissionResume {
			return spaces.Mission{}, console.ErrParameter
		}
	}
	m, err := api.Process.StepMission(r.Context(), r.PathValue("id"), step)
	if err == nil {
		api.Logger.Info("mission stepped", "mission", m.ID, "step", string(step.Kind), "from", step.From)
	}
	return m, err
}
