package server

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters/fake"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// A day is a world in which people, platforms, the endpoint and the machine do what
// they like: a seed decides. Nothing is asked of it but what always holds.
type day struct {
	*world
	rng    *rand.Rand
	mind   *whimsical
	plug   *plug
	places []place
	said   []*daySaying
	kills  []time.Time
	out    bool // the bot is not in the forum

	remapped bool                 // chats have changed their rooms
	away     map[string]time.Time // place, person: since when they cannot read it
}

// dayPeople are in every group at first.
var dayPeople = []string{"Kai", "Nova", "Maya"}

// A daySaying is what a person wrote where the bot was.
type daySaying struct {
	place   place
	message string
	token   string
	gone    bool     // taken back
	unread  []string // who could not read it when it was said
}

// DELIVERY 3.1 (layer L1), I1–I9, I11, I12, I15, I16, SECURITY S5: days of a whole
// Trestle, asked for updates or called with them, with kills, restarts, floods, lost
// answers and a moody endpoint; whatever happened, each message is recorded once, dealt
// with, and shown to those alone who may know it, and each decision is carried out in
// order or visibly was not. DAYS=17 in the environment plays that one, DAYS=0-99 a hundred.
func TestDaysOfWhateverHappens(t *testing.T) {
	first, last := 0, testutil.Repeats(3)-1
	if days := os.Getenv("DAYS"); days != "" {
		if n, _ := fmt.Sscanf(days, "%d-%d", &first, &last); n == 0 {
			t.Fatalf("DAYS=%s: want a number, or two with - between", days)
		} else if n == 1 {
			last = first
		}
	}
	for seed := first; seed <= last; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { newDay(t, uint64(seed)).goesBy(120) })
		})
	}
}

// newDay opens a room that is on three platforms, and others on each.
func newDay(t *testing.T, seed uint64) *day {
	t.Helper()
	d := &day{rng: rand.New(rand.NewPCG(seed, 7)), mind: newWhimsical(rand.New(rand.NewPCG(seed, 8))), away: map[string]time.Time{}}
	calls := []string{"nobody calls", "telegram calls", "slack calls", "telegram calls, slack calls"}[d.rng.IntN(4)]
	d.world = newWorldOf(t, "# slack, discord, "+calls+"\n"+daySettings("agents: [ada, max], wake: all", `"acme:C0000009", "guild:9"`), d.mind)
	d.stop()
	d.plugsIn()
	d.addChat("ops", "slack", dayPeople)
	d.addChat("porch", "discord", dayPeople)
	for _, c := range [][2]string{{"family", "supergroup"}, {"garden", "forum"}, {"club", "group"}, {"Kai", "direct"}, {"cellar", "slack"}, {"attic", "discord"}} {
		d.addChat(c[0], c[1], dayPeople)
	}
	forum := d.chats["garden"]
	d.places = []place{
		telegramPlace{d, "family", []int64{0}, false},
		telegramPlace{d, "garden", []int64{0, forum.NewTopic(d.someone(), "Tools"), forum.NewTopic(d.someone(), "Seeds")}, false},
		telegramPlace{d, "club", []int64{0}, false},
		telegramPlace{d, "Kai", []int64{0}, true},
		slackPlace{d, d.slack.rooms["ops"], ""},
		slackPlace{d, d.slack.rooms["cellar"], ""},
		slackPlace{d, d.slack.app.Direct(d.slack.people["Maya"]), "Maya"},
		discordPlace{d, d.discord.rooms["porch"], ""},
		discordPlace{d, d.discord.rooms["attic"], ""},
		discordPlace{d, d.discord.bot.Direct(d.discord.person("Nova")), "Nova"},
	}
	d.boot()
	pass(time.Minute)
	d.talks(d.places[len(d.places)-1]) // Discord lists no direct chats: what begins one unheard stays unheard
	pass(time.Minute)
	return d
}

// daySettings has a room on Telegram that also has other chats, and who hears what there.
func daySettings(more, chats string) string {
	return fmt.Sprintf(`admit: open
agents:
  ada: {name: Ada}
  max: {name: Max, phases: one}
spaces:
  family: {%s, relay: true, chats: ["telegram:-1001000000001", %s]}
`, more, chats)
}

