package shell

import (
	"strings"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/spaces"
)

// setUpSection is what a frame shows while a room is set up: what to do, and the
// open proposal, or the one that was not decided on; at most so many
// tokens.
func setUpSection(told string, r *spaces.RoomOnboarding, most int, count func(string) int) string {
	lines := strings.Split(told, "\n")
	if r.Plan != nil {
		lines = append(lines, planLines(r)...)
	}
	return fitLines(lines, most, count)
}

// planLines shows a proposal a text a line, each quoted: people's words may be in it.
func planLines(r *spaces.RoomOnboarding) []string {
	lines := []string{"PROPOSED, and nobody has decided yet:"}
	if r.State != spaces.SetUpProposed {
		lines[0] = "PROPOSED before, and nobody decided; of use for a new proposal:"
	}
	lines = append(lines, "- purpose "+hud.Quote(r.Plan.Purpose))
	for _, fact := range r.Plan.Facts {
		lines = append(lines, "- fact "+hud.Quote(fact))
	}
	for _, p := range r.Plan.Plans {
		lines = append(lines, "- plan "+hud.Quote(p.Cron+p.At)+" "+hud.Quote(p.Note))
	}
	for _, w := range r.Plan.Wishes {
		lines = append(lines, "- wish "+w.Key+" "+hud.Quote(w.Want))
	}
	return lines
}

// fitLines joins as many of the first lines as take no more tokens than most.
func fitLines(lines []string, most int, count func(string) int) string {
	text := ""
	for n := range lines {
		longer := strings.Join(lines[:n+1], "\n")
		if hud.Bound(longer) > most && count(longer) > most {
			break
		}
		text = longer
	}
	return text
}
