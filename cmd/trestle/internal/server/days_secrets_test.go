package server

import (
	"database/sql"
	"slices"
	"strconv"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// A glimpse is a token of what people said that stood in what a mind was asked.
type glimpse struct{ mind, token string }

// longestRun is how long a run may go on that was under way when something happened.
const longestRun = 40 * time.Minute

// comesOrGoes has a person leave a group, or come back to it.
func (d *day) comesOrGoes(p place) {
	who := dayPeople[d.rng.IntN(len(dayPeople))]
	switch {
	case p.whose() != "" || p.platform() == "discord" && who == "Maya": // who owns a server sees all of it
	case d.isAway(p, who):
		p.takes(who)
		delete(d.away, p.title()+" "+who)
	case len(d.whoIsAway(p)) < 2:
		p.loses(who)
		d.away[p.title()+" "+who] = time.Now()
	}
}

func (d *day) isAway(p place, who string) bool { return !d.away[p.title()+" "+who].IsZero() }

// whoIsAway returns the people who cannot read new messages of a place.
func (d *day) whoIsAway(p place) []string {
	return slices.DeleteFunc(slices.Clone(dayPeople), func(who string) bool { return !d.isAway(p, who) })
}

// A secret is where a token was said.
type secret struct {
	*daySaying
	space string
	gone  time.Time // when the store learnt of its deletion; zero: not deleted
}

// secrets returns what was said, by its token.
func (d *day) secrets(db *sql.DB) map[string]secret {
	d.t.Helper()
	said := map[string]secret{}
	for _, s := range d.said {
		said[s.token] = secret{daySaying: s}
	}
	d.each(db, `select e.body, e.space, coalesce(min(d.recv_at), 0) from events e
left join events d on d.kind = 'deleted' and d.body ->> 'target' = e.id
where e.kind = 'said' and e.actor not like 'agent:%' group by e.id`, func(c []string) {
		for _, token := range dayToken.FindAllString(c[0], 1) {
			s := said[token]
			s.space = c[1]
			if at, err := strconv.ParseInt(c[2], 10, 64); err == nil && at > 0 {
				s.gone = time.UnixMilli(at)
			}
			said[token] = s
		}
	})
	return said
}

// keptApart checks S5: a mind is shown messages of its own spaces, the mind of a
// person's direct chat also those of other rooms that the person could read while a
// member, and no mind is shown deleted ones.
func (d *day) keptApart(db *sql.DB) {
	d.t.Helper()
	own := map[string]bool{} // mind, space
	d.each(db, `select agent || '/' || circle || ' ' || space from uplinks union
select agent || '/' || circle || ' ' || space from spans`, func(c []string) { own[c[0]] = true })
	said, direct := d.secrets(db), map[spaces.SpaceID]place{}
	for _, s := range said {
		if s.place.whose() != "" {
			direct[spaces.SpaceID(s.space)] = s.place
		}
	}
	across := 0
	for g, last := range d.mind.glimpses {
		s := said[g.token]
		if !s.gone.IsZero() && last.After(s.gone.Add(longestRun)) {
			d.t.Errorf("S5: %s was deleted %s before %s was shown it", g.token, last.Sub(s.gone), g.mind)
		}
		if own[g.mind+" "+s.space] {
			continue
		}
		across++
		mind, _ := spaces.ParseMind(g.mind)
		home, _ := mind.Circle.Own()
		here := direct[home]
		if here == nil || here.platform() != s.place.platform() || s.place.whose() != "" || slices.Contains(s.unread, here.whose()) {
			d.t.Errorf("S5: %s was said in %s and shown to %s", g.token, s.place.title(), g.mind)
			continue
		}
		if left := d.away[s.place.title()+" "+here.whose()]; !left.IsZero() && last.After(left.Add(longestRun)) {
			d.t.Errorf("S5: %s was shown to %s %s after its person left %s", g.token, g.mind, last.Sub(left), s.place.title())
		}
	}
	d.t.Logf("%d glimpses, %d of them of other circles", len(d.mind.glimpses), across)
}

// saidAloud checks S5 of what the program says: people's own words leave their room for
// its other chats alone.
func (d *day) saidAloud(db *sql.DB) {
	d.t.Helper()
	said := d.secrets(db)
	d.each(db, `select space, text from outbox where kind = 'send'`, func(c []string) {
		for _, token := range dayToken.FindAllString(c[1], -1) {
			if said[token].space != c[0] {
				d.t.Errorf("S5: %s of %s is said in %s", token, said[token].space, c[0])
			}
		}
	})
}