// goesBy has n things happen, then peace, and looks at what is left.
func (d *day) goesBy(n int) {
	d.t.Helper()
	for range n {
		d.happens()
		pass(d.while())
	}
	d.calms()
	d.mind.moody(false)
	pass(time.Hour)
	for _, p := range d.places { // from now on no mind is shown deleted messages
		d.talks(p)
		pass(time.Minute)
	}
	pass(10 * time.Minute)
	for n := 0; n < 300 && !d.process.shell.Idle(); n++ { // what an agent planned comes at any time
		pass(time.Second)
	}
	d.audited()
	if h := d.process.Health(); h.Status != "healthy" {
		d.t.Errorf("in peace its health is %+v", h)
	}
	d.stop()
	pass(time.Minute) // what lags
	d.judged()
}

// while is how long nothing else happens: mostly short, at times some minutes.
func (d *day) while() time.Duration {
	switch n := d.rng.IntN(20); {
	case n < 12:
		return time.Duration(1+d.rng.IntN(1500)) * time.Millisecond
	case n < 19:
		return time.Duration(1+d.rng.IntN(40)) * time.Second
	}
	return time.Duration(1+d.rng.IntN(8)) * time.Minute
}

// happens is one thing that happens.
func (d *day) happens() {
	p := d.places[d.rng.IntN(len(d.places))]
	switch n := d.rng.IntN(100); {
	case n < 47:
		for range 1 + d.rng.IntN(3)*d.rng.IntN(3) {
			d.talks(p)
		}
	case n < 50:
		p.shares(d.somebody(p), "here")
	case n < 52:
		if len(d.said) > 0 {
			s := d.said[len(d.said)-1]
			s.place.likes(d.somebody(s.place), s.message)
		}
	case n < 60:
		d.changes()
	case n < 62:
		d.comesOrGoes(p)
	case n < 66:
		d.does(p, []string{"/status", "/stop", "/why", "/new", "/mute", "/unmute", "/unmute", "/unmute"}[d.rng.IntN(8)])
	case n < 69:
		d.moves()
	case n < 76:
		d.strikes()
	case n < 81:
		d.loses()
	case n < 85:
		d.calms()
		d.mind.moody(d.rng.IntN(2) == 0)
	case n < 92:
		d.killed()
	case n < 95:
		d.end()
		pass(d.while())
		d.boot()
	case n < 98:
		d.remapped = true
		more := []string{"agents: [ada, max], wake: all", "agents: [ada, max], wake: mention", "agents: [ada], wake: none", "agents: [max, ada], circle: apart"}
		chats := []string{`"acme:C0000009"`, `"guild:9"`, `"acme:C0000009", "guild:9"`}
		d.reload(daySettings(more[d.rng.IntN(len(more))], chats[d.rng.IntN(len(chats))]))
	default:
		pass(time.Duration(d.rng.IntN(40)) * time.Minute)
	}
}

// talks has a person write in a place.
func (d *day) talks(p place) {
	token := fmt.Sprintf("m%05d", len(d.said))
	more := []string{" and so on", " @ada_bot what do you think?", " Max, can you help?", " Ada: " + someWords(d.rng, 300)}[d.rng.IntN(4)]
	if t, ok := p.(telegramPlace); ok && t.name == "garden" && d.out {
		d.does(p, more)
		return
	}
	d.said = append(d.said, &daySaying{place: p, message: d.does(p, token+more), token: token, unread: d.whoIsAway(p)})
}

// does has a person who may write something, and returns the message.
func (d *day) does(p place, text string) string {
	return p.says(d.somebody(p), text, d.rng.IntN(5) == 0)
}

// a person is one of those who are in a place.
func (d *day) somebody(p place) string {
	if one := p.whose(); one != "" {
		return one
	}
	there := slices.DeleteFunc(slices.Clone(dayPeople), func(who string) bool { return d.isAway(p, who) })
	return there[d.rng.IntN(len(there))]
}

// changes has a person change, or take back, what was said lately.
func (d *day) changes() {
	if len(d.said) == 0 {
		return
	}
	s := d.said[len(d.said)-1-d.rng.IntN(min(5, len(d.said)))]
	switch {
	case s.gone:
	case d.rng.IntN(3) == 0:
		s.gone = s.place.deletes(s.message)
	default:
		s.place.edits(s.message, s.token+" or rather "+someWords(d.rng, 60))
	}
}

