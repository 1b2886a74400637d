package activity

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/activity/access"
	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// run keeps a line over p up until the test ends.
func run(t *testing.T, p *platform, r *record) *AccountConnection {
	t.Helper()
	return keep(t, lineOver(p, r))
}

// lineOver returns a line over p that does not run yet.
func lineOver(p *platform, r *record) *AccountConnection {
	m := NewSpaceMapping(r, r)
	return NewConnection(p, r, func(_ context.Context, a adapters.BotAccount) (*Ingress, *Egress, error) {
		return NewIngress(a, m, r, r, r, IngressOptions{Admit: access.AdmitOpen}), NewEgress(a, p, r, m, EgressOptions{}), nil
	}, ConnectionOptions{Name: "telegram", History: r})
}

// keep keeps a line up until the test ends.
func keep(t *testing.T, l *AccountConnection) *AccountConnection {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }() // waited for in the cleanup
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("run: %v", err)
		}
	})
	return l
}

// beats hears every 30 s until ctx is done.
func beats(ctx context.Context, s adapters.UpdateSink) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(30 * time.Second):
			s.Alive(time.Now())
		}
	}
}

// I13, F43: how long a platform has been silent is what passed, also when the clock is
// set meanwhile: else a line would be deaf, or not, by as much as that.
func TestSilenceIsMeasuredByWhatPasses(t *testing.T) {
	in := NewIngress(adapters.BotAccount{Platform: "telegram", ID: "1"}, nil, nil, nil, nil, IngressOptions{Admit: access.AdmitOpen})
	if !in.LastHeard().IsZero() {
		t.Errorf("heard at %s, before anything was", in.LastHeard())
	}
	at := time.Now()
	in.Alive(at)
	if got := in.LastHeard(); got.String() != at.String() { // m=+0.1, which no clock on a wall shows
		t.Errorf("heard at %s, want %s", got, at)
	}
}

// ECOSYSTEM 6: who waits for an account to join finds it in the line's status, with
// its way out.
func TestWhoHasJoinedHasAnAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := lineOver(&platform{receive: func(ctx context.Context, _ int, _ []byte, s adapters.UpdateSink) error { return beats(ctx, s) }}, newRecord())
		join := l.join
		l.join = func(ctx context.Context, a adapters.BotAccount) (*Ingress, *Egress, error) {
			in, out, err := join(ctx, a)
			synctest.Wait() // the goroutine that was signalled goes first
			return in, out, err
		}
		keep(t, l)
		<-l.Joined()
		if s := l.Status(); s.Account != ours.Key() || l.Egress() == nil {
			t.Errorf("joined with %+v", s)
		}
	})
}

func TestALineIsHealthyOnlyByHearing(t *testing.T) {
	// DELIVERY I13, M13; DESIGN 4: spans close after 90 s of silence and open again.
	synctest.Test(t, func(t *testing.T) {
		p := &platform{receive: func(ctx context.Context, n int, _ []byte, s adapters.UpdateSink) error {
			if n == 1 { // the second connection is silent
				<-ctx.Done()
				return nil
			}
			if n == 0 {
				ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
				defer cancel()
				if err := beats(ctx, s); err != nil {
					return err
				}
				return errors.New("connection lost")
			}
			return beats(ctx, s)
		}}
		r := newRecord()
		l := run(t, p, r)
		synctest.Wait()
		if s := l.Status(); s.State != ConnConnecting {
			t.Errorf("connected but never heard is %s, want connecting", s.State)
		}
		after(time.Minute)
		if s := l.Status(); s.State != ConnConnected || s.Account != ours.Key() {
			t.Errorf("got %+v, want connected", s)
		}
		after(4*time.Minute + time.Second)
		if s := l.Status(); s.State != ConnConnecting || s.Reason == "" {
			t.Errorf("after the loss got %+v, want connecting with the reason", s)
		}
		after(91 * time.Second)
		if s := l.Status(); s.State != ConnDegraded {
			t.Errorf("after 90 s of silence got %s, want degraded", s.State)
		}
		after(time.Minute)
		if s := l.Status(); s.State != ConnConnected {
			t.Errorf("a minute after the path healed got %+v, want connected", s)
		}
		// The first is for what another process may have left deaf.
		testutil.Same(t, "hearing", []bool{true, false, true}, r.hearing)
		// ECOSYSTEM 6: how it stood can be looked at later, from its first state on.
		type stood struct {
			After   time.Duration
			State   ConnState
			Reason  string
			Account string
			First   bool
		}
		var got []stood
		for _, s := range r.stood {
			got = append(got, stood{s.From.Sub(r.stood[0].From).Round(time.Second), s.State, s.Reason, s.Account, s.First})
		}
		want := []stood{
			{0, ConnConnecting, "", "", true},
			{30 * time.Second, ConnConnected, "", ours.Key(), false},
			{5 * time.Minute, ConnConnecting, "connection lost", ours.Key(), false},
			{6*time.Minute + 30*time.Second, ConnDegraded, errDeaf.Error(), ours.Key(), false},
			{7*time.Minute + time.Second, ConnConnected, "", ours.Key(), false},
		}
		testutil.Same(t, "stood", want, got)
		if n := len(r.seen); n != 7 {
			t.Errorf("seen %d times in seven and a half minutes", n)
		}
	})
}

