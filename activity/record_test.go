package activity

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/activity/access"
	"github.com/trestle-bridge/trestle/activity/commands"
	"github.com/trestle-bridge/trestle/spaces"
)

// A record is the ports kept in memory, as strict as a database: one source one
// event, one lane one action under way, every change under one lock.
type record struct {
	mu        sync.Mutex // guards all
	mappings  []spaces.ChatMapping
	rooms     []spaces.OpenRequest
	events    []spaces.IngestItem
	sources   map[string]bool
	batches   []spaces.IngestBatch
	cursor    []byte
	hearing   []bool
	stood     []ConnPeriod
	seen      []time.Time
	actions   []*spaces.Action
	failures  map[spaces.ActionID]SendResult
	where     map[spaces.EventID][]spaces.MessageRef
	files     map[string]bool // messages that are files of others
	notices   []spaces.ProcessNotice
	closed    []string
	desk      access.PairingState
	live      map[string]bool
	moved     []string
	places    int    // questions to Place
	nexts     int    // questions to Next
	before    func() // what has its turn before a recovery; nil for nothing
	roles     []spaces.RoleGrant
	halted    spaces.StopResult // what the next halt meets
	now       commands.RoomStatus
	answered  []commands.MessageOutcome
	contexts  []commands.ContextUse
	compacted map[spaces.AgentID]spaces.ContextCompacted
	about     spaces.MessageRef // the message that was last asked about
	blind     error             // what every look fails with, while set

	acks    []StoredAck
	drafts  []StoredDraft
	strayed []spaces.DraftID                  // drafts that the platform cannot be asked for
	starts  map[spaces.EventID]spaces.EventID // of the answers that a message is among

	broadcast bool         // what an agent says is shown beside its thread
	mooring   ThreadAnchor // of every thread

	refuse error // what every write fails with, while set
	order  []string
}

var (
	_ ChatDirectory          = (*record)(nil)
	_ ChatLister             = (*record)(nil)
	_ EventLog               = (*record)(nil)
	_ ConnHistory            = (*record)(nil)
	_ Outbox                 = (*record)(nil)
	_ DraftStore             = (*record)(nil)
	_ AckStore               = (*record)(nil)
	_ NoticeStore            = (*record)(nil)
	_ access.PairingStore    = (*record)(nil)
	_ commands.RoleLookup    = (*record)(nil)
	_ commands.RunController = (*record)(nil)
	_ commands.RoomInspector = (*record)(nil)
)

func newRecord() *record {
	return &record{
		sources: map[string]bool{}, failures: map[spaces.ActionID]SendResult{},
		where: map[spaces.EventID][]spaces.MessageRef{}, files: map[string]bool{}, live: map[string]bool{},
	}
}

// locked runs f alone, unless writes are refused.
func (r *record) locked(ctx context.Context, f func()) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refuse != nil {
		return r.refuse
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	f()
	return nil
}

func (r *record) setRefuse(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refuse = err
}

func (r *record) Place(_ context.Context, account, chat string) ([]spaces.ChatPlacement, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.places++
	var places []spaces.ChatPlacement
	for _, m := range r.mappings {
		if m.Account == account && m.Chat == chat {
			places = append(places, spaces.ChatPlacement{Space: m.Space, Object: m.Object, Lost: r.lost(m.Chat)})
		}
	}
	if places == nil {
		return nil, ErrUnmapped
	}
	return places, nil
}

func (r *record) Open(ctx context.Context, o spaces.OpenRequest) (p spaces.ChatPlacement, err error) {
	err = r.locked(ctx, func() {
		id := spaces.SpaceID(o.Key)
		for _, c := range o.Chats {
			for _, m := range r.mappings {
				if m.Account == c.Account && m.Chat == c.Chat && id == "" {
					id = m.Space
				}
			}
		}
		if id == "" {
			id = spaces.SpaceID(fmt.Sprintf("space-%d", len(r.rooms)+1))
		}
		r.rooms = append(r.rooms, o)
		for _, c := range o.Chats {
			c.Space, c.Object = id, spaces.ChatObject
			if !slices.ContainsFunc(r.mappings, func(m spaces.ChatMapping) bool {
				return m.Account == c.Account && m.Chat == c.Chat && m.Space == id
			}) {
				r.mappings = append(r.mappings, c)
			}
		}
		p = spaces.ChatPlacement{Space: id, Object: spaces.ChatObject, Circle: o.Circle}
	})
	return p, err
}

