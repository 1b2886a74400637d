package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/buildinfo"
	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/store/engine"
)

// statusInterval is the time between two looks for a changed status of this process.
const statusInterval = 5 * time.Second

// roleGrace is how long a role may be without a process before that is reported, since
// processes start and are replaced in turn.
const roleGrace = 30 * time.Second

// A peerStatus is what a process publishes of itself. A process of another version may leave
// out a part.
type peerStatus struct {
	Roles    []config.ProcessRole `json:"roles,omitempty"`
	Folder   string               `json:"folder,omitempty"`   // what marks its folder of files
	Bells    string               `json:"bells,omitempty"`    // where it rings for others
	Accounts map[string]string    `json:"accounts,omitempty"` // those it serves, by their entries
	Seen     []alerts.Observation `json:"seen,omitempty"`     // what is wrong with itself
}

// A peer is a process of the installation with its last status.
type peer struct {
	engine.WriterProcess
	peerStatus
}

// decodeStatus decodes the status of a process; it is empty for one that has just started, or of
// a later version.
func decodeStatus(m engine.WriterProcess) (b peerStatus) {
	_ = json.Unmarshal([]byte(m.Bulletin), &b) // what cannot be read was not told
	return b
}

// DecodePeers decodes the status of every process.
func DecodePeers(all []engine.WriterProcess) []peer {
	crew := make([]peer, len(all))
	for i, m := range all {
		crew[i] = peer{m, decodeStatus(m)}
	}
	return crew
}

// peers returns the other processes as they were read last.
func (node *clusterNode) peers() []peer {
	all := node.known.Load()
	if all == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(*all), func(f peer) bool { return f.ID == node.Store.Process() })
}

// publishStatus stores the status of this process for the others, until ctx is done.
func (mon *processMonitor) publishStatus(ctx context.Context) error {
	if mon.Store.Process() == "" {
		return nil
	}
	tick := time.NewTicker(statusInterval)
	defer tick.Stop()
	said := ""
	for {
		text, err := json.Marshal(mon.ownStatus(ctx))
		if err == nil && string(text) != said {
			if err = mon.Store.Publish(ctx, string(text)); err == nil {
				said = string(text)
			}
		}
		if err != nil && ctx.Err() == nil {
			mon.Log.Warn("other processes not told", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// ownStatus returns the status of this process.
func (mon *processMonitor) ownStatus(ctx context.Context) peerStatus {
	b := peerStatus{Roles: mon.Config().ActiveRoles(), Folder: mon.folder, Bells: notifierName(mon.Config()), Accounts: map[string]string{}}
	for _, l := range mon.conns.all() {
		if st := l.Status(); l.other.Load() == nil && st.Account != "" && l.name != LocalName {
			b.Accounts[l.name] = st.Account
		}
	}
	for _, look := range mon.ownProbes() {
		seen, err := look.See(ctx)
		if err == nil { // else nothing is concluded
			b.Seen = append(b.Seen, seen...)
		}
	}
	return b
}

// notifierName returns how a process notifies others, without credentials.
func notifierName(c *config.Config) string {
	if u, err := url.Parse(string(c.Redis)); err == nil && c.Redis != "" {
		return "redis " + u.Host + u.Path
	}
	return "the database"
}

// includePeers adds to a probe what other processes observe of themselves.
func (node *clusterNode) includePeers(look alerts.ConditionProbe) alerts.ConditionProbe {
	own := look.See
	look.See = func(ctx context.Context) ([]alerts.Observation, error) {
		all, err := own(ctx)
		if err != nil {
			return nil, err
		}
		for _, f := range node.peers() {
			for _, seen := range f.Seen {
				same := func(x alerts.Observation) bool { return x.Code == seen.Code && x.Subject == seen.Subject }
				if slices.Contains(look.Codes, seen.Code) && !slices.ContainsFunc(all, same) {
					all = append(all, seen)
				}
			}
		}
		return all, nil
	}
	return look
}

// probePeers observes whether the processes of an installation have matching versions, folders
// and roles.
func (node *clusterNode) probePeers() alerts.ConditionProbe {
	idle := firstSeen{}
	return alerts.ConditionProbe{
		Codes: []alerts.ProblemCode{alerts.Disagree},
		See: func(context.Context) ([]alerts.Observation, error) {
			own := peer{engine.WriterProcess{Program: buildinfo.Current().Version}, peerStatus{Roles: node.Config().ActiveRoles(), Folder: node.folder, Bells: notifierName(node.Config())}}
			return idle.since(time.Now(), disagreements(own, node.peers())), nil
		},
	}
}

// firstSeen maps a finding to the time it was first seen.
type firstSeen map[string]time.Time

// since excludes findings that are younger than roleGrace.
func (l firstSeen) since(now time.Time, seen []alerts.Observation) (told []alerts.Observation) {
	for what := range l {
		if !slices.ContainsFunc(seen, func(x alerts.Observation) bool { return x.Evidence == what }) {
			delete(l, what)
		}
	}
	for _, x := range seen {
		if x.Subject == rolesSubject {
			if _, known := l[x.Evidence]; !known {
				l[x.Evidence] = now
			}
			if now.Sub(l[x.Evidence]) < roleGrace {
				continue
			}
		}
		told = append(told, x)
	}
	return told
}

// rolesSubject is the subject of a finding about a role without a process.
const rolesSubject = "roles"

// disagreements returns how other processes differ from this one, and the roles without a
// process.
func disagreements(own peer, others []peer) (all []alerts.Observation) {
	differ := func(subject string, of func(peer) string) {
		i := slices.IndexFunc(others, func(f peer) bool { return of(f) != "" && of(f) != of(own) })
		if i >= 0 && of(own) != "" {
			all = append(all, alerts.Observation{Code: alerts.Disagree, Subject: subject, Evidence: fmt.Sprintf("%s: %s; here: %s", others[i], of(others[i]), of(own))})
		}
	}
	differ("versions", func(f peer) string { return f.Program })
	differ("doorbells", func(f peer) string { return f.Bells })
	differ("folders of files", func(f peer) string { return f.Folder })
	for _, r := range config.AllRoles() {
		does := func(f peer) bool { return len(f.Roles) == 0 || slices.Contains(f.Roles, r) }
		if !does(own) && !slices.ContainsFunc(others, does) {
			all = append(all, alerts.Observation{Code: alerts.Disagree, Subject: rolesSubject, Evidence: "no process has the role " + string(r)})
		}
	}
	return all
}

// ConsolePeer converts a process for the health report.
func ConsolePeer(f peer) console.Peer {
	x := console.Peer{Host: f.Host, PID: f.PID, Version: f.Program, Since: f.Since, Roles: []string{}, Has: append([]string{}, f.Owned...)}
	for _, r := range f.Roles {
		x.Roles = append(x.Roles, string(r))
	}
	return x
}
