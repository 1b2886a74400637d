package demo

import (
	"cmp"
	"context"
	"fmt"
	"time"
)

// A LinePrinter is told line by line: what happened, where.
type LinePrinter func(where, text string)

// A StoryPlayer has the people of a stage live through the story.
type StoryPlayer struct {
	Stage *PlatformSet
	Tell  LinePrinter
	// Recovered waits until what was said during a cut has reached the record, and
	// says how. It fails only when ctx ends.
	Recovered func(ctx context.Context, c PlatformOutage) (string, error)

	cut *PlatformOutage // the one under way
}

// A PlatformOutage is a time in which a platform was out of reach.
type PlatformOutage struct {
	Platform string
	Began    time.Time
	Missed   []string // what was said meanwhile
	Room     string   // name of the room where it was said
}

// Run plays rounds until the story is over, or ctx is.
func (p *StoryPlayer) Run(ctx context.Context) error {
	for began := time.Now(); time.Since(began) < Length; {
		from := time.Now()
		for _, b := range story() {
			if !wait(ctx, time.Until(from.Add(b.at))) {
				return nil
			}
			if err := p.do(ctx, b); err != nil {
				if ctx.Err() != nil {
					return nil
				}
				return err
			}
		}
		if !wait(ctx, time.Until(from.Add(round))) {
			return nil
		}
	}
	p.Tell("", "the story is over: the rooms are yours")
	return nil
}

func (p *StoryPlayer) do(ctx context.Context, b scriptStep) error {
	switch b.what {
	case says:
		r := p.Stage.room(b.room)
		on := cmp.Or(b.platform, r.Platform)
		line := fmt.Sprintf("%s: %q", b.who, b.text)
		if on != r.Platform {
			line += "   (on " + on + ")"
		}
		if p.cut != nil && p.cut.Platform == on {
			p.cut.Missed, p.cut.Room = append(p.cut.Missed, b.text), r.Name
			line += "   (nobody hears it)"
		}
		p.Tell(r.Name, line)
		p.Stage.hosts[on].Says(b.room, b.who, b.text)
	case cuts:
		p.cut = &PlatformOutage{Platform: b.platform, Began: time.Now()}
		p.Tell(b.platform+"*", "connection cut (on purpose)")
		return p.Stage.hosts[b.platform].Switch(ctx, false)
	case heals:
		if err := p.Stage.hosts[b.platform].Switch(ctx, true); err != nil {
			return err
		}
		cut := *p.cut
		p.cut = nil
		how, err := p.Recovered(ctx, cut)
		if err != nil {
			return err
		}
		p.Tell(b.platform+"*", how)
	}
	return nil
}

// wait waits for d and reports whether ctx still lasts.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
