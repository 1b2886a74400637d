package slack

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Issue 4: the manifest of the guide asks for the scopes that the doctor looks for, and
// subscribes to what is read and to nothing else.
func TestTheManifestOfTheGuideIsTheOneWeNeed(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "slack.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, manifest, _ := strings.Cut(string(page), "```yaml\n")
	manifest, _, _ = strings.Cut(manifest, "```")
	listed := func(key string) (items []string) {
		_, rest, _ := strings.Cut(manifest, " "+key+":\n")
		for line := range strings.SplitSeq(rest, "\n") {
			item, more := strings.CutPrefix(strings.TrimSpace(line), "- ")
			if !more {
				break
			}
			items = append(items, item)
		}
		return items
	}
	scopes := append(slices.Concat(mustHave, shouldHave), "im:write", agentScope) // PLATFORMS 2.4: for who begins a direct chat
	slices.Sort(scopes)
	if diff := cmp.Diff(scopes, listed("bot")); diff != "" {
		t.Errorf("scopes (-needed +asked for):\n%s", diff)
	}
	events := strings.Fields(`agent_session_stopped app_context_changed app_home_opened app_mention channel_archive channel_deleted channel_id_changed channel_left channel_rename
		channel_unarchive group_archive group_deleted group_left group_rename group_unarchive member_joined_channel member_left_channel
		message.channels message.groups message.im message.mpim pin_added pin_removed reaction_added reaction_removed user_change`)
	if diff := cmp.Diff(events, listed("bot_events")); diff != "" {
		t.Errorf("events (-read +subscribed to):\n%s", diff)
	}
	if !strings.Contains(manifest, "interactivity: {is_enabled: true}") {
		t.Error("Slack delivers no press of a button unless interactivity is switched on")
	}
	if !strings.Contains(manifest, "{command: /trestle, ") || !slices.Contains(scopes, "commands") {
		t.Error("Slack offers no /trestle unless the manifest has it")
	}
	for _, e := range events {
		if slices.Contains(quiet, e) {
			t.Errorf("%s is subscribed to and not read", e)
		}
	}
}
