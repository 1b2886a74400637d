package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/spaces"
)

// maxDigest bounds a digest, in bytes.
const maxDigest = 2_000

// digest has a cheaper model condense the accounts of a mind's old cycles, group
// by group, as long as the mind rests. Nobody waits for it: until a digest is there
// the accounts stand for themselves, and it is shown from the next cut on.
func (s *Shell) digest(ctx context.Context, p wakeKey) {
	o, ok := s.outlook(p)
	if !ok || s.Digests == nil || o.settings.DigestModel == "" {
		return
	}
	defer func() { // the accounts stay as they are
		if r := recover(); r != nil {
			s.Logger.Error("digesting panicked", "mind", p.mind.String(), "panic", r, "stack", string(debug.Stack()))
		}
	}()
	m := s.minds.get(p.mind)
	for s.idle(p.mind) {
		more, err := m.digest(ctx, o, p.space)
		if err != nil && ctx.Err() == nil {
			s.Logger.Warn("accounts not digested", "mind", p.mind.String(), "error", err)
		}
		if err != nil || !more {
			return
		}
	}
}

// idle reports whether no cycle of the mind is under way.
func (s *Shell) idle(m spaces.Mind) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.load[m] == 0
}

// undigested reports whether enough cycles have grown old since the last digest. m.mu
// is held.
func (m *mind) undigested(set AgentSettings) bool {
	if m.shell.Digests == nil || set.DigestModel == "" || m.keyframe == nil {
		return false
	}
	var last int64
	if n := len(m.digests); n > 0 {
		last = m.digests[n-1].Last
	}
	return m.keyframe.Upto+int64(len(m.closed)-set.SingleCycles)-last >= int64(set.GroupSize)
}

// digest condenses the oldest group that has no digest yet, and reports whether
// there may be another one.
func (m *mind) digest(ctx context.Context, o cycleConfig, space spaces.SpaceID) (more bool, err error) {
	group, erasures, err := m.oldest(ctx, o.settings)
	if err != nil || len(group) == 0 {
		return false, err
	}
	spent, err := m.shell.Record.Spent(ctx, m.shell.Now(), m.id.Agent, space)
	if err != nil {
		return false, fmt.Errorf("tokens spent: %w", err)
	}
	if overspent(spent, o.settings.Budget) != "" {
		return false, nil
	}
	res, failed := llm.GenerateBounded(ctx, o.agent.Model, digestRequest(group, o))
	d := m.made(group, o.settings, res)
	d.Usage = o.agent.usage(cmp.Or(res.Model, o.settings.DigestModel), res.Usage)
	d.Space = space
	if failed != nil {
		d.Text = ""
	}
	return true, errors.Join(failed, m.keep(ctx, d, erasures))
}

// oldest returns the oldest group of cycles that a keyframe shows as one and of which
// none is in a digest, with the messages they showed, and how much was erased so far.
func (m *mind) oldest(ctx context.Context, set AgentSettings) ([]spaces.ClosedCycle, int, error) {
	m.loading.Lock()
	defer m.loading.Unlock()
	m.mu.Lock()
	ready := m.loaded && m.undigested(set)
	digests, erasures, kept := slices.Clone(m.condensed()), m.erasures, len(m.carried(m.closed))
	var upto int64
	if m.keyframe != nil {
		upto = m.keyframe.Upto
	}
	m.mu.Unlock()
	if !ready || upto == 0 {
		return nil, 0, nil
	}
	all, err := m.carriedUpTo(ctx, 0, upto, false)
	if err != nil {
		return nil, 0, err
	}
	for _, g := range hud.GroupCycles(all, kept, set.limits()) {
		first, last := g[0].N, g[len(g)-1].N
		if len(g) < set.GroupSize || slices.ContainsFunc(digests, func(d spaces.CycleSummary) bool { return d.First <= last && first <= d.Last }) {
			continue
		}
		whole, err := m.carriedUpTo(ctx, first-1, last, true)
		if err != nil {
			return nil, 0, err
		}
		return slices.DeleteFunc(whole, func(c spaces.ClosedCycle) bool { return c.Rest == "" }), erasures, nil
	}
	return nil, 0, nil
}

