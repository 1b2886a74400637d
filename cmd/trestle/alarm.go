package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/problems"
)

// alarmTTL is how long an alarm may wait to be sent: an older one is repeated.
const alarmTTL = time.Hour

// newWatch returns what looks for problems and tells of them.
func (s *process) newWatch() *problems.Watch {
	a := s.config().Alarms
	w := &problems.Watch{Store: s.store.Problems(), Reserve: &s.unkept, Logger: s.log, Looks: []problems.Look{s.lookAtRecord(), s.lookAtProcesses()}}
	for _, look := range s.ownLooks() {
		w.Looks = append(w.Looks, s.everywhere(look))
	}
	if len(a.Chats) > 0 {
		w.Tellers = append(w.Tellers, leastAlarm{chatAlarm{s.parts, a.Chats}, problems.Severity(a.Least)})
	}
	if a.Webhook != "" {
		h := &problems.Webhook{URL: string(a.Webhook), Client: s.caller(), Logger: s.log}
		w.Tellers = append(w.Tellers, leastAlarm{h, problems.Severity(a.Least)})
	}
	return w
}

// troubles is what an operator must know of: what the record has, and what it
// cannot take.
func (p *parts) troubles() problems.Store { return p.unkept.Over(p.store.Problems()) }

// ownLooks look for what every process sees of itself alone.
func (s *process) ownLooks() []problems.Look {
	return []problems.Look{s.lookAtLines(), s.lookAtEntries(), s.lookAtModels(), s.lookAtMachine(), s.lookAtBells(), s.lookAtServer(), s.lookAtLog(), s.lookAtIdleWork()}
}

// caller is the client for addresses that the operator named.
func (p *parts) caller() *http.Client {
	c := http.Client{}
	if p.client != nil {
		c = *p.client
	}
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
}

// watchOver watches until ctx is done.
func (s *process) watchOver(ctx context.Context) error {
	select {
	case <-s.ready: // before that every account is still silent
	case <-time.After(firstJoin):
	case <-ctx.Done():
		return nil
	}
	return s.alone(ctx, dutyProblems, nil, s.newWatch().Run)
}

// chatAlarm tells of problems in the operators' chats, through the outbox.
type chatAlarm struct {
	*parts
	chats []config.Chat
}

// Tell posts a notice for each chat but those of the adapter it is about.
func (c chatAlarm) Tell(ctx context.Context, p problems.Problem, at time.Time) bool {
	if p.ID == 0 {
		return false // what takes no problem takes no notice
	}
	posted := false
	for _, chat := range c.chats {
		account := c.accountOf(chat.Adapter)
		if p.About(chat.Adapter) || account == "" {
			continue
		}
		turn := fmt.Sprint(p.Told)
		if !p.Closed.IsZero() {
			turn = "over"
		}
		err := c.border.Post(ctx, activity.Notice{
			Key: fmt.Sprintf("alarm|%d|%s|%s|%s", p.ID, turn, account, chat.Chat), Account: account, Chat: chat.Chat,
			Text: problems.Alarm(p, at), At: at, Expires: at.Add(alarmTTL),
		})
		if err != nil {
			if ctx.Err() == nil {
				c.log.Warn("alarm not posted", "code", p.Code, "chat", chat.Adapter+":"+chat.Chat, "error", err)
			}
			continue
		}
		posted = true
	}
	return posted
}

// accountOf returns the account that an adapter is connected with, here or in
// another process; empty before its first connection.
func (p *parts) accountOf(adapter string) string {
	if l := p.lineOf(adapter); l != nil && l.Status().Account != "" {
		return l.Status().Account
	}
	for _, f := range p.fellows() {
		if account := f.Accounts[adapter]; account != "" {
			return account
		}
	}
	return ""
}

// leastAlarm tells of what matters enough.
type leastAlarm struct {
	problems.Teller
	least problems.Severity
}

// Tell tells of a problem that is at least as bad.
func (l leastAlarm) Tell(ctx context.Context, p problems.Problem, at time.Time) bool {
	return p.Severity.AtLeast(l.least) && l.Teller.Tell(ctx, p, at)
}

// watching are the parts of a process that look after it.
func (s *process) watching() []func(context.Context) error {
	return []func(context.Context) error{s.watchOver, s.beat, s.reportUp}
}
