package access

import (
	"testing"
	"time"
)

func TestASendersPaceComesBack(t *testing.T) {
	var s SenderRateLimiter
	who, at := SenderID{User: "7"}, noon
	for range 10 {
		s.reserveMessage(who, 10, at)
	}
	if s.reserveMessage(who, 10, at) != nil {
		t.Error("the eleventh in a minute is within the bound of ten")
	}
	if s.reserveMessage(who, 10, at.Add(time.Minute)) == nil || s.reserveMessage(SenderID{Scope: "T2", User: "7"}, 10, at) == nil {
		t.Error("a minute later, or as somebody else, it is not let through")
	}
}
