package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/problems"
	"github.com/trestle-bridge/trestle/internal/store/record"
)

// bulletinEvery is how often a process looks whether it has something new to tell
// the others.
const bulletinEvery = 5 * time.Second

// roleGrace is how long work may be nobody's before that is told: processes start, and
// change by turns.
const roleGrace = 30 * time.Second

// A bulletin is what a process tells the others of itself. One that a process of
// another version wrote may lack a part.
type bulletin struct {
	Roles    []config.Role       `json:"roles,omitempty"`
	Folder   string              `json:"folder,omitempty"`   // what marks its folder of files
	Bells    string              `json:"bells,omitempty"`    // where it rings for others
	Accounts map[string]string   `json:"accounts,omitempty"` // those it serves, by their entries
	Seen     []problems.Sighting `json:"seen,omitempty"`     // what is wrong with itself
}

// A fellow is a process of the installation with what it told last.
type fellow struct {
	record.Member
	bulletin
}

// bulletinOf reads what a process told. Nothing is what one says that has just
// begun, or that is of a version to come.
func bulletinOf(m record.Member) (b bulletin) {
	_ = json.Unmarshal([]byte(m.Bulletin), &b) // what cannot be read was not told
	return b
}

// crewOf reads what all processes told.
func crewOf(all []record.Member) []fellow {
	crew := make([]fellow, len(all))
	for i, m := range all {
		crew[i] = fellow{m, bulletinOf(m)}
	}
	return crew
}

// fellows returns the other processes as they were a moment ago.
func (p *parts) fellows() []fellow {
	all := p.known.Load()
	if all == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(*all), func(f fellow) bool { return f.ID == p.store.Process() })
}

// tell has the others know how this process is, until ctx is done.
func (s *process) tell(ctx context.Context) error {
	if s.store.Process() == "" {
		return nil
	}
	tick := time.NewTicker(bulletinEvery)
	defer tick.Stop()
	said := ""
	for {
		text, err := json.Marshal(s.bulletin(ctx))
		if err == nil && string(text) != said {
			if err = s.store.Say(ctx, string(text)); err == nil {
				said = string(text)
			}
		}
		if err != nil && ctx.Err() == nil {
			s.log.Warn("other processes not told", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// bulletin says how this process is now.
func (s *process) bulletin(ctx context.Context) bulletin {
	b := bulletin{Roles: s.config().DoesAll(), Folder: s.folder, Bells: bellsOf(s.config()), Accounts: map[string]string{}}
	for _, l := range s.lineup.all() {
		if st := l.Status(); l.other.Load() == nil && st.Account != "" && l.name != localName {
			b.Accounts[l.name] = st.Account
		}
	}
	for _, look := range s.ownLooks() {
		seen, err := look.See(ctx)
		if err == nil { // else nothing is concluded
			b.Seen = append(b.Seen, seen...)
		}
	}
	return b
}

// bellsOf names where a process rings for others, without what opens it.
func bellsOf(c *config.Config) string {
	if u, err := url.Parse(string(c.Redis)); err == nil && c.Redis != "" {
		return "redis " + u.Host + u.Path
	}
	return "the database"
}

// everywhere has a look see what other processes see of themselves, too.
func (s *process) everywhere(look problems.Look) problems.Look {
	own := look.See
	look.See = func(ctx context.Context) ([]problems.Sighting, error) {
		all, err := own(ctx)
		if err != nil {
			return nil, err
		}
		for _, f := range s.fellows() {
			for _, seen := range f.Seen {
				same := func(x problems.Sighting) bool { return x.Code == seen.Code && x.Subject == seen.Subject }
				if slices.Contains(look.Codes, seen.Code) && !slices.ContainsFunc(all, same) {
					all = append(all, seen)
				}
			}
		}
		return all, nil
	}
	return look
}

// lookAtProcesses sees whether the processes of an installation fit together.
func (s *process) lookAtProcesses() problems.Look {
	idle := lasting{}
	return problems.Look{
		Codes: []problems.Code{problems.Disagree},
		See: func(context.Context) ([]problems.Sighting, error) {
			own := fellow{record.Member{Program: ownVersion().Version}, bulletin{Roles: s.config().DoesAll(), Folder: s.folder, Bells: bellsOf(s.config())}}
			return idle.since(time.Now(), disagreements(own, s.fellows())), nil
		},
	}
}

// lasting is since when there was work that nobody does, by what was seen.
type lasting map[string]time.Time

// since leaves out of what is seen now the work that was nobody's for a moment.
func (l lasting) since(now time.Time, seen []problems.Sighting) (told []problems.Sighting) {
	for what := range l {
		if !slices.ContainsFunc(seen, func(x problems.Sighting) bool { return x.Evidence == what }) {
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

// rolesSubject is what a sighting of work that nobody does is about.
const rolesSubject = "roles"

// disagreements says what others have otherwise, and what nobody does.
func disagreements(own fellow, others []fellow) (all []problems.Sighting) {
	differ := func(subject string, of func(fellow) string) {
		i := slices.IndexFunc(others, func(f fellow) bool { return of(f) != "" && of(f) != of(own) })
		if i >= 0 && of(own) != "" {
			all = append(all, problems.Sighting{Code: problems.Disagree, Subject: subject, Evidence: fmt.Sprintf("%s: %s; here: %s", others[i], of(others[i]), of(own))})
		}
	}
	differ("versions", func(f fellow) string { return f.Program })
	differ("doorbells", func(f fellow) string { return f.Bells })
	differ("folders of files", func(f fellow) string { return f.Folder })
	for _, r := range config.Roles() {
		does := func(f fellow) bool { return len(f.Roles) == 0 || slices.Contains(f.Roles, r) }
		if !does(own) && !slices.ContainsFunc(others, does) {
			all = append(all, problems.Sighting{Code: problems.Disagree, Subject: rolesSubject, Evidence: "no process has the role " + string(r)})
		}
	}
	return all
}

// shownProcess is a process as health and status show it.
func shownProcess(f fellow) console.Fellow {
	x := console.Fellow{Host: f.Host, PID: f.PID, Version: f.Program, Since: f.Since, Roles: []string{}, Has: append([]string{}, f.Has...)}
	for _, r := range f.Roles {
		x.Roles = append(x.Roles, string(r))
	}
	return x
}
