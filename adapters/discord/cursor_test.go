package discord

import (
	"fmt"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"
)

// R-DC: what a shard missed while others went on is read from where it was itself last
// told of something.
func TestAShardsGapBeginsWhereTheShardWasLastHeard(t *testing.T) {
	now := time.Now()
	p, err := parsePosition(nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(Options{Token: "t"})
	if err != nil {
		t.Fatal(err)
	}
	r := &receiver{client: c, at: p, shards: 2}
	hears := func(shard int, channel string, ago time.Duration) {
		t.Helper()
		id := flakeAt(now.Add(-ago))
		raw := fmt.Appendf(nil, `{"id":"%s","channel_id":%q,"flags":128}`, id, channel) // nothing said yet
		e := event{Event: discordgo.Event{Type: "MESSAGE_CREATE", RawData: raw}, shard: shard}
		if _, err := r.readSaid(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		p.note(channel, id)
	}
	for shard := range 2 {
		p.begin(shard, 2, session{ID: "first"}, now.Add(-24*time.Hour))
	}
	p.Gap = 0 // it is filled
	hears(1, "quiet", 3*time.Hour)
	hears(1, "other", 2*time.Hour)
	for n := range maxLast { // while the other shard's connection is lost, with its session
		hears(0, fmt.Sprint("busy", n), time.Hour-time.Duration(n)*time.Minute/2)
	}
	p.begin(1, 2, session{ID: "second"}, now)
	if after, missed := p.after("quiet"), flakeAt(now.Add(-90*time.Minute)); after >= missed {
		t.Errorf("a message of %s is not looked for: the channel is read behind %s", missed.time(), after.time())
	}
	if after := p.after("other"); after < flakeAt(now.Add(-2*time.Hour-2*slack)) {
		t.Errorf("the channel is read from %s on, long before its shard was last heard", after.time())
	}
	again, err := parsePosition(p.cursor())
	if err != nil || again.Sessions[0].Mark == 0 || again.Sessions[0].Mark != p.Mark {
		t.Errorf("stored %+v, %v", again.Sessions, err)
	}
}
