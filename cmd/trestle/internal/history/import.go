package history

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/activity/access"
	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/telegram"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/jobs"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/spaces"
)

// ImportKind is the kind of job that imports an export.
const ImportKind = "import"

// ImportRequest is the arguments of an import job.
type ImportRequest struct {
	File    string                `json:"file"`
	Adapter string                `json:"adapter"` // its entry in the configuration
	Account string                `json:"account"` // the bot's id
	Chat    string                `json:"chat"`    // as the bot knows it
	Export  telegram.ExportedChat `json:"export"`
	// Before excludes messages from that time on: where an export has no ids, messages that
	// were received live are recognised by their time. Zero: nothing is excluded.
	Before time.Time `json:"before,omitzero"`
}

// importCursor is the stored position of an import.
type importCursor struct {
	Done    int64                       `json:"done"`
	Outcome activity.HistoryImportCount `json:"outcome"`
}

// ImportJob imports an exported file into the log of a space.
type ImportJob struct {
	Store  *sqlstore.Store
	Log    *slog.Logger
	Served bool // this process does jobs all the time, and may be at this one
	Config func() *config.Config
}

// twinsLooked is the number of newest jobs among which the same import is looked for.
const twinsLooked = 50

// Add stores the job after it has found the space of its messages.
func (w ImportJob) Add(ctx context.Context, q ImportRequest) (jobs.Job, error) {
	places, err := w.Store.Border().Place(ctx, "telegram:"+q.Account, q.Chat)
	if err != nil {
		return jobs.Job{}, unmapped(err, q.Chat)
	}
	if !q.Export.Shared() {
		if q.Before, err = w.firstHeard(ctx, places[0].Space); err != nil {
			return jobs.Job{}, err
		}
	}
	args, err := json.Marshal(q)
	if err != nil {
		return jobs.Job{}, fmt.Errorf("encode import: %w", err)
	}
	newest, err := w.Store.Jobs().Jobs(ctx, 0, twinsLooked)
	if err != nil {
		return jobs.Job{}, err
	}
	for _, j := range newest {
		if waits := j.State == jobs.Ready || w.Served && j.State == jobs.Running; waits && j.Kind == ImportKind && bytes.Equal(j.Args, args) {
			return j, nil // called again, it goes on where it was
		}
	}
	return w.Store.Jobs().Add(ctx, jobs.Job{
		Kind: ImportKind, Subject: q.subject(), Args: args, JobProgress: jobs.JobProgress{Total: q.Export.Messages, Unit: "messages"},
	}, time.Now())
}

// firstHeard returns the time of the first message in a space that was received
// live; zero if there is none.
func (w ImportJob) firstHeard(ctx context.Context, space spaces.SpaceID) (time.Time, error) {
	for after := int64(0); ; {
		events, err := w.Store.Shell().Events(ctx, space, spaces.Primary, after, 500)
		if err != nil || len(events) == 0 {
			return time.Time{}, err
		}
		for _, e := range events {
			if said, ok := e.Body.(spaces.MessagePosted); ok && !said.Past {
				return e.At, nil
			}
			after = e.Seq
		}
	}
}

// Work does an import: batch after batch, with the place in the file stored after each.
func (w ImportJob) Work(ctx context.Context, t *jobs.JobTask) error {
	var q ImportRequest
	var at importCursor
	if err := json.Unmarshal(t.Job.Args, &q); err != nil {
		return fmt.Errorf("decode import: %w", err)
	}
	if len(t.Job.Cursor) > 0 {
		if err := json.Unmarshal(t.Job.Cursor, &at); err != nil {
			return fmt.Errorf("decode cursor of an import: %w", err)
		}
	}
	in, err := historyIngress(ctx, w.Store, w.Log, w.Config(), adapters.BotAccount{Platform: "telegram", ID: q.Account}, q.Chat)
	if err != nil {
		return err
	}
	file, err := os.Open(q.File)
	if err != nil {
		return fmt.Errorf("open the export: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	err = telegram.ReadExport(ctx, file, telegram.ExportQuery{Export: q.Export, Chat: q.Chat, Skip: at.Done}, func(ctx context.Context, page []adapters.Update, done int64) error {
		outcome, err := in.ImportHistory(ctx, q.early(page))
		if err != nil {
			return err
		}
		at = importCursor{done, at.Outcome.Add(outcome)}
		return w.save(ctx, t, at)
	})
	if err == nil {
		w.Log.Info("export imported", "chat", q.Chat, "new", at.Outcome.New, "known", at.Outcome.Known, "skipped", at.Outcome.Skipped)
	}
	return err
}

func (w ImportJob) save(ctx context.Context, t *jobs.JobTask, at importCursor) error {
	cursor, err := json.Marshal(at)
	if err != nil {
		return fmt.Errorf("encode cursor of an import: %w", err)
	}
	p := t.Job.JobProgress
	p.Done, p.Cursor = at.Done, cursor
	p.Note = fmt.Sprintf("%d new, %d known", at.Outcome.New, at.Outcome.Known)
	return t.Save(ctx, p)
}

// early excludes messages that were received live, where no id tells them apart.
func (q *ImportRequest) early(page []adapters.Update) []adapters.Update {
	if q.Before.IsZero() {
		return page
	}
	return slices.DeleteFunc(page, func(u adapters.Update) bool { return !u.At.Before(q.Before) })
}

// historyIngress returns an ingress for old messages of a chat. Messages of the account are
// those of the agent that was in the space first.
func historyIngress(ctx context.Context, store *sqlstore.Store, log *slog.Logger, c *config.Config, account adapters.BotAccount, chat string) (*activity.Ingress, error) {
	border := store.Border()
	mapping := activity.NewSpaceMapping(border, border)
	places, err := mapping.Resolve(ctx, account.Key(), chat)
	if err != nil {
		return nil, fmt.Errorf("recall chat %s: %w", chat, err)
	}
	named := map[spaces.SpaceID][]spaces.AgentID{}
	for _, p := range places {
		_, members, err := store.Shell().Space(ctx, p.Space)
		if err != nil {
			return nil, err
		}
		named[p.Space] = nil
		for _, m := range members {
			if agent, ours := m.ID.IsAgent(); ours {
				named[p.Space] = append(named[p.Space], agent)
			}
		}
	}
	return activity.NewIngress(account, mapping, border, border, border, activity.IngressOptions{Named: named, Allow: configuredSenders(c, account.Key()), Logger: log}), nil
}

// unmapped is the failure for a chat that belongs to no space.
func unmapped(err error, chat string) error {
	if !errors.Is(err, activity.ErrUnmapped) {
		return err
	}
	return &apperr.Error{
		What: "the chat belongs to no space yet", Where: "chat " + chat,
		Remedy: "name it under spaces and start `trestle run` once, or write to the bot there; then import again", Code: apperr.Failed,
	}
}

// subject is what the job is called.
func (q *ImportRequest) subject() string {
	if q.Export.Name != "" {
		return q.Export.Name
	}
	return filepath.Base(q.File)
}

// configuredSenders returns the people whom the configuration lists on the platform of an
// account.
func configuredSenders(c *config.Config, account string) []access.SenderID {
	platform, _, _ := strings.Cut(account, ":")
	for _, a := range c.Adapters {
		if a.Type == platform {
			return Senders(c.PeopleOnAccount(c.Allow, a.Name))
		}
	}
	return nil
}

// Senders returns people by their accounts on platforms.
func Senders(people []config.PersonRef) []access.SenderID {
	var all []access.SenderID
	for _, x := range people {
		all = append(all, access.SenderID{Scope: x.Scope, User: x.User})
	}
	return all
}
