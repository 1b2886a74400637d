package sqlstore

import (
	"context"
	"fmt"
	"strings"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/store/engine"
)

// Names are looked up seldom, and there are as many as people: no index pays.
const peopleNamed engine.Query = `select e.id, e.kind, e.name, e.handle, m.space from entities e join members m on m.entity = e.id
where lower(e.name) like lower($1) escape '\' or lower(e.handle) like lower($1) escape '\' order by e.name, e.id, m.space limit $2 + 0`

// People implements [console.Record].
func (c ReadModel) People(ctx context.Context, word string, limit int) ([]console.MemberInfo, error) {
	pattern := strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(word) + "%"
	found, err := engine.AllRows(ctx, c.engine, peopleNamed, []any{pattern, limit}, func(r engine.Row) (p console.MemberInfo, err error) {
		return p, r.Scan(&p.ID, &p.Kind, &p.Name, &p.Handle, &p.Space)
	})
	if err != nil {
		return nil, fmt.Errorf("look up people: %w", err)
	}
	return found, nil
}
