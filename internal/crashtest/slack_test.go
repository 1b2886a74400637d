//go:build faultinject

package crashtest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/adapters/fake"
	fakeslack "github.com/trestle-bridge/trestle/adapters/fake/slack"
)

// DELIVERY 2.3 on Slack: K1–K6 and K15–K22.
func TestSlackSurvivesAKillWithoutACopy(t *testing.T) { survives(t, "slack", slackStage) }

// slackStage is a workspace that soon tells again what was not acknowledged.
func slackStage(t *testing.T, seed uint64) *stage {
	t.Helper()
	return slackStageOf(t, seed, 0, 2*time.Second, 5*time.Second)
}

// patientSlackStage is one that tells again, as Slack does, after every socket that is
// dead has been noticed.
func patientSlackStage(t *testing.T, seed uint64) *stage {
	t.Helper()
	return slackStageOf(t, seed, 0, time.Minute, 5*time.Minute)
}

// slackStageOf is a workspace with a channel, two threads in it, and a direct chat.
func slackStageOf(t *testing.T, seed uint64, retries ...time.Duration) *stage {
	t.Helper()
	s := &stage{world: newWorld(t, seed, 0)}
	slack := fakeslack.New(fakeslack.Options{Retries: retries})
	app := slack.AddApp(fakeslack.AppProfile{Name: "Ada", BotToken: "xoxb-faults", AppToken: "xapp-faults"})
	maya := slack.AddPerson(fakeslack.UserProfile{Name: "Maya"})
	ops := slack.NewChannel("ops", maya)
	ops.Invites(maya, app)
	direct := app.Direct(maya)
	roots := []string{"", ops.Says(maya, "a thread", fakeslack.PostOptions{}), ops.Says(maya, "another", fakeslack.PostOptions{})}
	app.Forget()
	s.config = fmt.Sprintf("adapters:\n  acme: {type: slack, bot_token: xoxb-faults, app_token: xapp-faults, api_url: %q}\n"+
		"spaces:\n  ops: {name: Ops, agents: [ada], wake: all, chats: [\"acme:%s\"]}\n", s.serve(t, slack.Serve), ops.ID)
	said := slices.Clone(roots[1:])
	s.says = func(in corner, text string, file bool) {
		with := fakeslack.PostOptions{}
		if file {
			with.File = &fakeslack.SharedFile{Name: "notes.txt", MIME: "text/plain", Data: []byte("bytes of " + text)}
		}
		if in == inPrivate {
			said = append(said, direct.Says(maya, text, with))
			return
		}
		with.Thread = roots[in]
		said = append(said, ops.Says(maya, text, with))
	}
	s.posted = func() (all []posted) {
		for _, m := range slices.Concat(ops.Sent(), direct.Sent()) {
			if !m.Deleted {
				all = append(all, posted{text: m.Text, key: m.Key})
			}
		}
		return all
	}
	s.ready = func() bool { return app.Sockets() == 2 }
	s.unacked, s.forget = app.Pending, app.Forget
	s.shows = func() (n int) {
		for _, ts := range said {
			if app.Status(ops.ID, ts)+app.Status(direct.ID, ts) != "" {
				n++
			}
		}
		return n
	}
	s.limits = func() {
		slack.Fault(fake.CallFault{Method: "chat.postMessage", Do: fake.Refuse, RetryAfter: 1, Every: 3, Times: 6})
	}
	s.hangs = func(skip int) func() bool {
		slack.Fault(fake.CallFault{Method: "chat.postMessage", Do: fake.Hang, Apply: true, Skip: skip})
		return func() bool {
			return slices.ContainsFunc(slack.Ledger().Calls, func(c fakeslack.APICall) bool { return c.Fault == fake.Hang })
		}
	}
	s.strains = []func(){
		s.limits, app.Sever, app.Freeze, func() { app.Disconnect("refresh_requested") }, func() { app.Redeliver(3) }, func() { app.Disorder(2) },
		func() { slack.Fault(fake.CallFault{Method: "chat.postMessage", Do: fake.Cut, Apply: true}) },
		func() { slack.Fault(fake.CallFault{Method: "conversations.history", Do: fake.HTML, Times: 3}) },
		func() {
			slack.Fault(fake.CallFault{Method: "apps.connections.open", Do: fake.Refuse, RetryAfter: 2, Times: 2})
		},
	}
	return s
}