func TestALineKeepsTryingForEver(t *testing.T) {
	// DELIVERY I13: capped backoff, and back within 60 s after the path heals.
	synctest.Test(t, func(t *testing.T) {
		var healed atomic.Bool
		p := &platform{
			connect: func(int) error {
				if !healed.Load() {
					return refusal(adapters.NotSent)
				}
				return nil
			},
			receive: func(ctx context.Context, _ int, _ []byte, s adapters.UpdateSink) error {
				s.Alive(time.Now())
				return beats(ctx, s)
			},
		}
		l := run(t, p, newRecord())
		after(24 * time.Hour)
		if n, _ := p.counts(); n < 24*60 || n > 24*60*5 {
			t.Errorf("got %d attempts in a day, want about one every 30 s", n)
		}
		healed.Store(true)
		after(time.Minute)
		if s := l.Status(); s.State != ConnConnected {
			t.Errorf("a minute after the path healed got %+v", s)
		}
	})
}

// DELIVERY I13: a platform that lets us in and then never speaks is not hurried either.
func TestALineThatHearsNothingTriesEverMoreSlowly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &platform{receive: func(context.Context, int, []byte, adapters.UpdateSink) error { return refusal(adapters.NotSent) }}
		run(t, p, newRecord())
		after(time.Hour)
		if n, _ := p.counts(); n > 60*5 {
			t.Errorf("connected %d times in an hour, want about once every 30 s", n)
		}
	})
}

// R-TG: credentials that are refused are tried again after 1, 2, 4, 8 and then every
// 10 minutes, and the line says all the time that they are refused.
func TestRefusedCredentialsAreTriedSlowly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, at := time.Now(), []time.Duration{}
		l := run(t, &platform{connect: func(int) error {
			at = append(at, time.Since(began)/time.Minute)
			return refusal(adapters.Unauthorized)
		}}, newRecord())
		for range 40 {
			after(time.Minute)
			if s := l.Status(); s.State != ConnMisconfigured || s.Reason == "" {
				t.Fatalf("after %s: %+v", time.Since(began), s)
			}
		}
		testutil.Same(t, "tried in these minutes", []time.Duration{0, 1, 3, 7, 15, 25, 35}, at)
	})
}

// DELIVERY 2.6 R-DC: what the platform forbids for good is not tried again.
func TestAFinalRefusalEndsTheTrying(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		final := refusal(adapters.Unauthorized)
		final.Final = true
		p := &platform{receive: func(context.Context, int, []byte, adapters.UpdateSink) error { return final }}
		l := run(t, p, newRecord())
		after(24 * time.Hour)
		if connects, receives := p.counts(); l.Status().State != ConnMisconfigured || connects != 1 || receives != 1 {
			t.Errorf("after %d connections and %d receives got %+v, want one and misconfigured", connects, receives, l.Status())
		}
	})
}

// I13: one refusal of good credentials heals by itself, without the problem being
// hidden before the platform is heard.
func TestOneRefusalHealsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &platform{receive: func(ctx context.Context, n int, _ []byte, s adapters.UpdateSink) error {
			if n == 1 {
				return refusal(adapters.Unauthorized)
			}
			s.Alive(time.Now())
			if n == 0 {
				for range 20 {
					<-time.After(30 * time.Second)
					s.Alive(time.Now())
				}
				return refusal(adapters.Unauthorized)
			}
			return beats(ctx, s)
		}}
		l := run(t, p, newRecord())
		after(10*time.Minute + 30*time.Second)
		if s := l.Status(); s.State != ConnMisconfigured {
			t.Fatalf("refused while it received: %+v", s)
		}
		after(time.Minute) // the credentials are proved, and receiving is refused again
		if s := l.Status(); s.State != ConnMisconfigured {
			t.Errorf("not heard yet: %+v", s)
		}
		after(2 * time.Minute)
		if s := l.Status(); s.State != ConnConnected {
			t.Errorf("three minutes later: %+v, want connected", s)
		}
	})
}

