package web

import (
	"errors"
	"net/http"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/spaces"
)

// missionPages are the pages of missions.
type missionPages struct{ *Site }

type missionsPage struct {
	pageLayout
	Missions []spaces.Mission
}

func (site missionPages) pageMissions(r *http.Request) (view, error) {
	a, err := site.api.ListMissions(r)
	return &missionsPage{pageLayout{Title: "Missions", Terminal: "trestle missions"}, a.Missions}, err
}

// A missionPage shows a mission with its tasks as a graph: a column for each of those that can
// begin at the same time, the first ones first.
type missionPage struct {
	pageLayout
	console.MissionRecord
	Columns [][]spaces.MissionTask
	Used    string
	Share   int // of the budget, in percent; -1: it has none
	Verbs   []spaces.MissionStepKind
	Room    []roomLine // what was said last there
}

// A roomLine is a message of the room that a mission is in.
type roomLine struct {
	Who, Text string
	At        time.Time
}

// roomLines is how many lines of its room are shown beside a mission.
const roomLines = 15

func (site missionPages) pageMission(r *http.Request) (view, error) {
	record, err := site.api.ReadMission(r)
	if err != nil {
		return &missionPage{}, err
	}
	m := &record.Mission
	p := &missionPage{
		pageLayout:    pageLayout{Title: "Mission " + m.Number(), Terminal: "trestle missions show " + m.Number()},
		MissionRecord: record, Columns: taskColumns(m.Tasks), Verbs: missionVerbs(m.State),
	}
	p.Used, p.Share = record.Used()
	said, err := site.Store.Recent(r.Context(), m.Space, roomLines)
	if err != nil {
		return p, err
	}
	names, err := site.Store.Names(r.Context(), console.Actors(said))
	if err != nil {
		return p, err
	}
	for _, e := range said {
		if b, ok := e.Body.(spaces.MessagePosted); ok {
			p.Room = append(p.Room, roomLine{names[e.Actor].Name, b.Text, e.At})
		}
	}
	return p, nil
}

// taskColumns puts tasks into columns: each behind those that it needs.
func taskColumns(tasks []spaces.MissionTask) (columns [][]spaces.MissionTask) {
	column := map[int]int{}
	for _, t := range tasks {
		at := 0
		for _, n := range t.After {
			at = max(at, column[n]+1)
		}
		column[t.N] = at
		if at == len(columns) {
			columns = append(columns, nil)
		}
		columns[at] = append(columns[at], t)
	}
	return columns
}

// missionVerbs are what can be done to a mission in a state.
func missionVerbs(s spaces.MissionState) []spaces.MissionStepKind {
	switch s {
	case spaces.MissionProposed:
		return []spaces.MissionStepKind{spaces.MissionStart, spaces.MissionCancel}
	case spaces.MissionRunning:
		return []spaces.MissionStepKind{spaces.MissionPause, spaces.MissionCancel}
	case spaces.MissionPaused:
		return []spaces.MissionStepKind{spaces.MissionResume, spaces.MissionCancel}
	case spaces.MissionCompleted, spaces.MissionFailed, spaces.MissionCancelled:
	}
	return nil
}

// missionClass is the class of a mission's or task's state.
func missionClass(state string) string {
	switch state {
	case string(spaces.MissionCompleted), string(spaces.TaskVerified):
		return "good"
	case string(spaces.MissionFailed), string(spaces.MissionPaused):
		return "bad"
	}
	return ""
}

// pageStepMission does a step to a mission and shows it, also when it is not taken: it may have
// moved since the page was read.
func (site missionPages) pageStepMission(w http.ResponseWriter, r *http.Request) {
	_, err := site.api.StepMission(r)
	if _, refused := errors.AsType[console.UserError](err); err != nil && (!refused || errors.Is(err, console.ErrUnknown)) {
		site.respond.FailInternal(w, r, err)
		return
	}
	http.Redirect(w, r, "/missions/"+r.PathValue("id"), http.StatusSeeOther)
}
