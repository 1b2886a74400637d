package activity

import (
	"context"
	"errors"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/failpoint"
	"github.com/trestle-bridge/trestle/internal/retry"
	"github.com/trestle-bridge/trestle/spaces"
)

// maxStorePause bounds the pause between attempts to record an outcome: the record is
// ours, and the lane waits.
const maxStorePause = 5 * time.Second

// resultOf decides what becomes of an action whose step failed.
func (e *Egress) resultOf(ctx context.Context, a spaces.Action, err error, of sendStep) SendResult {
	now := time.Now()
	kind := adapters.KindOf(err)
	s := SendResult{State: spaces.ActionReady, Code: kind.String(), Reason: failureText(kind, err), Resent: a.Resent}
	switch kind {
	case adapters.Limited:
		if failpoint.Point("send.limited") != nil {
			return s // the wait is lost, the platform will say it again
		}
		wait, _ := adapters.RetryDelay(err)
		e.limits.holdChat(ctx, a.Chat, now, wait)
		s.NotBefore = now.Add(wait)
	case adapters.NotSent, adapters.Conflict:
		s.NotBefore = now.Add(retry.BackoffAfter(a.Attempts))
	case adapters.Unknown:
		switch {
		case of.repeatable:
			s.NotBefore = now.Add(retry.BackoffAfter(a.Attempts))
		case of.find != nil:
			s.Resent, s.NotBefore = true, now.Add(resendPause(a.Attempts))
		case mayResend(a):
			s.Resent, s.NotBefore = true, now.Add(resendPause(a.Attempts))
		default:
			s.State = spaces.ActionUnknown
		}
	case adapters.Moved:
		return e.moved(ctx, a, err, s)
	case adapters.Unauthorized:
		e.outage.pause(now, "the platform refuses our credentials")
		e.logger.Error("sending is paused", "err", err) // and what is ready leaves when that is over
	case adapters.Forbidden:
		s.State = spaces.ActionFailed
		if a.Kind != spaces.ActSend || of.file || a.Thread != "" || a.RoomThread != "" {
			break // what may not be changed, reacted to, posted beside words or said in a thread closes no chat
		}
		if liveErr := e.mapping.Live(ctx, a.Account, a.Chat, false, s.Reason, now); liveErr != nil {
			e.logger.Error("chat not marked as out of reach", "chat", a.Chat, "err", liveErr)
		}
	case adapters.Invalid, adapters.NoTarget:
		s.State = spaces.ActionFailed
	}
	if s.State == spaces.ActionReady {
		s.NotBefore = beforeExpiry(a, s.NotBefore)
	}
	return s
}

// moved carries the chat's new id into the map and the action.
func (e *Egress) moved(ctx context.Context, a spaces.Action, err error, s SendResult) SendResult {
	now := time.Now()
	s.NotBefore = now
	target, _ := errors.AsType[*adapters.Error](err)
	if target.MovedTo == "" || target.MovedTo == a.Chat {
		s.State = spaces.ActionFailed
		return s
	}
	s.MovedTo = target.MovedTo
	if err := e.mapping.Migrate(ctx, a.Account, spaces.ChatMove{From: a.Chat, To: target.MovedTo}, now); err != nil {
		e.logger.Error("chat not moved", "chat", a.Chat, "to", target.MovedTo, "err", err)
		s.MovedTo, s.NotBefore = "", now.Add(retry.BackoffAfter(a.Attempts)) // the platform will say it again
	}
	return s
}

// failureText tells the agent, in plain words, why its action is not done.
func failureText(k adapters.FailureKind, err error) string {
	why, status := "", 0
	if e, ok := errors.AsType[*adapters.Error](err); ok {
		if status = e.Status; e.Err != nil {
			why = " (" + spaces.TruncateText(e.Err.Error(), spaces.MaxNameBytes) + ")"
		}
	}
	switch k {
	case adapters.Unknown:
		if status != 0 {
			return "The platform's answer does not tell whether this arrived" + why + "."
		}
		return "This was sent and no answer came, so that whether it arrived is unknown" + why + "."
	case adapters.NotSent, adapters.Conflict:
		if status != 0 {
			return "The platform was reached and did not take this" + why + "."
		}
		return "The platform could not be reached" + why + "."
	case adapters.Limited:
		return "The platform asked us to wait."
	case adapters.Invalid:
		return "The platform does not take this and will not take it later" + why + "."
	case adapters.NoTarget:
		return "The chat, thread or message it is meant for is not there" + why + "."
	case adapters.Forbidden:
		return "We may not do this here: we were removed or blocked, or lack the right" + why + "."
	case adapters.Moved:
		return "The chat goes on under another id that the platform did not tell."
	case adapters.Unauthorized:
		return "The platform refuses our credentials."
	}
	return "It failed for a reason that has no name."
}

// recordResult makes an outcome durable and reports whether it is. It does not stop
// with the process: what a platform has accepted must be known, so it tries
// until the work in hand is cut off, and once more after that.
func (e *Egress) recordResult(ctx context.Context, a spaces.Action, s SendResult) bool {
	s.Action = a.ID
	e.logger.Info("action settled", "action", string(a.ID), "kind", string(a.Kind), "chat", a.Chat,
		"state", string(s.State), "code", s.Code, "part", a.Part, "attempts", a.Attempts)
	for try := 1; ; try++ {
		last := ctx.Err() != nil
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
		now := time.Now()
		err := e.correctClock(limited, now) // before it, what is stored now would be taken for older
		if err == nil {
			s.NotBefore = afterClockShift(s.NotBefore, now)
			err = e.box.Settle(limited, now, []SendResult{s})
		}
		cancel()
		if err == nil {
			return true
		}
		e.logger.Error("outcome not recorded", "action", string(a.ID), "err", err)
		if last {
			return false
		}
		adapters.SleepContext(ctx, min(retry.BackoffAfter(try), maxStorePause))
	}
}
