package postgres_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/activity/access"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/postgres"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/internal/store/storetest"
	"github.com/trestle-bridge/trestle/internal/testservers"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

var start = time.Date(2025, 3, 1, 9, 0, 0, 0, time.UTC)

func openRoom(t *testing.T, s *sqlstore.Store) spaces.SpaceID {
	t.Helper()
	p, err := s.Border().Open(t.Context(), spaces.OpenRequest{
		Key: "family", Name: "Family", Circle: "home", Agents: []spaces.AgentID{"ada"}, At: start,
		Chats: []spaces.ChatMapping{{Account: "telegram:1", Chat: "100", Live: true}},
	})
	testutil.OK(t, err)
	return p.Space
}

// message is the n-th message of a person in a room.
func message(room spaces.SpaceID, person string, n int) spaces.IngestBatch {
	id := person + strconv.Itoa(n)
	return spaces.IngestBatch{Account: "telegram:1", At: start, Items: []spaces.IngestItem{{
		Event: spaces.Event{Space: room, Object: spaces.ChatObject, At: start, Source: id, Body: spaces.MessagePosted{Text: "Hello " + id}},
		From:  spaces.PlatformIdentity{Platform: "telegram", User: person, Kind: spaces.Human, Name: person},
		Ref:   spaces.MessageRef{Account: "telegram:1", Chat: "100", Message: id},
	}}}
}

func sound(t *testing.T, s *sqlstore.Store) {
	t.Helper()
	found, err := s.Audit(t.Context(), start)
	testutil.OK(t, err)
	for _, f := range found {
		t.Error("audit:", f)
	}
}

// DELIVERY 2.7, I2, I11: what two processes record at once, each update told to
// both of them, is one dense log.
func TestProcessesThatWriteAtOnceLeaveOneDenseLog(t *testing.T) {
	database := server.Database(t)
	stores := []*sqlstore.Store{open(t, options(t, database)), open(t, options(t, database))}
	room := openRoom(t, stores[0])
	var mu sync.Mutex
	fresh := 0
	var all sync.WaitGroup
	for _, s := range stores {
		for writer := range 4 {
			all.Go(func() {
				for n := range 10 {
					done, err := s.Border().Record(t.Context(), message(room, fmt.Sprintf("person %d ", writer), n))
					if err != nil {
						t.Error(err)
					}
					mu.Lock()
					fresh += done.New
					mu.Unlock()
				}
			})
		}
	}
	all.Wait()
	if fresh != 40 {
		t.Errorf("%d updates were new, want each of the 40 once", fresh)
	}
	events, err := stores[1].Shell().Events(t.Context(), room, spaces.Primary, 0, 1000)
	if err != nil || len(events) != 42 || events[41].Seq != 42 {
		t.Errorf("the log has %d events (%v), want linked, joined and forty", len(events), err)
	}
	sound(t, stores[0])
}

// I8, F41: a mind in a space is run by one process, however many claim it.
func TestOneOfTwoProcessesRunsAMind(t *testing.T) {
	database := server.Database(t)
	stores := []*sqlstore.Store{open(t, options(t, database)), open(t, options(t, database))}
	room := openRoom(t, stores[0])
	for n := range 10 {
		if _, err := stores[n%2].Border().Record(t.Context(), message(room, "zoe", n)); err != nil {
			t.Fatal(err)
		}
		wakes := make([]*spaces.Wake, 2)
		var both sync.WaitGroup
		for i, s := range stores {
			both.Go(func() { wakes[i] = claim(t, s, fmt.Sprint(i), room) })
		}
		both.Wait()
		if (wakes[0] == nil) == (wakes[1] == nil) {
			t.Fatalf("round %d: process 0 got %v, process 1 got %v", n, wakes[0] != nil, wakes[1] != nil)
		}
		for i, wake := range wakes {
			if wake != nil {
				rest(t, stores[i], wake)
			}
		}
	}
	sound(t, stores[1])
}

