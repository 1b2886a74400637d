package shell

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/cron"
	"github.com/trestle-bridge/trestle/spaces"
)

// proposal renders what is proposed for a room: always the same parts in the same
// order, with what is so there now (PRD-6.5-4). due says when its plans are due first.
func proposal(p *spaces.OnboardingPlan, due []time.Time, s *stepContext, room *hud.SharedRoom) string {
	var b strings.Builder
	b.WriteString("**Proposal for this room**\n\n")
	fmt.Fprintf(&b, "**What it is for:** %s\n\n", p.Purpose)
	fmt.Fprintf(&b, "**Agents here:** %s\n\n", strings.Join(agentsOf(room), ", "))
	fmt.Fprintf(&b, "**When they answer:** %s\n\n", answersWhen(cmp.Or(s.settings.Wake, room.Space().Wake), room.Space(), room.Members()))
	fmt.Fprintf(&b, "**Chats of this room:** %s\n\n", chatsOf(room))
	writeList(&b, "What I would remember", p.Facts)
	var plans []string
	for i, x := range p.Plans {
		plans = append(plans, recurs(x)+", next "+hud.ClockIn(due[i])+": "+x.Note)
	}
	writeList(&b, "What I would do by myself", plans)
	fmt.Fprintf(&b, "**What that costs:** %s\n\n", costOf(p.Plans, s))
	var wishes []string
	for _, w := range p.Wishes {
		wishes = append(wishes, w.Want+" (`"+w.Key+"` in the configuration)")
	}
	writeList(&b, "What only the operator can change", wishes)
	b.WriteString("Adjust, or shall I set this up?")
	return b.String()
}

// writeList writes a part of a proposal that has entries.
func writeList(b *strings.Builder, title string, entries []string) {
	if len(entries) == 0 {
		fmt.Fprintf(b, "**%s:** nothing\n\n", title)
		return
	}
	fmt.Fprintf(b, "**%s:**\n\n", title)
	for _, e := range entries {
		fmt.Fprintf(b, "- %s\n", e)
	}
	b.WriteByte('\n')
}

// agentsOf names the agents of a room, in the order they came.
func agentsOf(room *hud.SharedRoom) []string {
	var names []string
	for _, m := range room.Members() {
		if m.Kind == spaces.Agent {
			names = append(names, hud.CleanName(m.Name))
		}
	}
	return names
}

// answersWhen says in words what wakes agents in a room.
func answersWhen(wake spaces.WakePolicy, s spaces.Space, members []spaces.SpaceMember) string {
	if wokenByAll(wake, s, members) {
		return "to every message"
	}
	return "when somebody mentions them or answers one of their messages"
}

// wokenByAll reports whether every message of a person wakes the agents of a room.
func wokenByAll(wake spaces.WakePolicy, s spaces.Space, members []spaces.SpaceMember) bool {
	alone := s.Closed && len(members) == 2 && wake != spaces.WakeMention
	return wake != spaces.WakeNone && (s.Direct || alone || wake == spaces.WakeAll)
}

// WakesBy returns what wakes an agent in a space, and whether every message of a person does.
func (s *Shell) WakesBy(ctx context.Context, agent spaces.AgentID, space spaces.SpaceID) (wake spaces.WakePolicy, every bool, err error) {
	room, members, err := s.Record.Space(ctx, space)
	if err != nil {
		return "", false, fmt.Errorf("what wakes %s: %w", agent, err)
	}
	wake = cmp.Or(s.Settings(agent, space).Wake, room.Wake)
	return wake, wokenByAll(wake, room, members), nil
}

// platforms are what people call them.
var platforms = map[string]string{"telegram": "Telegram", "slack": "Slack", "discord": "Discord", "local": "the terminal", "hook": "programs"}

// chatsOf says on which platforms a room has chats, and how many.
func chatsOf(room *hud.SharedRoom) string {
	chats := map[[2]string]bool{}
	for i := range room.Chat.Messages {
		if b, ok := room.Chat.Messages[i].Notice.(spaces.ChatLinked); ok {
			chats[[2]string{b.Account, b.Chat}] = true
		}
		if b, ok := room.Chat.Messages[i].Notice.(spaces.ChatUnlinked); ok {
			delete(chats, [2]string{b.Account, b.Chat})
		}
		if b, ok := room.Chat.Messages[i].Notice.(spaces.ChatMigrated); ok {
			delete(chats, [2]string{b.Account, b.From})
			chats[[2]string{b.Account, b.To}] = true
		}
	}
	count := map[string]int{}
	for c := range chats {
		platform, _, _ := strings.Cut(c[0], ":")
		if known, ok := platforms[platform]; ok {
			platform = known
		}
		count[platform]++
	}
	var all []string
	for platform, n := range count {
		if n > 1 {
			platform = fmt.Sprintf("%s (%d)", platform, n)
		}
		all = append(all, platform)
	}
	if len(all) == 0 {
		return "this one"
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// recurs says when a plan is due.
func recurs(p spaces.PlannedTimer) string {
	if p.Cron == "" {
		return "Once"
	}
	return "Again and again (`" + p.Cron + "`)"
}

// costOf estimates what the plans take in a day. Each firing is a run of its own: one
// call for each phase, with a request of the size of the one that the agent has just
// been shown, which is what its memory takes in every run. Answers and what a provider
// has cached are left out: the one makes up for the other many times.
func costOf(plans []spaces.PlannedTimer, s *stepContext) string {
	calls := 1
	if s.settings.Phases == PhasesTwo {
		calls = 2
	}
	runs := 0.0
	for _, p := range plans {
		runs += runsADay(p.Cron, s.now)
	}
	if runs == 0 {
		return "nothing by itself; only what people say to me costs tokens"
	}
	return fmt.Sprintf("about %s tokens a day for what I would do by myself; what people say to me comes on top", rounded(runs*float64(calls*s.size)))
}

// runsADay is how often a cron line is due in a day, taken over the next thirty days,
// or over fewer when it is due very often. A plan that happens once has none.
func runsADay(line string, now time.Time) float64 {
	const days, most = 30, 300
	if line == "" {
		return 0
	}
	at, n := now, 0
	for ; n < most; n++ {
		next, err := cron.NextTime(line, at)
		if err != nil || next.Sub(now) > days*24*time.Hour {
			return float64(n) / days
		}
		at = next
	}
	return float64(n) / (at.Sub(now).Hours() / 24)
}

// rounded writes a number with its two first digits and a comma at the thousands.
func rounded(x float64) string {
	n, unit := int(x+0.5), 1
	for n/unit >= 100 {
		unit *= 10
	}
	digits := fmt.Sprint((n + unit/2) / unit * unit)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