func TestAConflictIsSaidAndRetriedSlowly(t *testing.T) {
	// R-TG: 409 means another polls.
	synctest.Test(t, func(t *testing.T) {
		p := &platform{receive: func(ctx context.Context, n int, _ []byte, s adapters.UpdateSink) error {
			if n < 3 {
				return refusal(adapters.Conflict)
			}
			s.Alive(time.Now())
			return beats(ctx, s)
		}}
		l := run(t, p, newRecord())
		after(10 * time.Second)
		_, receives := p.counts()
		if s := l.Status(); s.State != ConnConflict || receives != 1 {
			t.Errorf("after %d attempts got %+v, want one and conflict", receives, s)
		}
		after(4 * time.Minute)
		if s := l.Status(); s.State != ConnConnected {
			t.Errorf("after the other one left got %+v, want connected", s)
		}
	})
}

func TestALineResumesAfterTheCursorItStored(t *testing.T) {
	// R-TG: poll with offset = cursor
	synctest.Test(t, func(t *testing.T) {
		var cursors []string
		p := &platform{receive: func(ctx context.Context, n int, cursor []byte, s adapters.UpdateSink) error {
			cursors = append(cursors, string(cursor))
			err := s.Accept(ctx, adapters.UpdateBatch{
				Updates: []adapters.Update{says(lobby, kai, "1", "hello")}, Cursor: []byte{'a' + byte(n)},
			})
			if err != nil || n == 2 {
				<-ctx.Done()
				return nil
			}
			return errors.New("connection lost")
		}}
		r := newRecord()
		run(t, p, r)
		after(time.Minute)
		testutil.Same(t, "cursors", []string{"", "a", "b"}, cursors)
		if n := len(r.said()); n != 1 {
			t.Errorf("three deliveries became %d events", n)
		}
	})
}

func TestSomebodyElsesCredentialsAreNotUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &platform{others: true, receive: func(context.Context, int, []byte, adapters.UpdateSink) error {
			return errors.New("connection lost")
		}}
		l := run(t, p, newRecord())
		after(time.Minute)
		_, receives := p.counts()
		if s := l.Status(); s.State != ConnMisconfigured || receives != 1 {
			t.Errorf("got %+v after %d connections, want misconfigured after one", s, receives)
		}
	})
}

func TestARingReachesTheOutbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &platform{}
		r := newRecord()
		l := run(t, p, r)
		l.Ring() // before the first connection: it has no effect
		synctest.Wait()
		r.put(spaces.Action{ID: "x", Chat: "c", Text: "x"})
		began := time.Now()
		l.Ring()
		synctest.Wait()
		if a := r.action("x"); a.State != spaces.ActionSent || time.Since(began) != 0 {
			t.Errorf("got %s after %s, want sent at once", a.State, time.Since(began))
		}
	})
}

func TestALostRingCostsOnePoll(t *testing.T) {
	// DELIVERY K15: sends within 2 s
	synctest.Test(t, func(t *testing.T) {
		p := &platform{}
		r := newRecord()
		run(t, p, r)
		synctest.Wait()
		r.put(spaces.Action{ID: "x", Chat: "c", Text: "x"})
		after(2*time.Second + time.Millisecond)
		if a := r.action("x"); a.State != spaces.ActionSent {
			t.Errorf("got %s, want sent by the slow look", a.State)
		}
	})
}

// A connection that is given up because it brings no events is told of until one comes
// as it happens; what history brings does not count.
func TestADeafConnectionIsToldUntilALiveMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deaf, past, live := make(chan struct{}), make(chan struct{}), make(chan struct{})
		p := &platform{receive: func(ctx context.Context, n int, _ []byte, s adapters.UpdateSink) error {
			s.Alive(time.Now())
			if n == 0 {
				<-deaf
				return &adapters.Error{Kind: adapters.NotSent, Op: "receive", Err: adapters.ErrDeaf}
			}
			u := says(lobby, kai, "1", "while deaf")
			u.Kept = true
			<-past
			testutil.OK(t, s.Accept(ctx, adapters.UpdateBatch{Updates: []adapters.Update{u}}))
			<-live
			u = says(lobby, kai, "2", "hello")
			testutil.OK(t, s.Accept(ctx, adapters.UpdateBatch{Updates: []adapters.Update{u}}))
			return beats(ctx, s)
		}}
		l := run(t, p, newRecord())
		after(time.Second)
		said := func(what string, want bool) {
			t.Helper()
			after(10 * time.Second)
			if got := l.Status().Deaf; (got != "") != want {
				t.Errorf("%s: deaf is %q", what, got)
			}
		}
		said("connected", false)
		close(deaf)
		said("connected anew", true)
		close(past)
		said("history is read", true)
		close(live)
		said("a live message", false)
	})
}