// F50, I10: who stops hands its cycle over as often as it takes, and who is next to
// it keeps its own.
func TestStopsByTurnsAreNoCrash(t *testing.T) {
	database := server.Database(t)
	s := open(t, options(t, database))
	room := openRoom(t, s)
	if _, err := s.Border().Record(t.Context(), message(room, "zoe", 1)); err != nil {
		t.Fatal(err)
	}
	first := claim(t, s, s.Process(), room)
	for n := range 5 {
		bystander, next := open(t, options(t, database)), open(t, options(t, database))
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if err := bystander.Close(t.Context()); err != nil {
			t.Error(err)
		}
		wake := claim(t, next, next.Process(), room)
		if wake == nil || wake.Cycle.ID != first.Cycle.ID {
			t.Fatalf("stop %d: the next process got %+v, want cycle %s", n, wake, first.Cycle.ID)
		}
		s = next
	}
}

func claim(t *testing.T, s *sqlstore.Store, holder string, room spaces.SpaceID) *spaces.Wake {
	t.Helper()
	wake, err := s.Shell().Claim(t.Context(), spaces.WakeClaim{
		Mind: spaces.Mind{Agent: "ada", Circle: "home"}, Space: room, Holder: holder, TTL: time.Minute, At: start,
		Judge: func(j spaces.GateInput) []spaces.GateDecision {
			out := make([]spaces.GateDecision, len(j.Rows))
			for i, r := range j.Rows {
				out[i] = spaces.GateDecision{Seq: r.Seq, Wake: true, Reason: "direct"}
			}
			return out
		},
	})
	if err != nil {
		t.Error(err)
	}
	return wake
}

// rest ends a wake without a word.
func rest(t *testing.T, s *sqlstore.Store, wake *spaces.Wake) {
	t.Helper()
	_, err := s.Shell().Commit(t.Context(), spaces.StepCommit{
		Lease: wake.Lease, Active: wake.Cycle.Active, Upto: wake.Rows[len(wake.Rows)-1].Seq, At: start,
		Step:  spaces.Step{Cycle: wake.Cycle.ID, Phase: spaces.Engagement, State: spaces.StepDone, At: start},
		Close: &spaces.CycleClose{Stop: spaces.StopCompleted, Rest: "Responded."},
	})
	if err != nil {
		t.Error(err)
	}
}

// I3, I4, I8: whatever two processes do in whatever order, each believes only
// what is in the record.
func TestTwoProcessesShareEveryPort(t *testing.T) {
	database := server.Database(t)
	storetest.RunShared(t, func(t *testing.T) [2]storetest.Store {
		t.Helper()
		empty(t, database)
		return [2]storetest.Store{suite(t, options(t, database)), suite(t, options(t, database))}
	})
}

// F34: a process that wants the record alone is told who has it; one that has
// died without a word is no obstacle.
func TestLivingProcessIsAnObstacleAndADeadOneIsNot(t *testing.T) {
	database := server.Database(t)
	first := open(t, options(t, database))
	openRoom(t, first)
	o := options(t, database)
	o.Alone = true
	_, err := postgres.Open(t.Context(), o)
	if held, ok := errors.AsType[*postgres.InUseError](err); !ok || held.PID == 0 || held.Expires <= 0 {
		t.Fatalf("got %v, want who has the record", err)
	}
	testutil.OK(t, first.Close(t.Context()))
	server.Do(t, database, `insert into processes (id, host, pid, program, backend, began, ttl, expires)
values ('dead', 'elsewhere', 7, '', 1, '9', 60000, cast(extract(epoch from now()) * 1000 as bigint) + 30000)`)
	open(t, o)
}

// F42, DELIVERY 2.7: a process that others have given up writes nothing more, and
// is told to end.
func TestProcessThatWasGivenUpWritesNothing(t *testing.T) {
	database := server.Database(t)
	lost := make(chan error, 1)
	o := options(t, database)
	o.Term, o.Lost = 5*time.Second, func(err error) { lost <- err }
	s := open(t, o)
	room := openRoom(t, s)
	server.Do(t, database, `delete from processes`)
	if _, err := s.Border().Record(t.Context(), message(room, "zoe", 1)); !errors.Is(err, postgres.ErrBuried) {
		t.Errorf("got %v, want ErrBuried", err)
	}
	if err := <-lost; !errors.Is(err, postgres.ErrBuried) {
		t.Errorf("the process was told %v, want ErrBuried", err)
	}
}

