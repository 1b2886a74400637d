package slack_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	fakeslack "github.com/trestle-bridge/trestle/adapters/fake/slack"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// agentIn plays a story in a workspace in which the app is as the profile says.
func agentIn(t *testing.T, profile fakeslack.AppProfile, prompts []string, play func(w *workspace, b *book)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		profile.AppToken = appToken
		w, b := newWorkspace(t, fakeslack.Options{}, profile), new(book)
		o := w.options()
		o.Prompts = func() []string { return prompts }
		w.runs(b, o)
		play(w, b)
	})
}

// NEWS: who opens the direct chat with an agent is greeted, and sees what they may begin
// with, in the agent view above the chat and in the assistant view in the thread.
func TestOpeningTheDirectChatShowsPrompts(t *testing.T) {
	prompts := []string{"What can you do?", "a", "b", "c", "one too many"}
	want := fakeslack.SuggestedPrompts{Title: "Hello, I am ada. What can I do for you?", Prompts: prompts[:4]}
	for name, tc := range map[string]struct {
		profile fakeslack.AppProfile
		prompts []string
		want    fakeslack.SuggestedPrompts
	}{
		"agent view":     {fakeslack.AppProfile{Agent: true}, prompts, want},
		"assistant view": {fakeslack.AppProfile{Agent: true, AssistantView: true}, prompts, want},
		"no prompts":     {fakeslack.AppProfile{Agent: true}, nil, fakeslack.SuggestedPrompts{}},
		"no agent":       {fakeslack.AppProfile{}, prompts, fakeslack.SuggestedPrompts{}},
	} {
		t.Run(name, func(t *testing.T) {
			agentIn(t, tc.profile, tc.prompts, func(w *workspace, b *book) {
				t := w.t
				thread := w.app.Opens(w.maya)
				pass(time.Second)
				testutil.Same(t, "prompts", tc.want, w.app.Suggested(w.maya, thread))
				if bad := heard[adapters.UnreadableUpdate](b); len(bad) > 0 {
					t.Errorf("kept %+v as unreadable", bad)
				}
			})
		})
	}
}

// NEWS: a message to an agent says which channel its author looks at, if the app may know
// the channel.
func TestMessagesToAnAgentSayWhatTheirAuthorLooksAt(t *testing.T) {
	agentIn(t, fakeslack.AppProfile{Agent: true}, nil, func(w *workspace, b *book) {
		t := w.t
		w.direct.Says(w.maya, "hello", fakeslack.PostOptions{})
		w.app.LooksAt(w.maya, w.ops, "")
		w.direct.Says(w.maya, "what is this about?", fakeslack.PostOptions{})
		w.app.LooksAt(w.maya, w.NewPrivate("board", w.maya), "")
		w.direct.Says(w.maya, "and this?", fakeslack.PostOptions{})
		pass(time.Second)
		var got []string
		for _, m := range heard[adapters.IncomingMessage](b) {
			got = append(got, m.Text+"|"+m.Viewing)
		}
		testutil.Same(t, "messages", []string{"hello|", "what is this about?|#ops", "and this?|"}, got)
	})
}
