package discord

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"
)

// position holds how far receiving has come; its JSON is the cursor.
type position struct {
	// Sessions are Discord's for each shard, to be resumed.
	Sessions []session `json:"s,omitempty"`
	// Mark is the newest message id that was handed in, over all channels.
	Mark snowflake `json:"m,omitempty,string"`
	// Gap is set while what was said since then has still to be read from history.
	Gap snowflake `json:"g,omitempty,string"`
	// Last are the newest ids of the channels that were lately written in.
	Last map[string]snowflake `json:"l,omitempty"`
	// Direct are the direct chats written in last: Discord does not list them.
	Direct []string `json:"d,omitempty"`
	// Owed is what must still be read of channels about which Discord did not answer.
	Owed map[string]pendingHistory `json:"o,omitempty"`
	// Late are the events that are read when Discord answers again.
	Late []deferredEvent `json:"e,omitempty"`
	// Identified counts the new sessions of a day, hour by hour since 1970.
	Identified map[int64]int `json:"i,omitempty"`
}

// session is one connection's life on Discord's side.
type session struct {
	ID  string `json:"id"`
	Seq int64  `json:"q"`
	URL string `json:"u,omitempty"` // where to resume
	// Mark is the newest message id received from it, or the position's when it began: of
	// its channels nothing older is missing. 0: not recorded.
	Mark snowflake `json:"m,omitempty,string"`
}

const (
	maxLast   = 64
	maxDirect = 128
	// firstLook is how far back the first start of all looks.
	firstLook = 15 * time.Minute
	// slack is how much older than the newest message seen another channel's
	// newest may be: connections order events, not servers.
	slack = time.Minute
)

// errCursor means that stored bytes are no cursor of ours.
var errCursor = errors.New("the stored cursor is not one of discord's")

// parsePosition reads a cursor; nil is the zero position.
func parsePosition(cursor []byte) (*position, error) {
	p := new(position)
	if cursor != nil {
		if err := json.Unmarshal(cursor, p); err != nil {
			return nil, errCursor
		}
	}
	if p.Last == nil {
		p.Last = map[string]snowflake{}
	}
	if p.Identified == nil {
		p.Identified = map[int64]int{}
	}
	return p, nil
}

// cursor returns the stored form of p.
func (p *position) cursor() []byte {
	raw, err := json.Marshal(p)
	if err != nil {
		panic("discord: a cursor that cannot be written: " + err.Error())
	}
	return raw
}

// session returns what is known of a shard's session. One with a gap still to be
// filled is given up: only a new session tells again which channels there are.
func (p *position) session(shard, shards int) session {
	if len(p.Sessions) != shards || p.Gap != 0 {
		return session{}
	}
	return p.Sessions[shard]
}

// begin notes a shard's new session and that its gap is to be filled: from where the
// shard was last heard, for others may have gone on meanwhile.
func (p *position) begin(shard, shards int, s session, now time.Time) {
	if len(p.Sessions) != shards {
		p.Sessions = make([]session, shards)
	}
	if p.Mark == 0 {
		p.Mark = max(flakeAt(now.Add(-firstLook)), 1)
	}
	p.Gap = earlier(p.Gap, cmp.Or(p.Sessions[shard].Mark, p.Mark))
	s.Mark = p.Mark
	p.Sessions[shard] = s
}

// told notes that a shard's session told of a message.
func (p *position) told(shard int, id snowflake) {
	if shard < len(p.Sessions) && id.minted(time.Now()) {
		p.Sessions[shard].Mark = max(p.Sessions[shard].Mark, id)
	}
}

// at moves a shard's session to seq.
func (p *position) at(shard int, seq int64) {
	if shard < len(p.Sessions) && seq > p.Sessions[shard].Seq {
		p.Sessions[shard].Seq = seq
	}
}

// note records that a message was handed in. A message that comes late, behind a newer
// one of its channel, is handed in like any other: the store recognises its key. An id
// that Discord cannot have assigned does not move the position.
func (p *position) note(channel string, id snowflake) {
	if id <= p.Last[channel] || !id.minted(time.Now()) {
		return
	}
	p.Last[channel], p.Mark = id, max(p.Mark, id)
	if len(p.Last) > maxLast {
		oldest := slices.MinFunc(slices.Collect(maps.Keys(p.Last)), func(a, b string) int { return cmp.Compare(p.Last[a], p.Last[b]) })
		delete(p.Last, oldest)
	}
}

// after returns the id behind which a channel has to be read, with what is owed of it:
// a message that could not be read counts as its last one all the same.
func (p *position) after(channel string) snowflake {
	after, ok := p.Last[channel]
	if !ok {
		after = p.Gap.before(slack)
	}
	if d := p.Owed[channel]; d.After != 0 {
		return min(after, d.After)
	}
	return after
}

// direct notes that a direct chat was written in.
func (p *position) direct(channel string) {
	if i := slices.Index(p.Direct, channel); i >= 0 {
		if i == len(p.Direct)-1 {
			return
		}
		p.Direct = slices.Delete(p.Direct, i, i+1)
	}
	p.Direct = append(p.Direct, channel)
	p.Direct = p.Direct[max(0, len(p.Direct)-maxDirect):]
}

// maxIdentifies is how many sessions a day may begin; Discord resets the token of
// a bot that begins more than a thousand.
const maxIdentifies = 900

// identify counts a new session, or returns how long none may begin.
func (p *position) identify(now time.Time) time.Duration {
	hour := now.Unix() / 3600
	total, oldest := 0, hour
	for h, n := range p.Identified {
		if h <= hour-25 {
			delete(p.Identified, h)
			continue
		}
		total += n
		oldest = min(oldest, h)
	}
	if total >= maxIdentifies {
		return time.Unix((oldest+25)*3600, 0).Sub(now)
	}
	p.Identified[hour]++
	return 0
}