// F40: a process that cannot reach the server is told to end before others may
// take its place.
func TestProcessThatIsCutOffIsToldToEnd(t *testing.T) {
	database := server.Database(t)
	link := testservers.NewLink(t, fmt.Sprintf("127.0.0.1:%d", server.Port))
	lost := make(chan error, 1)
	o := linked(t, link, database)
	o.Term, o.Lost = time.Second, func(err error) { lost <- err }
	open(t, o)
	link.Cut()
	if err := <-lost; err == nil || errors.Is(err, postgres.ErrBuried) {
		t.Errorf("the process was told %v, want that it could not prolong its right", err)
	}
	link.Mend()
}

// F40, F42: a process that is cut off in the middle of a write does not block other
// writers, is told to end, and can; nothing of that write is stored.
func TestWriterThatIsCutOffInItsTurnBlocksNobody(t *testing.T) {
	database := server.Database(t)
	link := testservers.NewLink(t, fmt.Sprintf("127.0.0.1:%d", server.Port))
	lost := make(chan error, 1)
	o := linked(t, link, database)
	o.Term, o.Lost = 3*time.Second, func(err error) { lost <- err }
	cut, err := postgres.Open(t.Context(), o)
	testutil.OK(t, err)
	other := open(t, options(t, database))
	room := openRoom(t, other)
	inside := make(chan struct{})
	var writing sync.WaitGroup
	writing.Go(func() {
		err := cut.Border().Amend(t.Context(), func(d *access.PairingState) {
			d.Wrong = 7
			link.Suffer(testservers.ProxyFault{Hold: testservers.Both})
			close(inside)
		})
		if err == nil {
			t.Error("a write is said to be done that nobody knows of")
		}
	})
	<-inside
	if _, err := other.Border().Record(t.Context(), message(room, "zoe", 1)); err != nil {
		t.Error(err)
	}
	if err := <-lost; err == nil {
		t.Error("the process was told to end for no reason")
	}
	writing.Wait()
	closed := make(chan struct{})
	writing.Go(func() {
		_ = cut.Close(t.Context()) // what it could not give back runs out
		close(closed)
	})
	select {
	case <-closed:
	case <-time.After(30 * time.Second):
		t.Error("the process cannot end")
	}
	link.Mend()
	writing.Wait()
	if desk, err := other.Border().Load(t.Context()); err != nil || desk.Wrong != 0 {
		t.Errorf("the write of the process that was cut off is there: %+v (%v)", desk, err)
	}
	sound(t, other)
}

// linked returns options for a store behind a link.
func linked(t *testing.T, link *testservers.FaultProxy, database string) postgres.Options {
	t.Helper()
	o := options(t, database)
	o.URL = strings.Replace(o.URL, strconv.Itoa(server.Port), strconv.Itoa(link.Port()), 1)
	return o
}

// ownServer returns a server that ends with the test, which may crash it, and a database
// on it.
func ownServer(t *testing.T) (private *testservers.PostgresServer, database string) {
	t.Helper()
	private = &testservers.PostgresServer{}
	t.Cleanup(func() { testutil.OK(t, private.Stop()) })
	return private, private.Database(t)
}

// F36, DELIVERY 2.7: when the connection breaks while a commit is under way, the
// caller learns what became of it.
func TestCommitWhoseAnswerIsLostIsLookedUp(t *testing.T) {
	database := server.Database(t)
	link := testservers.NewLink(t, fmt.Sprintf("127.0.0.1:%d", server.Port))
	s := open(t, linked(t, link, database))
	amend := func(lose bool) error {
		return s.Border().Amend(t.Context(), func(d *access.PairingState) {
			d.Wrong++
			if lose {
				link.LoseAnswer()
			}
		})
	}
	for n := range 6 {
		if err := amend(n%2 == 1); err != nil {
			t.Fatalf("write %d: %v", n, err)
		}
	}
	desk, err := s.Border().Load(t.Context())
	if err != nil || desk.Wrong != 6 {
		t.Errorf("%d writes are there (%v), want 6", desk.Wrong, err)
	}
}

