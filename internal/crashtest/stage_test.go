//go:build faultinject

package crashtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/trestle-bridge/trestle/internal/failpoint"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// again is how often each crash point is played on a platform other than the
// first: what differs there is how one hears and how one looks for what was sent.
const again = 3

// A stage is a platform that can be asked what it has, with an app in a room of
// two threads and in a direct chat.
type stage struct {
	*world
	config  string // its account under adapters, and the room as a chat of a space
	more    string // agents beside Ada
	batched bool   // consecutive messages may come in one batch
	resumes bool   // the check passes in a second run, after a person has written
	says    func(in corner, text string, file bool)
	posted  func() []posted
	ready   func() bool                          // the app hears
	unacked func() int                           // events that it did not acknowledge
	forget  func()                               // those are given up
	shows   func() int                           // places where something is shown that is no message
	limits  func()                               // some sends are told to wait
	hangs   func(skip int) (reached func() bool) // a later send is taken and never answered
	strains []func()                             // what the platform does at times
	tokens  []string
}

// A corner is a chat in which a person writes.
type corner int

const (
	inRoom corner = iota
	inFirstThread
	inSecondThread
	inPrivate
)

// A posted message is one of the app's as the platform has it, with the key by
// which it can be found, and the name it has by a webhook, if it has one.
type posted struct{ text, key, face string }

// A stagePoint is a crash point on a stage. left returns an error unless what the
// kill left is what the point leaves; nil: the audit says enough.
type stagePoint struct {
	id, name string
	hit      int
	left     func(s *stage, r *record) error
}

// stagePoints are the crash points at which a platform that can be asked what it
// has differs from one that is polled and cannot.
var stagePoints = []stagePoint{
	{"K1", "ingest.received", 3, nil},
	{"K2", "ingest.before_commit", 3, nil},
	{"K3", "ingest.after_commit", 3, nil},
	{"K4", "ingest.after_ack", 2, nil},
	{"K5", "ingest.before_commit", 1, nothingIsRecorded},
	{"K6", "file.fetched", 1, fileIsMissing},
	{"K15", "cycle.after_commit", 2, nil},
	{"K16", "outbox.sending", 2, nil},
	{"K17", "", 2, nil},
	{"K18", "send.accepted", 2, nil},
	{"K19", "send.part", 1, nil},
	{"K20", "receipt.committed", 2, nil},
	{"K21", "send.limited", 1, nil},
	{"K22", "preview.shown", 1, somethingIsShown},
}

// nothingIsRecorded holds when a batch of several left none of them (K5).
func nothingIsRecorded(_ *stage, r *record) error {
	if n := len(r.told()); n > 0 {
		return fmt.Errorf("%d of the batch are recorded, want none", n)
	}
	return nil
}

// fileIsMissing holds when a file is still to be fetched (K6).
func fileIsMissing(_ *stage, r *record) error {
	if r.files["wanted"] == 0 {
		return fmt.Errorf("files are %v, want one that is wanted", r.files)
	}
	return nil
}

// somethingIsShown holds when the platform shows what is no message (K22).
func somethingIsShown(s *stage, _ *record) error {
	if s.shows() == 0 {
		return fmt.Errorf("nothing is shown")
	}
	return nil
}

// survives plays every point on stages of its own: DELIVERY 2.3. After a kill at
// any of them nothing is lost, nothing is in the log twice, and, because a send
// can be looked for, nothing is said twice.
//
// Points that the platform lacks are left out.
func survives(t *testing.T, platform string, open func(t *testing.T, seed uint64) *stage, lacks ...string) {
	t.Helper()
	var playing sync.WaitGroup
	turn := make(chan struct{}, *hands)
	for _, p := range stagePoints {
		if *only != "" && *only != p.id || slices.Contains(lacks, p.id) {
			continue
		}
		for n := range min(again, *repeats) {
			seed := seedOf(platform+p.id, n)
			if *oneSeed != 0 && *oneSeed != seed {
				continue
			}
			playing.Go(func() {
				turn <- struct{}{}
				defer func() { <-turn }()
				t.Run(fmt.Sprintf("%s/%d", p.id, seed), func(t *testing.T) { p.play(t, open(t, seed), n) })
			})
		}
	}
	playing.Wait()
}