func (r *record) Migrate(ctx context.Context, account string, to spaces.ChatMove, _ time.Time) error {
	return r.locked(ctx, func() {
		from, to, how := to.From, to.To, map[bool]string{true: " same"}[to.Same]
		r.order = append(r.order, "migrate "+from+" "+to+how)
		r.moved = append(r.moved, from+">"+to)
		for i, m := range r.mappings {
			if m.Account == account && m.Chat == from {
				r.mappings[i].Chat = to
			}
		}
		for _, a := range r.actions {
			if a.Account == account && a.Chat == from {
				a.Chat = to
			}
		}
	})
}

func (r *record) Live(ctx context.Context, _, chat string, live bool, _ string, _ time.Time) error {
	return r.locked(ctx, func() {
		r.order = append(r.order, fmt.Sprintf("live %s %t", chat, live))
		r.live[chat] = live
	})
}

// lost reports whether a chat was last told to be out of reach.
func (r *record) lost(chat string) bool { live, told := r.live[chat]; return told && !live }

func (r *record) Chats(_ context.Context, account string, space spaces.SpaceID) ([]spaces.ChatMapping, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []spaces.ChatMapping
	for _, m := range r.mappings {
		if (account == "" || m.Account == account) && (space == "" || m.Space == space) {
			out = append(out, m)
		}
	}
	return out, nil
}

func (r *record) Record(ctx context.Context, in spaces.IngestBatch) (done spaces.IngestResult, err error) {
	err = r.locked(ctx, func() {
		r.batches = append(r.batches, in)
		if in.Cursor != nil {
			r.cursor = in.Cursor
		}
		for _, item := range in.Items {
			key := string(item.Event.Space) + " " + item.Event.Source
			if r.sources[key] {
				done.Duplicates++
				continue
			}
			r.sources[key] = true
			done.New++
			r.events = append(r.events, item)
			r.order = append(r.order, string(item.Event.Body.Kind())+" "+string(item.Event.Space))
			done.Wakes = append(done.Wakes, spaces.PendingWork{Space: item.Event.Space})
		}
	})
	return done, err
}

func (r *record) Cursor(context.Context, string) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cursor, nil
}

func (r *record) StateChanged(_ context.Context, s ConnPeriod) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stood = append(r.stood, s)
	return r.refuse
}

func (r *record) StillInState(_ context.Context, _ string, at time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, at)
	return r.refuse
}

func (r *record) SetConnected(ctx context.Context, _ string, hears bool, _ time.Time) error {
	return r.locked(ctx, func() { r.hearing = append(r.hearing, hears) })
}

// lane is what keeps order: actions of one chat and thread.
func lane(a *spaces.Action) string { return a.Chat + "|" + string(a.Thread) }

func terminal(s spaces.ActionState) bool { return s != spaces.ActionReady && s != spaces.ActionSending }

func (r *record) Claim(ctx context.Context, _ string, at time.Time, limit int) (claimed []spaces.Action, err error) {
	err = r.locked(ctx, func() {
		seen := map[string]bool{}
		for _, a := range r.actions {
			if terminal(a.State) || seen[lane(a)] {
				continue
			}
			if a.State == spaces.ActionReady && expired(*a, at) {
				late := expiredResult(*a)
				a.State, a.Code = late.State, late.Code
				continue
			}
			seen[lane(a)] = true
			if a.State == spaces.ActionReady && !a.NotBefore.After(at) && len(claimed) < limit {
				a.State = spaces.ActionSending
				a.Attempts++
				claimed = append(claimed, *a)
			}
		}
	})
	return claimed, err
}

