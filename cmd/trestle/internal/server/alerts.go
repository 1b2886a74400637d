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

// alarmTTL is how long a notice of a problem may wait to be sent; then it is repeated.
const alarmTTL = time.Hour

// newAlertMonitor returns the monitor that finds problems and tells operators.
func (mon *processMonitor) newAlertMonitor() *alerts.AlertMonitor {
	a := mon.Config().Alerts
	w := &alerts.AlertMonitor{Store: mon.Store.Problems(), Reserve: &mon.Unstored, Logger: mon.Log, Looks: []alerts.ConditionProbe{mon.probeStore(), mon.probePeers()}}
	for _, look := range mon.ownProbes() {
		w.Looks = append(w.Looks, mon.includePeers(look))
	}
	if len(a.Chats) > 0 {
		w.Tellers = append(w.Tellers, minSeverityNotifier{chatNotifier{mon.connectionSet, a.Chats}, alerts.AlertSeverity(a.MinLevel)})
	}
	if a.Webhook != "" {
		h := &alerts.WebhookNotifier{URL: string(a.Webhook), Client: mon.outboundClient(), Logger: mon.Log}
		w.Tellers = append(w.Tellers, minSeverityNotifier{h, alerts.AlertSeverity(a.MinLevel)})
	}
	return w
}

// alertStore returns the problems of the store together with those that it could not take.
func (core *Core) alertStore() alerts.Store { return core.Unstored.Over(core.Store.Problems()) }

// ownProbes returns the probes of what only this process can see of itself.
func (mon *processMonitor) ownProbes() []alerts.ConditionProbe {
	return []alerts.ConditionProbe{mon.probeConnections(), mon.probeEntries(), mon.probeModels(), mon.probeMachine(), mon.probeWrites(), mon.probeNotifier(), mon.probeRewind(), mon.probeLog(), mon.probeIdleWork(), mon.probePrompts()}
}

// outboundClient returns the client for addresses that the operator configured.
func (core *Core) outboundClient() *http.Client {
	c := http.Client{}
	if core.Client != nil {
		c = *core.Client
	}
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
}

// monitorAlerts runs the monitor in one process of the installation until ctx is done.
func (mon *processMonitor) monitorAlerts(ctx context.Context) error {
	select {
	case <-mon.Ready: // before that every account is still silent
	case <-time.After(firstJoin):
	case <-ctx.Done():
		return nil
	}
	return mon.runExclusive(ctx, dutyProblems, nil, mon.newAlertMonitor().Run)
}

// chatNotifier posts problems in the operators' chats, through the outbox.
type chatNotifier struct {
	*connectionSet
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

// accountOf returns the account of an adapter, which is connected here or in another process;
// empty before its first connection.
func (cs *connectionSet) accountOf(adapter string) string {
	if l := cs.connectionOf(adapter); l != nil && l.Status().Account != "" {
		return l.Status().Account
	}
	for _, f := range cs.peers() {
		if account := f.Accounts[adapter]; account != "" {
			return account
		}
	}
	return ""
}

// minSeverityNotifier passes on problems of a least severity.
type minSeverityNotifier struct {
	alerts.AlertNotifier
	least alerts.AlertSeverity
}

// Tell passes on a problem of the least severity or a higher one.
func (l minSeverityNotifier) Tell(ctx context.Context, p alerts.Alert, at time.Time) bool {
	return p.Severity.AtLeast(l.least) && l.AlertNotifier.Tell(ctx, p, at)
}

// backgroundTasks returns what runs beside the work: alerts, heartbeats, reports to the service
// manager.
func (mon *processMonitor) backgroundTasks() []func(context.Context) error {
	return []func(context.Context) error{mon.monitorAlerts, mon.sendHeartbeats, mon.reportStatus}
}
