package server

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/spaces"
)

// alarmTTL is how long an alarm may wait to be sent: an older one is repeated.
const alarmTTL = time.Hour

// newWatch returns what looks for problems and tells of them.
func (s *Server) newWatch() *alerts.AlertMonitor {
	a := s.Config().Alerts
	w := &alerts.AlertMonitor{Store: s.Store.Problems(), Reserve: &s.Unstored, Logger: s.Log, Looks: []alerts.ConditionProbe{s.lookAtRecord(), s.lookAtProcesses()}}
	for _, look := range s.ownLooks() {
		w.Looks = append(w.Looks, s.everywhere(look))
	}
	if len(a.Chats) > 0 {
		w.Tellers = append(w.Tellers, minSeverityNotifier{chatNotifier{s.Components, a.Chats}, alerts.AlertSeverity(a.MinLevel)})
	}
	if a.Webhook != "" {
		h := &alerts.WebhookNotifier{URL: string(a.Webhook), Client: s.caller(), Logger: s.Log}
		w.Tellers = append(w.Tellers, minSeverityNotifier{h, alerts.AlertSeverity(a.MinLevel)})
	}
	return w
}

// troubles is what an operator must know of: what the record has, and what it
// cannot take.
func (p *Components) troubles() alerts.Store { return p.Unstored.Over(p.Store.Problems()) }

// ownLooks look for what every process sees of itself alone.
func (s *Server) ownLooks() []alerts.ConditionProbe {
	return []alerts.ConditionProbe{s.lookAtLines(), s.lookAtEntries(), s.lookAtModels(), s.lookAtMachine(), s.lookAtBells(), s.lookAtServer(), s.lookAtLog(), s.lookAtIdleWork()}
}

// caller is the client for addresses that the operator named.
func (p *Components) caller() *http.Client {
	c := http.Client{}
	if p.Client != nil {
		c = *p.Client
	}
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
}

// watchOver watches until ctx is done.
func (s *Server) watchOver(ctx context.Context) error {
	select {
	case <-s.Ready: // before that every account is still silent
	case <-time.After(firstJoin):
	case <-ctx.Done():
		return nil
	}
	return s.alone(ctx, dutyProblems, nil, s.newWatch().Run)
}

// chatNotifier tells of problems in the operators' chats, through the outbox.
type chatNotifier struct {
	*Components
	chats []config.ChatRef
}

// Tell posts a notice for each chat but those of the adapter it is about.
func (c chatNotifier) Tell(ctx context.Context, p alerts.Alert, at time.Time) bool {
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
		err := c.border.Post(ctx, spaces.ProcessNotice{
			Key: fmt.Sprintf("alarm|%d|%s|%s|%s", p.ID, turn, account, chat.Chat), Account: account, Chat: chat.Chat,
			Text: alerts.Alarm(p, at), At: at, Expires: at.Add(alarmTTL),
		})
		if err != nil {
			if ctx.Err() == nil {
				c.Log.Warn("alarm not posted", "code", p.Code, "chat", chat.Adapter+":"+chat.Chat, "error", err)
			}
			continue
		}
		posted = true
	}
	return posted
}

// accountOf returns the account that an adapter is connected with, here or in
// another process; empty before its first connection.
func (p *Components) accountOf(adapter string) string {
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

// minSeverityNotifier tells of what matters enough.
type minSeverityNotifier struct {
	alerts.AlertNotifier
	least alerts.AlertSeverity
}

// Tell tells of a problem that is at least as bad.
func (l minSeverityNotifier) Tell(ctx context.Context, p alerts.Alert, at time.Time) bool {
	return p.Severity.AtLeast(l.least) && l.AlertNotifier.Tell(ctx, p, at)
}

// watching are the parts of a process that look after it.
func (s *Server) watching() []func(context.Context) error {
	return []func(context.Context) error{s.watchOver, s.beat, s.reportUp}
}
