package activity

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

var soup = spaces.MessageDraft{ID: "y/0", Cycle: "y", Agent: "ada", Account: ours.Key(), Chat: "group", Text: "There is soup.", Show: spaces.StreamEdits}

// told is the action that takes soup over.
var told = spaces.Action{ID: "a", Event: "e", Account: ours.Key(), Chat: "group", Text: "There is soup. Take some.\n---\nAnd bread.", Draft: soup.ID}

// did renders what a platform was asked, in order.
func did(calls []call) (all []string) {
	for _, c := range calls {
		all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s %q", c.Op, c.Message, c.Text)))
	}
	return all
}

// A seeker is a platform that can be asked for what it took.
type seeker struct{ *platform }

func (s seeker) Find(_ context.Context, p adapters.OutgoingMessage) (adapters.Receipt, bool, error) {
	for i, c := range s.accepted() {
		if c.Op == "send" && c.Key == p.Key {
			return adapters.Receipt{Message: fmt.Sprintf("m%d", i+1)}, true, nil
		}
	}
	return adapters.Receipt{}, false, nil
}

// shut is a platform that does not let us look.
type shut struct{ *platform }

func (shut) Find(context.Context, adapters.OutgoingMessage) (adapters.Receipt, bool, error) {
	return adapters.Receipt{}, false, refusal(adapters.Forbidden)
}

// K22: the decided text is in the chat once, whatever became of its draft.
func TestADecidedMessageStandsInThePlaceOfItsDraft(t *testing.T) {
	unknown := &adapters.Error{Kind: adapters.Unknown}
	for name, c := range map[string]struct {
		platform *platform
		finds    bool
		lost     bool // the platform took the post, and its answer was lost
		told     bool // that a beginning may be left
		want     []string
	}{
		"it stands": {
			platform: &platform{},
			want:     []string{`send  "There is soup. …"`, `edit m1 "There is soup. Take some."`, `send  "And bread."`},
		},
		"it is on its way": {
			platform: &platform{takes: 3 * time.Second},
			want:     []string{`send  "There is soup. …"`, `edit m1 "There is soup. Take some."`, `send  "And bread."`},
		},
		"an edit that nobody can judge is repeated": {
			platform: &platform{script: once(func(c call) bool { return c.Op == "edit" }, unknown)},
			want:     []string{`send  "There is soup. …"`, `edit m1 "There is soup. Take some."`, `send  "And bread."`},
		},
		"somebody deleted it": {
			platform: &platform{script: once(func(c call) bool { return c.Op == "edit" }, &adapters.Error{Kind: adapters.NoTarget})},
			want:     []string{`send  "There is soup. …"`, `delete m1 ""`, `send  "There is soup. Take some."`, `send  "And bread."`},
		},
		"it was refused": {
			platform: &platform{script: once(func(c call) bool { return c.Op == "send" }, &adapters.Error{Kind: adapters.Invalid})},
			want:     []string{`send  "There is soup. Take some."`, `send  "And bread."`},
		},
		"it arrived, and can be found": {
			platform: &platform{}, finds: true, lost: true,
			want: []string{`send  "There is soup. …"`, `edit m1 "There is soup. Take some."`, `send  "And bread."`},
		},
		"nobody knows, and it was not sent": {
			platform: &platform{script: once(func(c call) bool { return c.Op == "send" }, unknown)}, finds: true,
			want: []string{`send  "There is soup. Take some."`, `send  "And bread."`},
		},
		"nobody can tell": { // one part is left behind, at most
			platform: &platform{}, lost: true, told: true,
			want: []string{`send  "There is soup. …"`, `send  "There is soup. Take some."`, `send  "And bread."`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRecord()
				var ad adapters.Adapter = c.platform
				if c.finds {
					ad = seeker{c.platform}
				}
				e := on(t, ad, r, EgressOptions{Drafts: r})
				e.ShowDraft(soup)
				after(time.Second / 2)
				if c.lost {
					_ = r.MarkPosted(t.Context(), soup.ID, "")
				}
				r.put(told)
				e.EndDraft(soup.ID)
				after(20 * time.Second)
				testutil.Same(t, "the platform took", c.want, did(c.platform.accepted()))
				a := r.action("a")
				if a.State != spaces.ActionSent || len(a.Refs) != 2 || len(r.drafts) != 0 {
					t.Errorf("the action is %s with %v, %d drafts are left", a.State, a.Refs, len(r.drafts))
				}
				if len(r.strayed) > 0 != c.told {
					t.Errorf("lost drafts: %v", r.strayed)
				}
				edited := slices.ContainsFunc(c.want, func(s string) bool { return strings.HasPrefix(s, "edit m1") })
				if edited && a.Refs[0].Message != "m1" {
					t.Errorf("the message stands at %s", a.Refs[0].Message)
				}
			})
		})
	}
}

