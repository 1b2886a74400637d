package server

import (
	"context"
	"database/sql"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/spaces"
)

// judged compares what the platform, the endpoint and the record hold when a day is
// over.
func (d *day) judged() {
	d.t.Helper()
	if d.mind.broken != nil {
		d.t.Errorf("I16: %v", d.mind.broken)
	}
	db, err := sql.Open("sqlite3", filepath.Join(d.dir, "data", sqlite.FileName))
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	d.recordedOnce(db)
	d.restsWhole(db)
	d.carriedOut(db)
	d.keptApart(db)
	d.saidAloud(db)
}

// each hands the rows of an answer to f, as texts.
func (d *day) each(db *sql.DB, text string, f func(cells []string)) {
	d.t.Helper()
	rows, err := db.QueryContext(context.Background(), text)
	if err != nil {
		d.t.Fatal(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		d.t.Fatal(err)
	}
	cells, into := make([]string, len(names)), make([]any, len(names))
	for i := range cells {
		into[i] = &cells[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			d.t.Fatal(err)
		}
		f(cells)
	}
	if err := rows.Err(); err != nil {
		d.t.Fatal(err)
	}
}

// recordedOnce checks I1 and I2: everything that people said is one event; and that
// what a mind has consumed was shown to the endpoint.
func (d *day) recordedOnce(db *sql.DB) {
	d.t.Helper()
	found := map[string]int{}
	d.each(db, `select body from events where kind = 'said' and actor not like 'agent:%'`, func(c []string) {
		for _, token := range slices.Compact(dayToken.FindAllString(c[0], -1)) {
			found[token]++
		}
	})
	for _, s := range d.said {
		if n := found[s.token]; n > 1 || n == 0 && !s.gone {
			d.t.Errorf("I1, I2: %s of %+v is in %d events", s.token, s.place.title(), n)
		}
	}
}

// restsWhole checks I4 and I6: nothing waits, nothing is under way.
func (d *day) restsWhole(db *sql.DB) {
	d.t.Helper()
	shown, gone := map[string]bool{}, map[string]bool{}
	for g := range d.mind.glimpses {
		shown[g.token] = true
	}
	for _, s := range d.said {
		gone[s.token] = s.gone
	}
	d.each(db, `select i.agent || ' ' || i.space || ' ' || i.seq, i.state, i.reason, e.body, coalesce(y.stop, '') from inbox i
join events e on e.id = i.event left join cycles y on y.id = i.cycle`, func(c []string) {
		switch c[1] {
		case "ready", "claimed":
			d.t.Errorf("I4: row %s is %s in peace (%s): %s", c[0], c[1], c[2], c[3])
		case "consumed":
			for _, token := range dayToken.FindAllString(c[3], 1) {
				if !shown[token] && !gone[token] && c[4] != string(spaces.StopCancelled) {
					d.t.Errorf("I3: %s is consumed and was never shown", token)
				}
			}
		}
	})
	d.each(db, `select id, state, wake from cycles where state = 'open'`, func(c []string) { d.t.Errorf("I4: cycle %s is open in peace", c[0]) })
	d.each(db, `select id, state, text from outbox where state in ('ready', 'sending')`, func(c []string) {
		d.t.Errorf("I6: action %s is %s in peace: %.60s", c[0], c[1], c[2])
	})
}

// carriedOut checks I6, I7 and I9 from outside: what is called sent is there, what
// comes twice was in doubt on a platform that cannot tell, in each lane the first
// copies have the order of decisions, and nothing came before it was allowed.
func (d *day) carriedOut(db *sql.DB) {
	d.t.Helper()
	type key struct{ platform, mark string }
	taken, doubts, first := map[key]map[string]bool{}, map[key]int{}, map[key]int{}
	for i, p := range d.posts() {
		k := key{p.platform, dayMark.FindString(p.text)}
		if k.mark == "" {
			continue // the program's own words
		}
		if p.early > 0 {
			d.t.Errorf("I9: at %s %s came %s before %s allowed it", p.at.Format(time.TimeOnly), k.mark, p.early, p.platform)
		}
		if taken[k] == nil {
			taken[k], first[k] = map[string]bool{}, i
		}
		taken[k][p.message] = true
		if p.platform == "telegram" && (p.struck || d.died(p.at)) {
			doubts[k]++
		}
	}
	copies := 0
	for k, all := range taken {
		if copies += len(all) - 1; len(all) > 1+doubts[k] {
			d.t.Errorf("I6: %s came %d times to %s, of which %d were in doubt", k.mark, len(all), k.platform, doubts[k])
		}
	}
	states, last := map[string]int{}, map[string]int{}
	d.each(db, `select account, chat || ' ' || thread, state, code, text from outbox where kind = 'send' order by n`, func(c []string) {
		platform, _, _ := strings.Cut(c[0], ":")
		states[strings.TrimSpace(c[2]+" "+c[3])]++
		k := key{platform, dayMark.FindString(c[4])}
		at, came := first[k]
		switch lane := c[0] + " " + c[1]; {
		case k.mark == "":
		case c[2] == "sent" && !came:
			d.t.Errorf("I6: %s is called sent and did not come to %s", k.mark, platform)
		case came && at < last[lane]:
			d.t.Errorf("I7: %s came to %s before an earlier one", k.mark, lane)
		case came:
			last[lane] = at
		}
	})
	d.t.Logf("%d said, %d kills, %d answers arrived, %d copies, actions %v", len(d.said), len(d.kills), len(taken), copies, states)
}

// died reports whether the program was killed while it may have waited for what a
// call of then was answered.
func (d *day) died(then time.Time) bool {
	return slices.ContainsFunc(d.kills, func(at time.Time) bool { return !then.After(at) && at.Sub(then) < time.Second })
}
