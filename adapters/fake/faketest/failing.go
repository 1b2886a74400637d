package faketest

import (
	"net/http"

	"github.com/trestle-bridge/trestle/adapters/adaptertest"
	"github.com/trestle-bridge/trestle/adapters/fake"
)

// Failing returns the fault by which a call to the method fails as f says. It is
// false for what a platform has words of its own for, and for failures of receiving.
func Failing(f adaptertest.CallFailure, method string) (fake.CallFault, bool) {
	fault := fake.CallFault{Method: method}
	switch f {
	case adaptertest.AnswerLost:
		fault.Do, fault.Apply = fake.Cut, true
	case adaptertest.RequestLost:
		fault.Do = fake.Cut
	case adaptertest.Broken:
		fault.Do, fault.Status = fake.HTML, http.StatusBadGateway
	case adaptertest.Garbled:
		fault.Do, fault.Apply = fake.Garbage, true
	case adaptertest.Hung:
		fault.Do = fake.Hang
	case adaptertest.Unreachable, adaptertest.TooFast, adaptertest.BadMessage, adaptertest.NoThread, adaptertest.Blocked,
		adaptertest.MovedAway, adaptertest.ReadLost, adaptertest.OtherReader, adaptertest.Dismissed:
		return fake.CallFault{}, false
	}
	return fault, true
}