func (r *record) Settle(ctx context.Context, _ time.Time, all []SendResult) error {
	return r.locked(ctx, func() {
		for _, s := range all {
			a := r.find(s.Action)
			if terminal(a.State) {
				continue
			}
			a.State, a.NotBefore, a.Code = s.State, s.NotBefore, s.Code
			switch s.State {
			case spaces.ActionSending, spaces.ActionSent:
				if s.Part > 0 && s.Part <= a.Part {
					continue
				}
				if a.Part++; a.Part == 1 {
					r.rub(a.Draft)
				}
				r.where[a.Target] = slices.DeleteFunc(r.where[a.Target], func(ref spaces.MessageRef) bool { return slices.Contains(s.Gone, ref) })
				a.Attempts, a.Resent = 1, false
				if !s.Ref.IsZero() {
					a.Refs = append(a.Refs, s.Ref)
					r.where[a.Event] = append(r.where[a.Event], s.Ref)
					r.files[s.Ref.Message] = s.File
				}
			case spaces.ActionReady:
				a.Resent = a.Resent || s.Resent
				if s.Code == "" {
					a.Attempts--
				}
				if s.MovedTo != "" {
					a.Chat = s.MovedTo
				}
			case spaces.ActionFailed, spaces.ActionExpired, spaces.ActionUnknown, spaces.ActionCancelled:
				r.failures[a.ID] = s
			}
		}
	})
}

func (r *record) find(id spaces.ActionID) *spaces.Action {
	i := slices.IndexFunc(r.actions, func(a *spaces.Action) bool { return a.ID == id })
	return r.actions[i]
}

func (r *record) Next(context.Context, string) (time.Time, bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.nexts++
	next, waiting := time.Unix(1<<40, 0), false
	seen := map[string]bool{}
	for _, a := range r.actions {
		waiting = waiting || a.State == spaces.ActionReady
		if terminal(a.State) || seen[lane(a)] {
			continue
		}
		seen[lane(a)] = true
		if a.State == spaces.ActionReady && a.NotBefore.Before(next) {
			next = a.NotBefore
		}
	}
	return next, waiting, nil
}

func (r *record) Recover(ctx context.Context, _ string, at time.Time, carried func() []spaces.ActionID, look time.Time) error {
	if r.before != nil {
		r.before()
	}
	return r.locked(ctx, func() {
		var held []spaces.ActionID
		if carried != nil {
			held = carried()
		}
		for _, a := range r.actions {
			if a.State != spaces.ActionSending || slices.Contains(held, a.ID) {
				continue
			}
			switch {
			case !look.IsZero():
				a.State, a.Resent, a.NotBefore = spaces.ActionReady, true, look
			case a.Policy == spaces.ResendOnce && !a.Resent:
				a.State, a.Resent, a.NotBefore = spaces.ActionReady, true, at
			default:
				a.State, a.Code = spaces.ActionUnknown, "unknown"
			}
		}
	})
}

func (r *record) ShiftDue(ctx context.Context, _ string, by time.Duration, at time.Time) error {
	return r.locked(ctx, func() {
		for _, a := range r.actions {
			if a.State == spaces.ActionReady && a.NotBefore.After(at) {
				a.NotBefore = a.NotBefore.Add(-by)
			}
		}
	})
}

func (r *record) Draft(ctx context.Context, d spaces.MessageDraft, at time.Time) (was StoredDraft, state DraftState, err error) {
	err = r.locked(ctx, func() {
		i := r.drafted(d.ID)
		if state = DraftKnown; i >= 0 {
			was = r.drafts[i]
			return
		}
		state, r.drafts = DraftNew, append(r.drafts, StoredDraft{MessageDraft: d, At: at})
	})
	return was, state, err
}

func (r *record) MarkPosted(ctx context.Context, id spaces.DraftID, message string) error {
	return r.locked(ctx, func() { r.drafts[r.drafted(id)].Message = message })
}

