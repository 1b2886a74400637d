package activity

import (
	"context"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/spaces"
)

// HistoryImportCount counts what became of a page of history.
type HistoryImportCount struct {
	New   int // messages written into the log
	Known int // that were in it already
	// Skipped are those that are no messages, for who came and went long ago says
	// nothing of now, and those of senders who would not be admitted live.
	Skipped int
}

// Add returns the sum of r and more.
func (r HistoryImportCount) Add(more HistoryImportCount) HistoryImportCount {
	return HistoryImportCount{r.New + more.New, r.Known + more.Known, r.Skipped + more.Skipped}
}

// ImportHistory records messages that were said before this process listened, from a
// platform's history or an export. They keep their times, wake no agent
// and are news to no view. Messages carry the keys that live ones carry, so that
// those the record has change nothing. A chat that belongs to no space is
// [ErrUnmapped]: reading its history admits no one, and no program that is not
// listed.
func (in *Ingress) ImportHistory(ctx context.Context, page []adapters.Update) (HistoryImportCount, error) {
	var done HistoryImportCount
	at, o := time.Now(), in.options.Load()
	taken := spaces.IngestBatch{Account: in.account.Key(), At: at}
	for _, u := range page {
		m, ok := u.Body.(adapters.IncomingMessage)
		if !ok || !isUs(in.account, u.From) && !o.policy.AdmitsInNamedChat(u) {
			done.Skipped++
			continue
		}
		places, err := in.mapping.Resolve(ctx, in.account.Key(), u.Chat.ID)
		if err != nil {
			return HistoryImportCount{}, fmt.Errorf("recall %s: %w", u.Key, err)
		}
		for _, p := range places {
			taken.Items = append(taken.Items, in.past(u, m, p, at)...)
		}
	}
	rec, err := in.log.Record(ctx, taken)
	if err != nil {
		return HistoryImportCount{}, fmt.Errorf("record %d past messages: %w", len(taken.Items), err)
	}
	done.New, done.Known = rec.New, rec.Duplicates
	return done, nil
}

// past translates one message of the past. What the account itself said was said
// by the agent that speaks for it.
func (in *Ingress) past(u adapters.Update, m adapters.IncomingMessage, p spaces.ChatPlacement, at time.Time) []spaces.IngestItem {
	m.ToUs, m.Command = false, nil // no answer is expected any more
	u.Body = m
	agent := in.speaker(p.Space, u.Chat)
	items := translate(u, translateContext{account: in.account, place: p, agent: agent, source: source(in.account, u), at: at})
	for _, i := range past(items) {
		if isUs(in.account, u.From) && agent != "" {
			items[i].Event.Actor = agent.Entity()
		}
	}
	return items
}

// past marks what was said among the items as past, and yields its place.
func past(items []spaces.IngestItem) []int {
	var said []int
	for i := range items {
		if b, ok := items[i].Event.Body.(spaces.MessagePosted); ok {
			b.Past = true
			items[i].Event.Body = b
			said = append(said, i)
		}
	}
	return said
}
