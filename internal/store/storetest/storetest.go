// Package storetest is the suite that every store of the record passes: the
// promises of the border's and the shell's ports, each test naming what it
// proves.
//
// It promises to see a store only through its ports, so that one engine can
// stand for another. It knows nothing of SQL.
package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/activity/access"
	"github.com/trestle-bridge/trestle/activity/commands"
	"github.com/trestle-bridge/trestle/activity/media"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/shell/prompts"
	"github.com/trestle-bridge/trestle/spaces"
)

// A Store is one record behind all of its ports.
type Store struct {
	Border BridgeStore
	Shell  ShellStore
	// Problems is what an operator should know of.
	Problems AlertStore
	// Links keeps which accounts are one person's.
	Links commands.LinkStore
	// Jobs keeps long work.
	Jobs JobStore
	// Lines is what became of the border's logbook.
	Lines func(ctx context.Context, from, to time.Time, limit int) ([]console.LineSpan, error)
	// LineOf names the line that has served an account.
	LineOf func(ctx context.Context, account string) (string, error)
	// Memories is what minds have of their own, as an operator sees it.
	Memories console.MemoryReader
	// Latest is lists of rooms and minds, as an operator pages through them.
	Latest LatestReader
	// Run is what an operator is told of one run.
	Run func(ctx context.Context, id string) (console.Run, error)
	// Minds are what an operator is told of all minds.
	Minds func(ctx context.Context, at time.Time) ([]console.Mind, error)
	// Shared is set where the record goes by another clock than its process's.
	Shared bool
	// Manifests are the versions of the acts that runs were offered.
	Manifests func(ctx context.Context, beginning string, limit int) ([]console.ManifestUse, error)
	// Tools are the calls of outside tools.
	Tools shell.ToolRunStore
	// Prompts are the activated versions of prompt sections.
	Prompts prompts.ActivationStore
	// Figures are what happened over time.
	Figures FigureStore
	// Audit returns a line for each place where the record breaks an invariant.
	Audit func(ctx context.Context, at time.Time) ([]string, error)
	// Fork begins a branch of a room at an event.
	Fork func(ctx context.Context, space spaces.SpaceID, at int64, branch spaces.BranchID) error
	// Restart ends the process that has the record, cleanly or not, and returns the
	// record as the next one finds it.
	Restart func(t *testing.T, clean bool) Store
	// Upkeep is Restart with a command in between that has the record to look after
	// it, and does do there.
	Upkeep func(t *testing.T, clean bool, do func(BridgeStore)) Store
	// Close ends the record before the test ends.
	Close func(t *testing.T)
}

// FigureStore counts what happened over time, and reads it.
type FigureStore interface {
	console.FigureReader
	Count(ctx context.Context, limit int) (more bool, err error)
	DropHours(ctx context.Context, now time.Time) error
}

// LatestReader is the part of [console.Store] that lists rooms and minds.
type LatestReader interface {
	console.RoomReader
	console.MindReader
	console.NameReader
}