// F35, F36: the server crashes in the middle of a transaction and gives its number to
// another one, which is committed: that is no proof of the first.
func TestNumberGivenTwiceProvesNothing(t *testing.T) {
	private, database := ownServer(t)
	o := options(t, "")
	o.URL = private.URL(database)
	s := open(t, o)
	lost := false
	for range 3 {
		err := s.Border().Amend(t.Context(), func(d *access.PairingState) {
			d.Wrong++
			if lost {
				return
			}
			lost = true
			private.Crash(t)
			private.Return(t)
			for range 20 {
				private.Do(t, database, `create table if not exists other (n int); insert into other values (1)`)
			}
		})
		desk, failed := s.Border().Load(t.Context())
		if failed != nil {
			t.Fatal(failed)
		}
		if err == nil && desk.Wrong == 0 {
			t.Fatal("a write that never happened is said to have been committed")
		}
	}
	desk, err := s.Border().Load(t.Context())
	if err != nil || desk.Wrong < 2 {
		t.Errorf("%d writes are there (%v), want the two after the crash at least", desk.Wrong, err)
	}
}

// F35: the server crashes in the middle of everything; what was confirmed is
// there, and the store goes on.
func TestStoreOutlivesACrashOfItsServer(t *testing.T) {
	private, database := ownServer(t)
	o := options(t, "")
	o.URL = private.URL(database)
	s := open(t, o)
	room := openRoom(t, s)
	var confirmed []int
	for n := range 60 {
		if n%20 == 10 {
			private.Crash(t)
		}
		if _, err := s.Border().Record(t.Context(), message(room, "zoe", n)); err == nil {
			confirmed = append(confirmed, n)
		}
		if n%20 == 12 {
			private.Return(t)
		}
	}
	if len(confirmed) < 45 {
		t.Errorf("%d of 60 messages were recorded, want all but those while the server was gone", len(confirmed))
	}
	for _, n := range confirmed {
		done, err := s.Border().Record(t.Context(), message(room, "zoe", n))
		if err != nil || done.New != 0 {
			t.Errorf("message %d was confirmed and is not there (%+v, %v)", n, done, err)
		}
	}
	sound(t, s)
}

// F35: a server that was down has lost the connections of all. That is no death of
// those who wrote on them, also for a process that starts before they are back.
func TestServersRestartIsNoDeathOfItsProcesses(t *testing.T) {
	private, database := ownServer(t)
	o := options(t, "")
	o.URL = private.URL(database)
	o.Term = time.Hour // none says before the other starts that it lives
	first := open(t, o)
	room := openRoom(t, first)
	private.Crash(t)
	private.Return(t)
	open(t, o)
	_, broke := first.Border().Record(t.Context(), message(room, "zoe", 1))
	if _, err := first.Border().Record(t.Context(), message(room, "zoe", 2)); err != nil {
		t.Errorf("got %v of a process that lives, after %v", err, broke)
	}
}

// Issue 7: an account has one owner. A clean stop gives it away at once, and so
// does what it is held by: a process that others have given up.
func TestOneProcessHasAThingAtATime(t *testing.T) {
	database := server.Database(t)
	first, second := open(t, options(t, database)), open(t, options(t, database))
	owns := func(s *sqlstore.Store, want bool) engine.WriterProcess {
		t.Helper()
		m, mine, err := s.Own(t.Context(), "adapter telegram")
		if err != nil || mine != want {
			t.Fatalf("it is its own: %t (%v), want %t", mine, err, want)
		}
		return m
	}
	owns(first, true)
	owns(first, true)
	if m := owns(second, false); m.ID != first.Process() || m.PID == 0 {
		t.Errorf("it is said to be %+v's, want %s's", m, first.Process())
	}
	testutil.OK(t, first.Disown(t.Context(), "adapter telegram"))
	owns(second, true)
	testutil.OK(t, second.Disown(t.Context(), "adapter slack"))
	owns(first, false)
	testutil.OK(t, second.Close(t.Context()))
	owns(first, true)
	testutil.OK(t, first.Publish(t.Context(), "all is well"))
	all, err := first.Console().Members(t.Context())
	if err != nil || len(all) != 1 || len(all[0].Owned) != 1 || all[0].Bulletin != "all is well" {
		t.Errorf("processes are %+v (%v), want the one with its account", all, err)
	}
}

