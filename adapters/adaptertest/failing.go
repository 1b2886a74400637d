package adaptertest

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

// outcome arranges a failure, sends once under it, and returns the error and
// how many requests the platform saw. It reports false when the platform cannot
// fail so.
func (s *caseRun) outcome(f CallFailure) (err error, requests int, can bool) { //nolint:staticcheck // the error is what is looked at first
	s.Helper()
	if !s.Fail(f) {
		return nil, 0, false
	}
	before := s.Requests()
	ctx, cancel := context.WithTimeout(s.Context(), 5*time.Minute)
	defer cancel()
	_, err = s.Adapter.Send(ctx, s.part("under "+string(f)))
	pass(time.Minute) // whatever repeats by itself shows now
	return err, s.Requests() - before, true
}

// F46.
func permanent(s *caseRun) {
	s.connect()
	for f, want := range map[CallFailure]adapters.FailureKind{
		BadMessage: adapters.Invalid, NoThread: adapters.NoTarget, Blocked: adapters.Forbidden, MovedAway: adapters.Moved,
	} {
		err, requests, can := s.outcome(f)
		if !can {
			continue
		}
		e, ok := err.(*adapters.Error) //nolint:errorlint // the contract says this type itself
		if !ok || e.Kind != want || e.Op == "" {
			s.Errorf("%s is told as %v, want %s", f, err, want)
			continue
		}
		if e.Kind.Permanent() == (f == MovedAway) || (e.MovedTo != "") != (f == MovedAway) {
			s.Errorf("%s: permanent %v, moved to %q", f, e.Kind.Permanent(), e.MovedTo)
		}
		if requests > 1 {
			s.Errorf("%s: %d requests, want one", f, requests)
		}
	}
	if _, err := s.post("after all that"); err != nil {
		s.Errorf("the next message: %v", err)
	}
}

// F45, K21.
func limited(s *caseRun) {
	s.connect()
	err, requests, can := s.outcome(TooFast)
	if !can {
		s.Skip("the platform knows no limits")
	}
	e, ok := err.(*adapters.Error) //nolint:errorlint // the contract says this type itself
	if !ok || e.Kind != adapters.Limited || e.RetryAfter != 2*time.Second {
		s.Errorf("told as %v, want limited for 2s", err)
	}
	if requests != 1 || len(s.Sent(s.Chat)) != 0 {
		s.Errorf("%d requests, %d messages; want 1, 0: the caller owns every retry", requests, len(s.Sent(s.Chat)))
	}
}

func unknownOutcome(s *caseRun) {
	s.connect()
	tried := 0
	for _, f := range []CallFailure{AnswerLost, RequestLost, Broken, Garbled, Hung} {
		posted := len(s.Sent(s.Chat))
		err, requests, can := s.outcome(f)
		if !can {
			continue
		}
		tried++
		if err == nil || adapters.KindOf(err) != adapters.Unknown {
			s.Errorf("%s is told as %v, want unknown", f, err)
		}
		if requests != 1 {
			s.Errorf("%s: %d requests reached the platform, want one", f, requests)
		}
		if n := len(s.Sent(s.Chat)) - posted; n > 1 || f == AnswerLost && n != 1 {
			s.Errorf("%s: %d messages were posted", f, n)
		}
	}
	if tried == 0 {
		s.Skip("every outcome is known on this platform")
	}
	if _, err := s.post("after all that"); err != nil {
		s.Errorf("the next message: %v", err)
	}
}

// K16.
func unsent(s *caseRun) {
	s.connect()
	err, requests, can := s.outcome(Unreachable)
	if !can {
		s.Skip("the platform can always be reached")
	}
	if adapters.KindOf(err) != adapters.NotSent || err == nil {
		s.Errorf("told as %v, want not sent", err)
	}
	if requests != 0 || len(s.Sent(s.Chat)) != 0 {
		s.Errorf("%d requests, %d messages; want none", requests, len(s.Sent(s.Chat)))
	}
}

// PLATFORMS 0.10, I18.
func secret(s *caseRun) {
	s.receive()
	s.message(s.say("hello"))
	var seen []string
	for _, f := range []CallFailure{Unreachable, TooFast, BadMessage, Blocked, AnswerLost, RequestLost, Broken, Garbled, Hung} {
		if err, _, can := s.outcome(f); can && err != nil {
			seen = append(seen, err.Error(), fmt.Sprintf("%+v", err))
			for ; err != nil; err = unwrap(err) {
				seen = append(seen, fmt.Sprintf("%#v", err))
			}
		}
	}
	if s.Unknown != nil {
		s.Unknown()
	}
	s.message(s.say("again"))
	if s.Fail(ReadLost) {
		seen = append(seen, fmt.Sprint(s.failed()))
	}
	for _, u := range s.sink.all() {
		seen = append(seen, fmt.Sprintf("%+v", u), string(u.Raw))
	}
	seen = append(seen, string(s.sink.saved()), fmt.Sprintf("%v %+v %#v", s.Adapter, s.Adapter, s.Adapter))
	if s.Logs != nil {
		seen = append(seen, s.Logs())
	}
	if len(seen) < 4 {
		s.Fatal("nothing failed, so nothing was shown")
	}
	for _, text := range seen {
		if strings.Contains(text, s.Secret) {
			s.Errorf("the credential is in %q", text)
		}
	}
}

func unwrap(err error) error {
	if w, ok := err.(interface{ Unwrap() error }); ok {
		return w.Unwrap()
	}
	return nil
}