// BridgeStore is what the border and its wiring ask of a store.
type BridgeStore interface {
	activity.ChatDirectory
	activity.ChatLister
	activity.EventLog
	activity.ConnHistory
	activity.Outbox
	activity.NoticeStore
	ResendAction(ctx context.Context, id spaces.ActionID, at, expires time.Time) (account string, err error)
	DropAction(ctx context.Context, id spaces.ActionID, at time.Time) (dropped bool, err error)
	access.PairingStore
	commands.RoleLookup
	commands.RoomInspector
	media.FileIndex
	media.BlobRefs
	MessageFile(ctx context.Context, message spaces.EventID, n int) (spaces.MessageFile, bool, error)
	media.TranscriptionQueue
	activity.DraftStore
	activity.AckStore
	Appoint(ctx context.Context, platform string, list []spaces.RoleGrant) error
	commands.ZoneStore
	Stopped(ctx context.Context, run spaces.CycleID) (bool, error)
	Refusals(ctx context.Context, limit int) ([]activity.RejectedSender, error)
	Bind(ctx context.Context, i spaces.PlatformIdentity, id spaces.EntityID) error
	Agents(ctx context.Context, agents []spaces.Entity) error
	Configured(ctx context.Context) ([]spaces.ConfiguredSpace, error)
	Admitted(ctx context.Context, account string) ([]spaces.ConfiguredSpace, error)
	Dismiss(ctx context.Context, d spaces.AgentRemoval) error
	Strangers(ctx context.Context, here []spaces.AgentID) ([]spaces.AgentRemoval, error)
	Retire(ctx context.Context, here []spaces.AgentID, at time.Time) error
	Fill(ctx context.Context, account string, agents []spaces.AgentID, direct bool, at time.Time) (int, error)
	Rouse(ctx context.Context, account string, wake spaces.WakePolicy, direct bool) (int, error)
	Serve(ctx context.Context, space spaces.SpaceID, entry string) error
	Served(ctx context.Context) (map[spaces.SpaceID]string, error)
	ServedBy(ctx context.Context, space spaces.SpaceID) (string, error)
	Moves(ctx context.Context, space spaces.SpaceID) ([]spaces.ChatMigrated, error)
	DealUntil(ctx context.Context, until time.Time) error
	DealtUntil(ctx context.Context) (time.Time, error)
}

// ShellStore is what the shell and its wiring ask of a store.
type ShellStore interface {
	shell.WakeQueue
	shell.CycleStore
	shell.SummaryStore
	shell.EmbeddingStore
	shell.LogReader
	shell.RunStopper
	shell.MemoryEditor
	PersonStore
	QuestionStore
	shell.ToolRunStore
	shell.ToolRunReader
	commands.MissionStore
	Renew(ctx context.Context, space spaces.SpaceID, at time.Time) error
	Mute(ctx context.Context, m spaces.MuteRequest) ([]spaces.AgentID, error)
	Stop(ctx context.Context, roots ...spaces.EventID) error
	ShedFrames(ctx context.Context, before time.Time, limit int) (more bool, err error)
}

// PersonStore is what a person's own client asks of a store.
type PersonStore interface {
	RoomsOf(ctx context.Context, who spaces.EntityID, limit int) ([]spaces.Uplink, error)
	SendAs(ctx context.Context, m spaces.OutsideMessage) (spaces.CommitResult, error)
}

// QuestionStore is what the buttons below questions ask of a store.
type QuestionStore interface {
	EntityOf(ctx context.Context, who spaces.PlatformIdentity) (spaces.EntityID, error)
	AnswerQuestion(ctx context.Context, a spaces.QuestionAnswer) (w *spaces.PendingWait, taken bool, err error)
	DecideRun(ctx context.Context, d spaces.ToolDecision) (run *spaces.ToolRun, decided bool, err error)
	RateAnswer(ctx context.Context, p spaces.RatingPress) (now spaces.AnswerRating, ok bool, err error)
}

// Run runs the suite. open returns an empty record that ends with the test.
// Every test ends with an audit of what it left.
func Run(t *testing.T, open func(t *testing.T) Store) {
	for _, part := range []map[string]func(*testing.T, *world){
		logTests, directoryTests, spanTests, inboxTests, cycleTests, outboxTests, relayTests, threadTests, timerTests, waitTests, questionTests, feedbackTests, planTests, keepsakeTests, erasureTests, placedTests, problemTests, haltTests, jobTests, shelfTests, voiceTests, pastTests, authorityTests, lineTests, draftTests, ackTests, setUpTests, edgeTests, manifestTests, promptTests, toolRunTests, missionTests, turnTests, listTests, figureTests,
	} {
		for name, test := range part {
			t.Run(name, func(t *testing.T) {
				w := newWorld(t, open(t))
				test(t, w)
				w.sound()
			})
		}
	}
	for name, test := range propertyTests {
		t.Run(name, func(t *testing.T) { test(t, open) })
	}
}

// RunShared runs what holds when two processes write one record. open returns
// both, on an empty record.
func RunShared(t *testing.T, open func(t *testing.T) [2]Store) {
	t.Run("AnyLifeOfTwoLeavesASoundRecord", func(t *testing.T) { sharedLives(t, open) })
}
