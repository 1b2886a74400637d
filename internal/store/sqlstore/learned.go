package sqlstore

import (
	"context"
	"fmt"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const admittedChats engine.Query = `select m.account, m.chat, m.title, m.space, m.object, m.relay, m.live
from spaces s join mappings m on m.space = s.id where s.config_key is null and m.chat <> '' order by m.n`

// Learned returns what people decided while the program ran, beside the
// configuration: who waits at the desk or was admitted there, and the chats that
// were let in without being named.
func (c ReadModel) Learned(ctx context.Context) (activity.PairingState, []spaces.Mapping, error) {
	desk, err := loadDesk(ctx, c.engine)
	if err != nil {
		return activity.PairingState{}, nil, fmt.Errorf("read who was admitted: %w", err)
	}
	chats, err := engine.AllRows(ctx, c.engine, admittedChats, nil, scanMapping)
	if err != nil {
		return activity.PairingState{}, nil, fmt.Errorf("list admitted chats: %w", err)
	}
	return desk, chats, nil
}
