package shell

import (
	"context"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/spaces"
)

// ShowToPerson calls show with a view of rooms that a person is in. Of each room it shows
// the lines that this person could read where they were written; see
// [hud.NewForeignView]. The view must not be used after show returns, and show must not
// block: every agent that looks into another circle waits for it.
func (s *Shell) ShowToPerson(ctx context.Context, who spaces.EntityID, rooms []spaces.Uplink, show func(*hud.MindView)) error {
	v := &hud.MindView{Counter: s.Counter}
	for _, u := range rooms {
		shelf, err := s.library.shelf(ctx, u)
		if err != nil {
			return err
		}
		v.Beyond = append(v.Beyond, hud.NewForeignView(shelf.room, u, spaces.RoomAudience{{who}}))
	}
	s.library.mu.Lock()
	defer s.library.mu.Unlock()
	for i := range v.Beyond {
		v.Beyond[i].Zone = s.zone(s.Settings("", v.Beyond[i].Uplink.Space))
	}
	show(v)
	return nil
}