func (r *record) Forget(ctx context.Context, id spaces.DraftID) error {
	return r.locked(ctx, func() { r.rub(id) })
}

func (r *record) MarkLost(ctx context.Context, id spaces.DraftID) error {
	return r.locked(ctx, func() { r.rub(id); r.strayed = append(r.strayed, id) })
}

func (r *record) Acknowledge(ctx context.Context, k spaces.AckReaction, at time.Time) (stored bool, err error) {
	err = r.locked(ctx, func() {
		stored = !slices.ContainsFunc(r.actions, func(a *spaces.Action) bool { return a.Kind == spaces.ActReact && a.Target == k.Event })
		same := func(o StoredAck) bool { return o.Message == k.Message }
		stands := slices.ContainsFunc(r.acks, same)
		if stored && !slices.ContainsFunc(r.acks, func(o StoredAck) bool { return same(o) && o.Run == k.Run }) {
			r.acks = append(r.acks, StoredAck{AckReaction: k, At: at})
		}
		stored = stored && !stands
	})
	return stored, err
}

func (r *record) Acks(context.Context, string) ([]StoredAck, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.acks), nil
}

func (r *record) ForgetAcks(ctx context.Context, m spaces.MessageRef, run spaces.CycleID) error {
	return r.locked(ctx, func() {
		r.acks = slices.DeleteFunc(r.acks, func(k StoredAck) bool { return k.Message == m && (run == "" || k.Run == run) })
	})
}

// ends has the acknowledgements of a run be left.
func (r *record) ends(run spaces.CycleID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.acks {
		r.acks[i].Left = r.acks[i].Left || r.acks[i].Run == run
	}
}

func (r *record) Drafts(context.Context, string) ([]StoredDraft, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.drafts), nil
}

// drafted returns the place of a draft; -1 when there is none. r.mu is held, as it
// is for rub.
func (r *record) drafted(id spaces.DraftID) int {
	return slices.IndexFunc(r.drafts, func(d StoredDraft) bool { return d.ID == id })
}

func (r *record) rub(id spaces.DraftID) {
	r.drafts = slices.DeleteFunc(r.drafts, func(d StoredDraft) bool { return d.ID == id })
}

// leave has every draft stand alone: no message will take it over.
func (r *record) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.drafts {
		r.drafts[i].Left = true
	}
}

func (r *record) ResolveMentions(context.Context, string, spaces.EventID, IdentityLookup) ([]spaces.PlatformIdentity, bool, error) {
	return nil, r.broadcast, nil
}

func (r *record) ReplyRoot(_ context.Context, _, chat string, message spaces.EventID) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, ref := range r.where[r.starts[message]] {
		if ref.Chat == chat {
			return ref.Message, nil
		}
	}
	return "", nil
}

func (r *record) MessageRefs(_ context.Context, _, chat string, message spaces.EventID) (words, files []spaces.MessageRef, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, ref := range r.where[message] {
		switch {
		case ref.Chat != chat:
		case r.files[ref.Message]:
			files = append(files, ref)
		default:
			words = append(words, ref)
		}
	}
	return words, files, nil
}

func (r *record) Post(ctx context.Context, n spaces.ProcessNotice) error {
	return r.locked(ctx, func() {
		if !slices.ContainsFunc(r.notices, func(m spaces.ProcessNotice) bool { return m.Key == n.Key }) {
			r.notices = append(r.notices, n)
		}
	})
}

func (r *record) CloseChoices(ctx context.Context, key, outcome string, _ time.Time) error {
	return r.locked(ctx, func() { r.closed = append(r.closed, key+": "+outcome) })
}

func (r *record) Posted(_ context.Context, key string) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.notices, func(n spaces.ProcessNotice) bool { return n.Key == key }), nil
}

func (r *record) Role(_ context.Context, who spaces.PlatformIdentity) (spaces.AuthorityLevel, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	role := spaces.OfMember
	for _, a := range r.roles {
		if a.Who.Platform == who.Platform && a.Who.Scope == who.Scope && a.Who.User == who.User {
			role = max(role, a.Role)
		}
	}
	return role, nil
}