// K22: a draft whose message was not decided is deleted, at once or by the next
// process, and its text is not shown any more.
func TestADraftThatNobodySaysIsDeleted(t *testing.T) {
	for name, c := range map[string]struct {
		ad   func(*platform) adapters.Adapter
		lost bool
		want []string
	}{
		"it stands":            {func(p *platform) adapters.Adapter { return p }, false, []string{`send  "There is soup. …"`, `delete m1 ""`}},
		"it is found":          {func(p *platform) adapters.Adapter { return seeker{p} }, true, []string{`send  "There is soup. …"`, `delete m1 ""`}},
		"nobody can look":      {func(p *platform) adapters.Adapter { return p }, true, []string{`send  "There is soup. …"`}},
		"nobody may look":      {func(p *platform) adapters.Adapter { return shut{p} }, true, []string{`send  "There is soup. …"`}},
		"it cannot be deleted": {func(p *platform) adapters.Adapter { p.script = refuses("delete", adapters.Forbidden); return p }, false, []string{`send  "There is soup. …"`}},
		"it is deleted in time": {func(p *platform) adapters.Adapter {
			p.script = once(func(c call) bool { return c.Op == "delete" }, refusal(adapters.Limited))
			return p
		}, false, []string{`send  "There is soup. …"`, `delete m1 ""`}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, p := newRecord(), &platform{}
				e := on(t, c.ad(p), r, EgressOptions{Drafts: r})
				e.ShowDraft(soup)
				after(time.Second / 2)
				if c.lost {
					_ = r.MarkPosted(t.Context(), soup.ID, "")
				}
				grown := soup
				grown.Text += " It is never shown that there is more."
				e.ShowDraft(grown)
				r.leave()
				e.EndDraft(soup.ID)
				after(20 * time.Second)
				testutil.Same(t, "the platform took", c.want, did(p.accepted()))
				if len(r.drafts) != 0 || len(e.drafts.all) != 0 || e.drafts.rows {
					t.Errorf("kept: %v", r.drafts)
				}
				if told := name == "nobody can look" || name == "nobody may look"; len(r.strayed) > 0 != told {
					t.Errorf("lost: %v", r.strayed)
				}
			})
		})
	}
}

func refuses(op string, k adapters.FailureKind) func(call) error {
	return func(c call) error {
		if c.Op == op {
			return refusal(k)
		}
		return nil
	}
}

// K22: what an earlier process left is deleted at the start, and what is still to be
// decided waits for its step.
func TestWhatAnEarlierProcessDrewIsTidied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, p := newRecord(), &platform{}
		r.drafts = []StoredDraft{
			{MessageDraft: soup, Message: "m7", At: time.Now(), Left: true},
			{MessageDraft: spaces.MessageDraft{ID: "z/1", Account: ours.Key(), Chat: "group"}, Message: "m8", At: time.Now()},
		}
		e := on(t, p, r, EgressOptions{Drafts: r})
		after(5 * time.Second)
		if diff := cmp.Diff([]string{`delete m7 ""`}, did(p.accepted())); diff != "" || len(r.drafts) != 1 {
			t.Errorf("the platform took (-want +got):\n%s", diff)
		}
		again := spaces.MessageDraft{ID: "z/1", Account: ours.Key(), Chat: "group", Text: "Soup it is.", Show: spaces.StreamEdits}
		e.ShowDraft(again)
		after(2 * time.Second)
		if got := did(p.accepted()); len(got) != 2 || got[1] != `edit m8 "Soup it is. …"` {
			t.Errorf("the step that is thought again shows %q", got)
		}
	})
}

// K22, PLATFORMS 1.3: drafts in a group that became a supergroup can no longer be
// edited. The decided text is posted in the supergroup, and no message there is taken
// for the draft; a draft without a decision is looked for once.
func TestADraftStaysBehindInAChatThatMoved(t *testing.T) {
	moved := refusal(adapters.Moved)
	moved.MovedTo = "new"
	for name, c := range map[string]struct {
		decided bool
		told    bool // the platform tells of the move before anybody is refused
		want    []string
	}{
		"it is decided":                {decided: true, want: []string{`send  "There is soup. Take some."`, `send  "And bread."`}},
		"it is decided after the news": {decided: true, told: true, want: []string{`send  "There is soup. Take some."`, `send  "And bread."`}},
		"nobody says it":               {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, p := newRecord(), &platform{}
				e := on(t, p, r, EgressOptions{Drafts: r})
				e.ShowDraft(soup)
				after(time.Second / 2)
				p.script = func(c call) error {
					if c.Chat == "group" {
						return moved
					}
					return nil
				}
				before := len(p.attempted())
				a := told
				if c.told {
					a.Chat = "new"
				}
				if c.decided {
					r.put(a)
				} else {
					r.leave()
				}
				e.EndDraft(soup.ID)
				after(time.Minute)
				if diff := cmp.Diff(c.want, did(p.accepted())[1:], cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("the platform took (-want +got):\n%s", diff)
				}
				if c.decided && r.action("a").State != spaces.ActionSent || len(r.drafts) != 0 {
					t.Errorf("kept: %v", r.drafts)
				}
				if n := len(p.attempted()) - before - len(c.want); n > 2 {
					t.Errorf("the chat was asked %d times where it is no more", n)
				}
			})
		})
	}
}
