package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/readmodel"
)

const (
	insertProblem engine.QueryText = `insert into problems (code, severity, subject, evidence, opened, seen, count, well, closed, told, over)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
on conflict (code, subject) where closed = 0 do update set evidence = excluded.evidence, seen = excluded.seen`
	updateProblem engine.QueryText = `update problems set evidence = $2, seen = $3, count = $4, well = $5, closed = $6, told = $7, over = $8
where id = $1 and closed = 0 or id = $1 and closed = $6`
	ackProblem engine.QueryText = `update problems set acked = $2 where id = $1 and closed = 0`
)

// An AlertStore stores what an operator should know of.
type AlertStore struct {
	readmodel.AlertReader
	s *Store
}

var _ alerts.Store = AlertStore{}

// Problems returns the store of alerts.
func (s *Store) Problems() AlertStore {
	return AlertStore{readmodel.NewAlertReader(s.engine, s.writer.Clock), s}
}

// Vitals implements [alerts.MetricsReader].
func (p AlertStore) Vitals(ctx context.Context, since, at time.Time) (alerts.StoreMetrics, error) {
	v, err := p.AlertReader.Vitals(ctx, since, at)
	if err == nil {
		v.Slowest = p.s.writer.TakeSlowest()
	}
	return v, err
}

// Keep implements [alerts.Store].
func (p AlertStore) Keep(ctx context.Context, changed []alerts.Alert) error {
	return p.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		for _, c := range changed {
			if err := keepProblem(ctx, t, c); err != nil {
				return fmt.Errorf("keep problem %s of %s: %w", c.Code, c.Subject, err)
			}
		}
		return nil
	})
}

func keepProblem(ctx context.Context, t *storeTx, c alerts.Alert) error {
	if c.ID == 0 {
		return t.Run(ctx, insertProblem, string(c.Code), string(c.Severity), c.Subject, c.Evidence, engine.ToMillis(c.Opened), engine.ToMillis(c.Seen), c.Count,
			engine.ToMillis(c.Well), engine.ToMillis(c.Closed), c.Told, c.Over)
	}
	return t.Run(ctx, updateProblem, int64(c.ID), c.Evidence, engine.ToMillis(c.Seen), c.Count, engine.ToMillis(c.Well), engine.ToMillis(c.Closed), c.Told, c.Over)
}

// Ack implements [alerts.Store].
func (p AlertStore) Ack(ctx context.Context, id alerts.AlertID, until time.Time) error {
	return p.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		n, err := t.Exec(ctx, ackProblem, int64(id), engine.ToMillis(until))
		if err == nil && n == 0 {
			err = alerts.ErrUnknown
		}
		if err != nil {
			return fmt.Errorf("acknowledge problem %d: %w", id, err)
		}
		return nil
	})
}