func (r *record) Halt(ctx context.Context, h spaces.StopRequest) (done spaces.StopResult, err error) {
	err = r.locked(ctx, func() {
		r.order = append(r.order, "halt "+string(h.Space)+string(h.Agent))
		done = r.halted
		r.halted = spaces.StopResult{}
	})
	return done, err
}

func (r *record) Renew(ctx context.Context, space spaces.SpaceID, _ time.Time) error {
	return r.locked(ctx, func() { r.order = append(r.order, "renew "+string(space)) })
}

func (r *record) Mute(ctx context.Context, m spaces.MuteRequest) (changed []spaces.AgentID, err error) {
	err = r.locked(ctx, func() {
		r.order = append(r.order, fmt.Sprint("mute ", m.Space, m.Agent, " ", !m.Lifted))
		for i := range r.now.Agents {
			n, until := &r.now.Agents[i], cmp.Or(m.Until, spaces.MutedForGood)
			if m.Lifted {
				until = time.Time{}
			}
			if (m.Agent == "" || m.Agent == n.Agent) && !n.MutedUntil.Equal(until) {
				n.MutedUntil = until
				changed = append(changed, n.Agent)
			}
		}
	})
	return changed, err
}

func (r *record) Compact(ctx context.Context, agent spaces.AgentID, space spaces.SpaceID) (done spaces.ContextCompacted, err error) {
	err = r.locked(ctx, func() {
		r.order = append(r.order, fmt.Sprint("compact ", space, " ", agent))
		done = r.compacted[agent]
	})
	if err == nil && done.Cycles < 0 {
		err = commands.ErrBusy
	}
	return done, err
}

func (r *record) Now(context.Context, spaces.SpaceID, time.Time) (commands.RoomStatus, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now, r.blind
}

func (r *record) Last(_ context.Context, _ spaces.SpaceID, about spaces.MessageRef) ([]commands.MessageOutcome, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.about = about
	return r.answered, r.blind
}

func (r *record) Contexts(context.Context, spaces.SpaceID) ([]commands.ContextUse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.contexts, r.blind
}

// attendant is one over the record.
func (r *record) attendant() *commands.CommandHandler {
	return &commands.CommandHandler{Roles: r, Runs: r, Rooms: r}
}

func (r *record) Load(context.Context) (access.PairingState, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.desk, nil
}

func (r *record) Amend(ctx context.Context, change func(*access.PairingState)) error {
	return r.locked(ctx, func() { change(&r.desk) })
}

// put adds a ready action; a later one of the same lane comes after it.
func (r *record) put(a spaces.Action) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a.Kind == "" {
		a.Kind = spaces.ActSend
	}
	if a.Policy == "" {
		a.Policy = spaces.ResendOnce
	}
	if a.State == "" {
		a.State = spaces.ActionReady
	}
	if a.Event == "" {
		a.Event = spaces.EventID("event-" + a.ID)
	}
	a.Account = ours.Key()
	r.actions = append(r.actions, &a)
}

// action returns a copy of an action in its present state.
func (r *record) action(id spaces.ActionID) spaces.Action {
	r.mu.Lock()
	defer r.mu.Unlock()
	return *r.find(id)
}

// said returns the texts recorded so far, in order.
func (r *record) said() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, item := range r.events {
		if b, ok := item.Event.Body.(spaces.MessagePosted); ok {
			out = append(out, b.Text)
		}
	}
	return out
}

// knowsTheSecret reports whether the words of a person refused are stored.
func (r *record) knowsTheSecret() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Contains(fmt.Sprintf("%+v %+v %+v %+v", r.events, r.notices, r.desk, r.batches), secret)
}

func (r *record) ThreadAnchor(context.Context, string, string, spaces.SpaceID, spaces.ThreadID) (ThreadAnchor, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mooring, nil
}

func (r *record) ThreadTitle(context.Context, spaces.SpaceID, spaces.ThreadID) (string, error) {
	return "Cake", nil
}
