package spaces

import "strings"

const (
	stopLabel = "Stop"
	stopValue = "stop "
	everyone  = "*" // in place of an agent
	// maxStopValue is how long the value of a button may be on every platform.
	maxStopValue = 64
)

// StopButton returns the button by which people stop a run.
func StopButton(run CycleID) ChoiceButton {
	return ChoiceButton{Label: stopLabel, Value: stopValue + string(run)}
}

// StopMessageButton returns the button by which people stop what an agent does about a
// message, or is to do once its model answers. With an id too long for a button, every agent stops.
func StopMessageButton(message EventID, agent AgentID) ChoiceButton {
	value := stopValue + string(message) + " "
	if len(value)+len(agent) > maxStopValue {
		agent = everyone
	}
	return ChoiceButton{Label: stopLabel, Value: value + string(agent)}
}

// ParseStop returns what the value of a Stop button stops, and whether it is one.
func ParseStop(value string) (StopRequest, bool) {
	words, is := strings.CutPrefix(value, stopValue)
	fields := strings.Fields(words)
	switch {
	case is && len(fields) == 1:
		return StopRequest{Run: CycleID(fields[0])}, true
	case is && len(fields) == 2:
		return StopRequest{Event: EventID(fields[0]), Agent: AgentID(strings.TrimSuffix(fields[1], everyone))}, true
	}
	return StopRequest{}, false
}
