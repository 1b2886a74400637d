package history

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/jobs"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/spaces"
)

// BackfillKind is the kind of jobs that read a platform's history.
const BackfillKind = "backfill"

// BackfillRequest names the space whose history is read, and from when on.
type BackfillRequest struct {
	Space string    `json:"space"` // its name, its entry in the configuration, or its id
	Since time.Time `json:"since"`
}

// backfillArgs are the job's: the chats whose history is read.
type backfillArgs struct {
	Since time.Time      `json:"since"`
	Chats []backfillChat `json:"chats"`
}

type backfillChat struct {
	Account adapters.BotAccount `json:"account"`
	Chat    string              `json:"chat"`
}

// backfillCursor is the stored position of a backfill.
type backfillCursor struct {
	Chat    int                         `json:"chat"` // the place among the chats
	Page    []byte                      `json:"page"` // of that chat; nil: its beginning
	Done    int64                       `json:"done"`
	Outcome activity.HistoryImportCount `json:"outcome"`
}

// BackfillJob reads the history of chats into the log of their space.
type BackfillJob struct {
	Store  *sqlstore.Store
	Logger *slog.Logger
	Reader func(ctx context.Context, account string) (adapters.HistoryReader, error)
	Config func() *config.Config
}

// Add stores the job after it has found out which chats can be read.
func (w BackfillJob) Add(ctx context.Context, q BackfillRequest, named []spaces.ChatMapping) (jobs.Job, error) {
	args, why := backfillArgs{Since: q.Since}, ""
	for _, m := range named {
		if _, err := w.Reader(ctx, m.Account); err != nil {
			why = err.Error()
			w.Logger.Info("chat not read", "account", m.Account, "chat", m.Chat, "reason", why)
			continue
		}
		platform, id, _ := strings.Cut(m.Account, ":")
		args.Chats = append(args.Chats, backfillChat{adapters.BotAccount{Platform: platform, ID: id}, m.Chat})
	}
	if len(args.Chats) == 0 {
		return jobs.Job{}, &apperr.Error{
			What: "no chat of the space has a history that can be read: " + why, Where: "space " + q.Space,
			Remedy: "Slack and Discord keep history; of Telegram use trestle import telegram", Code: apperr.Failed,
		}
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return jobs.Job{}, fmt.Errorf("encode backfill: %w", err)
	}
	return w.Store.Jobs().Add(ctx, jobs.Job{Kind: BackfillKind, Subject: q.Space, Args: raw, JobProgress: jobs.JobProgress{Unit: "messages"}}, time.Now())
}

// Work reads one chat after another, and stores its position after every page.
func (w BackfillJob) Work(ctx context.Context, t *jobs.JobTask) error {
	var args backfillArgs
	var at backfillCursor
	if err := json.Unmarshal(t.Job.Args, &args); err != nil {
		return fmt.Errorf("decode backfill: %w", err)
	}
	if len(t.Job.Cursor) > 0 {
		if err := json.Unmarshal(t.Job.Cursor, &at); err != nil {
			return fmt.Errorf("decode cursor of a backfill: %w", err)
		}
	}
	for ; at.Chat < len(args.Chats); at.Chat, at.Page = at.Chat+1, nil {
		if err := w.read(ctx, t, args, &at); err != nil {
			return err
		}
	}
	w.Logger.Info("history read", "space", t.Job.Subject, "new", at.Outcome.New, "known", at.Outcome.Known)
	return nil
}

// How long a job waits for its account, and how often it looks.
const (
	accountWait = 5 * time.Minute
	accountLook = time.Second
)

// connected returns the reader of an account's history. It waits for the account to connect:
// after a start, jobs continue before all accounts are connected.
func (w BackfillJob) connected(ctx context.Context, account string) (adapters.HistoryReader, error) {
	look := time.NewTicker(accountLook)
	defer look.Stop()
	for began := time.Now(); ; {
		h, err := w.Reader(ctx, account)
		if err == nil || time.Since(began) >= accountWait {
			return h, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-look.C:
		}
	}
}

// read reads one chat from its stored position on.
func (w BackfillJob) read(ctx context.Context, t *jobs.JobTask, args backfillArgs, at *backfillCursor) error {
	chat := args.Chats[at.Chat]
	history, err := w.connected(ctx, chat.Account.Key())
	if err != nil {
		return err
	}
	in, err := historyIngress(ctx, w.Store, w.Logger, w.Config(), chat.Account, chat.Chat)
	if err != nil {
		return err
	}
	stretch := adapters.HistoryRange{Chat: chat.Chat, From: args.Since, Cursor: at.Page}
	return history.History(ctx, stretch, func(ctx context.Context, p adapters.HistoryPage) error {
		outcome, err := in.ImportHistory(ctx, p.Updates)
		if err != nil {
			return err
		}
		at.Page, at.Done, at.Outcome = p.Cursor, at.Done+int64(outcome.New+outcome.Known), at.Outcome.Add(outcome)
		next := *at
		if p.Cursor == nil { // the chat is read: after a crash the next one is
			next.Chat++
		}
		cursor, err := json.Marshal(next)
		if err != nil {
			return fmt.Errorf("encode cursor of a backfill: %w", err)
		}
		progress := t.Job.JobProgress
		progress.Done, progress.Cursor = at.Done, cursor
		progress.Note = fmt.Sprintf("%d new, %d known", at.Outcome.New, at.Outcome.Known)
		return t.Save(ctx, progress)
	})
}

// SpaceChats returns the live chats of the space of that name, entry or id.
func SpaceChats(ctx context.Context, store *sqlstore.Store, name string) ([]spaces.ChatMapping, error) {
	all, err := store.Border().Chats(ctx, "", "")
	if err != nil {
		return nil, err
	}
	configured, err := store.Border().Configured(ctx)
	if err != nil {
		return nil, err
	}
	matches := map[spaces.SpaceID]bool{spaces.SpaceID(name): true}
	for _, c := range configured {
		matches[c.Space] = matches[c.Space] || c.Key == name
	}
	var found []spaces.ChatMapping
	for _, m := range all {
		if !matches[m.Space] {
			room, _, err := store.Shell().Space(ctx, m.Space)
			if err != nil {
				return nil, err
			}
			matches[m.Space] = name != "" && room.Name == name
		}
		if matches[m.Space] && m.Live {
			found = append(found, m)
		}
	}
	if len(found) == 0 {
		return nil, &apperr.Error{What: fmt.Sprintf("no space %q has a chat that can be reached", name), Where: "backfill", Remedy: "see trestle spaces", Code: apperr.Failed}
	}
	return found, nil
}
