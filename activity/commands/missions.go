package commands

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/spaces"
)

// CommandMission shows the missions of a room, and starts, pauses, resumes and cancels them.
const CommandMission = "mission"

// A MissionStore holds the missions of rooms.
type MissionStore interface {
	// MissionsIn returns the missions of a space that have not ended, and those that ended
	// since an instant, oldest first.
	MissionsIn(ctx context.Context, space spaces.SpaceID, since time.Time) ([]spaces.Mission, error)
	// StepMission does a step to a mission and returns it as it is then. taken is false when
	// the mission does not take the step in its state.
	StepMission(ctx context.Context, step spaces.MissionStep) (m *spaces.Mission, taken bool, err error)
}

// missionWords is a message that decides about a mission, which needs no slash: "mission
// start 3f2a", "mission resume 3f2a from 2".
var missionWords = regexp.MustCompile(`(?i)^[/!]?mission\s+(start|pause|resume|cancel)\s+#?([0-9a-z]{4})(?:\s+from\s+(?:checkpoint\s+)?(latest|\d{1,4}))?[.!]?$`)

// parseMission returns the command of a message that decides about a mission; nil of another
// one.
func parseMission(text string) *adapters.ChatCommand {
	m := missionWords.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return nil
	}
	return &adapters.ChatCommand{Name: CommandMission, Args: strings.ToLower(strings.TrimSpace(strings.Join(m[1:], " ")))}
}

const noMission = "There is no mission here. Tell an agent what is to be done, with the word mission."

// recentMission is how long an ended mission is shown by the command.
const recentMission = 24 * time.Hour

// mission shows the missions of a room, or does a step to one of them.
func (a *CommandHandler) mission(ctx context.Context, q CommandRequest) (string, error) {
	if a.Missions == nil {
		return noMission, nil
	}
	word, number, _ := strings.Cut(strings.ToLower(strings.TrimSpace(q.Args)), " ")
	kind, isStep := missionSteps[word]
	all, err := a.Missions.MissionsIn(ctx, q.Space, q.At.Add(-recentMission))
	switch {
	case err != nil:
		return "", fmt.Errorf("missions of %s: %w", q.Space, err)
	case word != "" && !isStep:
		return "Tell an agent what is to be done, with the word mission. `mission start`, `pause`, `resume` and `cancel` with its number decide about one.", nil
	case len(all) == 0:
		return noMission, nil
	case !isStep:
		texts := make([]string, len(all))
		for i := range all {
			texts[i] = all[i].Text()
		}
		return strings.Join(texts, "\n\n"), nil
	}
	number, from, _ := strings.Cut(strings.Trim(number, " #.!"), " ")
	step := spaces.MissionStep{Kind: kind}
	if from != "" {
		var ok bool
		if step.From, ok = spaces.ParseCheckpoint(from[strings.LastIndexByte(from, ' ')+1:]); !ok || kind != spaces.MissionResume {
			return "To have a mission go on from a checkpoint, write `mission resume " + number + " from 2` with the number of the checkpoint, or `latest`.", nil
		}
	}
	var found []spaces.Mission
	for _, m := range all {
		if number == "" && !m.State.Over() || number != "" && strings.EqualFold(m.Number(), number) {
			found = append(found, m)
		}
	}
	if len(found) != 1 {
		return fmt.Sprintf("Write the number of a mission of this room, such as `mission %s %s`.", word, all[len(all)-1].Number()), nil
	}
	text, err := a.stepMission(ctx, &found[0], step, q)
	if text == "" && err == nil && step.From == 0 {
		text = missionDone[kind]
	}
	return text, err
}

// missionSteps are what people do to missions.
var missionSteps = map[string]spaces.MissionStepKind{
	"start": spaces.MissionStart, "pause": spaces.MissionPause, "resume": spaces.MissionResume, "cancel": spaces.MissionCancel,
}

// missionDone is what people are told of a step.
var missionDone = map[spaces.MissionStepKind]string{
	spaces.MissionStart: "Started.", spaces.MissionPause: "Paused.", spaces.MissionResume: "Resumed.", spaces.MissionCancel: "Cancelled.",
}

// stepMission does a person's step to a mission, and returns why it was not done; empty when
// it was. Who asked for the mission and admins may start and resume it, and everybody in the
// room may hold it back.
func (a *CommandHandler) stepMission(ctx context.Context, m *spaces.Mission, s spaces.MissionStep, q CommandRequest) (string, error) {
	kind := s.Kind
	by, err := a.Approvals.EntityOf(ctx, q.Who)
	if err != nil {
		return "", err
	}
	if (kind == spaces.MissionStart || kind == spaces.MissionResume) && by != m.Owner && !q.Direct {
		role, err := a.Roles.Role(ctx, q.Who)
		if err != nil {
			return "", fmt.Errorf("role of who decides: %w", err)
		}
		if role < spaces.OfAdmin {
			return "Only who asked for the mission, an admin or the owner may " + string(kind) + " it.", nil
		}
	}
	m, taken, err := a.Missions.StepMission(ctx, spaces.MissionStep{Mission: m.ID, Kind: kind, By: by, At: q.At, From: s.From})
	switch {
	case err != nil:
		return "", err
	case m == nil:
		return noButton, nil
	case !taken && s.From != 0:
		return fmt.Sprintf("The mission has no such checkpoint: it has %d of them.", m.Checkpoints), nil
	case !taken:
		return "That cannot be done now: the mission is " + string(m.State) + ".", nil
	}
	return "", nil
}

// missionPressed does what a person pressed a button of a mission for, and returns what that
// person alone is to be told; empty when the chat sees it.
func (a *CommandHandler) missionPressed(ctx context.Context, s spaces.MissionStep, q CommandRequest, places []spaces.ChatPlacement, lg *slog.Logger) string {
	for _, p := range places {
		all, err := a.Missions.MissionsIn(ctx, p.Space, q.At.Add(-recentMission))
		for i := range all {
			if all[i].ID != s.Mission || err != nil {
				continue
			}
			var text string
			if text, err = a.stepMission(ctx, &all[i], s, q); err == nil {
				return text
			}
		}
		if err != nil {
			lg.Error("step of mission not stored", "mission", s.Mission, "err", err)
			return notStored
		}
	}
	return noButton
}