// play is one case, the n-th of its point: talk, die, start again, come to rest,
// audit.
func (p stagePoint) play(t *testing.T, s *stage, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*caseLimit)
	defer cancel()
	prog := s.program(t, p.id == "K22", "")
	hung := s.arranges(p, n)
	var plan failpoint.FaultPlan
	if p.name != "" {
		plan = failpoint.FaultPlan{{Point: p.name, Hit: s.hit(p, n), Action: failpoint.Kill}}
	}
	if p.id == "K5" || s.resumes {
		prog.start(t, nil)
		s.connects(ctx, t, prog)
		if !await(ctx, func() bool { return !prog.busy(ctx) }) {
			t.Fatal("the program did not come to rest")
		}
		testutil.OK(t, prog.stop(ctx))
	}
	if p.id == "K5" { // what was said in a silence comes in one batch
		s.speaks(8, false)
		s.forget()
		prog.start(t, plan)
	} else {
		prog.start(t, plan)
		s.connects(ctx, t, prog)
		s.speaks(8, p.id == "K6")
	}
	if hung == nil {
		if err := prog.killed(ctx); err != nil {
			t.Fatalf("plan %s: %v", plan, err)
		}
	} else if !await(ctx, hung) {
		t.Fatal("nothing was sent")
	}
	prog.kill()
	if p.left != nil {
		if err := p.left(s, new(readRecord(t, copyRecord(t, prog.data)))); err != nil {
			t.Errorf("plan %s: the kill left something else: %v", plan, err)
		}
	}
	s.speaks(4, false)
	prog.start(t, nil)
	if !await(ctx, func() bool { return len(s.unheard()) == 0 && s.unacked() == 0 && !prog.busy(ctx) }) {
		t.Errorf("%v have no answer, %d events are not acknowledged", s.unheard(), s.unacked())
	}
	if err := prog.stop(ctx); err != nil {
		t.Error(err)
	}
	end := readRecord(t, copyRecord(t, prog.data))
	s.audits(t, &end)
	if p.id == "K6" && (end.files["stored"] == 0 || len(end.files) != 1) {
		t.Errorf("files in the end: %v, want all stored", end.files)
	}
	if t.Failed() {
		t.Logf("again: -run %s -point %s", t.Name(), p.id)
	}
}

// hit returns which arrival at the point kills in the n-th case.
func (s *stage) hit(p stagePoint, n int) int {
	switch {
	case s.batched && p.id == "K5":
		return 2 // the first is that a session begins
	case s.batched && strings.HasPrefix(p.name, "ingest."):
		return 1
	}
	return max(p.hit-n%2, 1)
}

// arranges prepares the platform for a point. hung is set where no point in the
// program would do, and reports when it is time to kill.
func (s *stage) arranges(p stagePoint, n int) (hung func() bool) {
	switch p.id {
	case "K17": // the request is taken, its answer never comes, and then we are gone
		return s.hangs(p.hit + n)
	case "K21":
		s.limits()
	}
	return nil
}

// program writes the configuration of the stage; paced keeps the platform's pace.
// more is appended.
func (s *stage) program(t *testing.T, paced bool, more string) *program {
	t.Helper()
	p := newProgram(t, s.world, "")
	outgoing := map[bool]string{true: "platform", false: "off"}[paced]
	text := fmt.Sprintf("listen: \"\"\nmodel: {base_url: %q, api_key: none, name: teller}\nadmit: open\nlimits: {outgoing: %s}\nagents: {ada: {name: Ada}%s}\n", s.base, outgoing, s.more) + s.config + more
	testutil.OK(t, os.WriteFile(filepath.Clean(p.config), []byte(text), 0o600))
	return p
}

// connects waits until the app hears, or has come to its point before: what was
// said shortly before it began is read from history, too.
func (s *stage) connects(ctx context.Context, t *testing.T, prog *program) {
	t.Helper()
	if !await(ctx, func() bool { return s.ready() || prog.over() }) {
		t.Fatal("the app did not connect")
	}
}

// speaks posts n messages of people, in several chats; one in four asks for a long
// answer, and with files one in four carries a file.
func (s *stage) speaks(n int, files bool) {
	for range n {
		i := len(s.tokens)
		tk := fmt.Sprintf("zk%05d", i+1)
		s.tokens = append(s.tokens, tk)
		text := "about " + tk
		if i%4 == 0 {
			text += " " + longMark
		}
		in := []corner{inRoom, inFirstThread, inPrivate, inRoom, inSecondThread, inPrivate}[i%6]
		s.says(in, text, files && i%4 == 1)
	}
}

// unheard returns the tokens that no message of the app repeats yet.
func (s *stage) unheard() (missing []string) {
	var all strings.Builder
	for _, m := range s.posted() {
		all.WriteString(m.text)
	}
	for _, tk := range s.tokens {
		if !strings.Contains(all.String(), tk) {
			missing = append(missing, tk)
		}
	}
	return missing
}

// told counts how often the log has each token that people said.
func (r *record) told() map[string]int {
	told := map[string]int{}
	for _, e := range r.events {
		if e.kind == "said" && !strings.HasPrefix(e.actor, "agent:") {
			for _, tk := range token.FindAllString(e.body, -1) {
				told[tk]++
			}
		}
	}
	return told
}

// audits compares the record with the platform: I1, I2, I6.
func (s *stage) audits(t *testing.T, r *record) {
	t.Helper()
	told := r.told()
	for _, tk := range s.tokens {
		if told[tk] != 1 {
			t.Errorf("I1, I2: the log has %s %d times, want once", tk, told[tk])
		}
	}
	copies := map[string]int{}
	for _, m := range s.posted() {
		if copies[m.key]++; copies[m.key] > 1 || m.key == "" {
			t.Errorf("I6: %.40q was said %d times", m.text, copies[m.key])
		}
	}
	parts := 0
	for _, o := range r.orders {
		if o.state != "sent" {
			t.Errorf("I6: %s is %s", o.id, o.state)
		}
		parts += o.part
	}
	if len(copies) != parts {
		t.Errorf("I6: %d parts are sent and the platform has %d", parts, len(copies))
	}
}