// moves has the bot thrown out of the forum or asked in again, and once the group
// become a supergroup.
func (d *day) moves() {
	switch {
	case d.rng.IntN(4) == 0 && d.chats["club"].ID() > -1_000_000_000_000:
		d.membership("migrate", "club")
	case d.out:
		d.membership("add", "garden")
		d.out = false
	default:
		d.membership("kick", "garden")
		d.out = true
	}
}

// strikes puts a fault in force, of a platform or the endpoint.
func (d *day) strikes() {
	f := storm[d.rng.IntN(len(storm))]
	f.Every, f.Times = 1+d.rng.IntN(3), 1+d.rng.IntN(4)
	one := func(methods ...string) string { return methods[d.rng.IntN(len(methods))] }
	switch d.rng.IntN(3) {
	case 0:
		f.Method = one("sendMessage", "sendMessage", "getUpdates", "editMessageText", "")
		d.telegram.Fault(f)
	case 1:
		f.Method = one("chat.postMessage", "chat.postMessage", "conversations.history", "apps.connections.open", "")
		d.slack.Fault(f)
	case 2:
		f.Method = one("create message", "create message", "get messages", "")
		d.discord.Fault(f)
	}
	d.mind.moody(d.rng.IntN(3) == 0)
	d.door.worsens(d.rng.IntN(2) == 0)
}

// calms takes all faults away.
func (d *day) calms() {
	d.telegram.ClearFaults()
	d.slack.ClearFaults()
	d.discord.ClearFaults()
	d.door.worsens(false)
}

// killed ends the program while all its goroutines wait, for the network, the model or
// the time: its writes stay, it does nothing more, and it starts again after a while.
// Between two instructions it is killed by internal/crashtest.
func (d *day) killed() {
	synctest.Wait()
	dir := d.t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(d.dir)); err != nil {
		d.t.Fatal(err)
	}
	d.plug.pull()
	d.kills = append(d.kills, time.Now())
	d.end() // its remaining writes go to a folder that the test does not read
	d.dir = dir
	d.plugsIn()
	pass(d.while())
	d.boot()
}

// plugsIn gives the next process its way to the network.
func (d *day) plugsIn() {
	d.client.CloseIdleConnections()
	d.plug = &plug{network: d.network, rng: rand.New(rand.NewPCG(d.rng.Uint64(), 9)), leads: map[*lead]bool{}}
	d.client = &http.Client{Transport: &http.Transport{DialContext: d.plug.DialContext, MaxIdleConnsPerHost: 64}}
	d.door.leadsTo(d.plug.DialContext, rand.New(rand.NewPCG(d.rng.Uint64(), 10)))
}

// A plug is the way of one process to the network, on which everything takes its
// time, until it is pulled.
type plug struct {
	network *fake.MemoryNetwork

	mu     sync.Mutex // guards what follows
	rng    *rand.Rand
	leads  map[*lead]bool
	pulled bool
}

var errPulled = errors.New("the process is no more")

// lags lets some time pass, as a network does.
func (p *plug) lags() error {
	p.mu.Lock()
	took := time.Duration(p.rng.IntN(60)) * time.Millisecond
	p.mu.Unlock()
	time.Sleep(took)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pulled {
		return errPulled
	}
	return nil
}

// pull ends all connections, and none is made again.
func (p *plug) pull() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pulled = true
	for l := range p.leads {
		_ = l.Conn.Close() // of a pipe
	}
}

// DialContext has the signature that [http.Transport] asks for.
func (p *plug) DialContext(ctx context.Context, network, name string) (net.Conn, error) {
	if err := p.lags(); err != nil {
		return nil, err
	}
	c, err := p.network.DialContext(ctx, network, name)
	if err != nil {
		return nil, err
	}
	l := &lead{c, p}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leads[l] = true
	return l, nil
}

// A lead is a connection through a plug.
type lead struct {
	net.Conn
	plug *plug
}

// Read implements [net.Conn]. What is written leaves at once: writers hold locks, on
// which a bubble's time does not move.
func (l *lead) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b)
	if lost := l.plug.lags(); lost != nil {
		return 0, lost
	}
	return n, err
}

// Close implements [net.Conn].
func (l *lead) Close() error {
	l.plug.mu.Lock()
	delete(l.plug.leads, l)
	l.plug.mu.Unlock()
	return l.Conn.Close()
}