// carriedUpTo reads the closed cycles after n up to last that the mind still carries.
func (m *mind) carriedUpTo(ctx context.Context, n, last int64, turns bool) ([]spaces.ClosedCycle, error) {
	all, err := m.cycles(ctx, n, last, turns)
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.carried(all), err
}

// digestRequest asks for a digest of the accounts, each quoted on a line of its own.
func digestRequest(group []spaces.ClosedCycle, o cycleConfig) llm.ModelRequest {
	var lines strings.Builder
	set := o.settings
	told := o.system.set.Expand("digest", struct{ Words int }{max(1, set.SummaryTokens*2/3)})
	for i := range group {
		lines.WriteString("Cycle " + strconv.FormatInt(group[i].N, 10) + ": " + hud.Quote(group[i].Rest) + "\n")
	}
	return llm.ModelRequest{
		Model: set.DigestModel, MaxOutput: set.SummaryTokens,
		Messages: []llm.TranscriptMessage{{Role: llm.System, Text: told}, {Role: llm.User, Text: strings.TrimSpace(lines.String())}},
	}
}

// made is the digest of a group: what it was made of, and who could read all of that.
func (m *mind) made(group []spaces.ClosedCycle, set AgentSettings, res llm.ModelResponse) spaces.CycleSummary {
	d := spaces.CycleSummary{
		Mind: m.id, First: group[0].N, Last: group[len(group)-1].N, Text: textformat.ClipBytes(strings.TrimSpace(res.Text), maxDigest), Model: set.DigestModel, At: m.shell.Now(),
	}
	if res.Finish != llm.Stopped {
		d.Text = "" // half a digest says who knows what
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var rooms []spaces.SpaceID
	for i := range group {
		rooms = append(rooms, group[i].Space)
		for k := range group[i].Turns {
			d.Sources = append(d.Sources, group[i].Turns[k].Refs...)
		}
	}
	slices.Sort(d.Sources)
	d.Sources, d.Readers = slices.Compact(d.Sources), readersOf(m.seats, rooms)
	return d
}

// keep stores a digest, unless words it may hold were deleted while it was made.
func (m *mind) keep(ctx context.Context, d spaces.CycleSummary, erasures int) error {
	m.loading.Lock() // what is deleted meanwhile is redacted afterwards
	defer m.loading.Unlock()
	m.mu.Lock()
	if m.erasures != erasures {
		d.Text = ""
	}
	m.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitLimit) // it was paid for
	defer cancel()
	err := m.shell.Digests.Digest(ctx, d)
	if err != nil && !errors.Is(err, spaces.ErrStale) {
		return err
	}
	m.shell.Logger.Info("accounts digested", "mind", m.id.String(), "from", d.First, "to", d.Last, "model", d.Model,
		"kept", err == nil && d.Text != "", "tokens", d.Usage.Prompt+d.Usage.Output)
	if err != nil || d.Text == "" {
		return errNoDigest
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	others := slices.DeleteFunc(slices.Clone(m.digests), func(x spaces.CycleSummary) bool { return x.First == d.First })
	m.digests = append(others, d)
	slices.SortFunc(m.digests, func(a, b spaces.CycleSummary) int { return cmp.Compare(a.First, b.First) })
	return nil
}

// errNoDigest tells that nothing came of a call; it is tried again after the next rest.
var errNoDigest = errors.New("no digest came of it")

// digestDue returns when the mind will have rested long enough for a digest, and
// false when that is no time to come or there is nothing to digest. m.mu is held.
func (m *mind) digestDue(set AgentSettings) (time.Time, bool) {
	at := m.lastEnd.Add(set.CacheTTL)
	return at, m.undigested(set) && m.shell.Now().Before(at)
}