// begins has a process begin a cycle, which another one does not get.
func begins(t *testing.T, first, second *sqlstore.Store) (spaces.SpaceID, *spaces.Wake) {
	t.Helper()
	room := openRoom(t, first)
	if _, err := first.Border().Record(t.Context(), message(room, "zoe", 1)); err != nil {
		t.Fatal(err)
	}
	begun := claim(t, first, first.Process(), room)
	if begun == nil || claim(t, second, second.Process(), room) != nil {
		t.Fatal("the mind is not the first one's")
	}
	return room, begun
}

// I8, F42: a process that stood still for too long is given up by another, which
// gets its accounts and its minds; what it writes after that is refused.
func TestWhatAStoppedProcessHadPassesOn(t *testing.T) {
	database := server.Database(t)
	first, second := open(t, options(t, database)), open(t, options(t, database))
	if _, mine, err := first.Own(t.Context(), "adapter telegram"); !mine || err != nil {
		t.Fatal(mine, err)
	}
	room, stale := begins(t, first, second)
	server.Do(t, database, `update processes set expires = 1 where id = '`+first.Process()+`'`)
	if _, mine, err := second.Own(t.Context(), "adapter telegram"); !mine || err != nil {
		t.Errorf("the account did not pass on: %t, %v", mine, err)
	}
	if _, err := first.Border().Record(t.Context(), message(room, "zoe", 2)); !errors.Is(err, postgres.ErrBuried) {
		t.Errorf("the stopped one wrote: %v, want ErrBuried", err)
	}
	taken := claim(t, second, second.Process(), room)
	if taken == nil || taken.Lease.Epoch <= stale.Lease.Epoch {
		t.Fatalf("the mind did not pass on: %+v", taken)
	}
	sound(t, second)
}

// Issue 7: a process that stops with a cycle under way leaves it to the others,
// who need not wait for the lease to run out.
func TestAStopLeavesWhatIsUnderWayToOthers(t *testing.T) {
	database := server.Database(t)
	first, second := open(t, options(t, database)), open(t, options(t, database))
	room, begun := begins(t, first, second)
	testutil.OK(t, first.Close(t.Context()))
	taken := claim(t, second, second.Process(), room)
	if taken == nil || taken.Cycle.ID != begun.Cycle.ID || taken.Lease.Epoch <= begun.Lease.Epoch {
		t.Fatalf("the cycle did not pass on: %+v", taken)
	}
	sound(t, second)
}

// A process whose writing connection broke, but which lives, is not given up.
func TestBrokenConnectionIsNoDeath(t *testing.T) {
	database := server.Database(t)
	first, second := open(t, options(t, database)), open(t, options(t, database))
	if _, mine, err := first.Own(t.Context(), "adapter telegram"); !mine || err != nil {
		t.Fatal(mine, err)
	}
	server.Do(t, database, `update processes set backend = 1, began = 'gone' where id = '`+first.Process()+`'`)
	if _, err := second.RemoveDead(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, mine, err := second.Own(t.Context(), "adapter telegram"); mine || err != nil {
		t.Errorf("taken from a living process: %t, %v", mine, err)
	}
}

// Issue 7: a process whose environment names another time zone declares no other
// process dead.
func TestTimeZoneOfAProcessIsNoSignOfDeath(t *testing.T) {
	database := server.Database(t)
	first := open(t, options(t, database))
	room := openRoom(t, first)
	t.Setenv("PGTZ", "Etc/GMT+12")
	open(t, options(t, database))
	if _, err := first.Border().Record(t.Context(), message(room, "zoe", 1)); err != nil {
		t.Errorf("a process that lives was given up: %v", err)
	}
}
