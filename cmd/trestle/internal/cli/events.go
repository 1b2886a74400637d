package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/control"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/spaces"
)

// eventRow is one line of `trestle events`.
type eventRow struct {
	Space  spaces.SpaceID   `json:"space"`
	Seq    int64            `json:"seq"` // its number in the space
	ID     spaces.EventID   `json:"id"`
	At     string           `json:"at"`
	Actor  spaces.EntityID  `json:"actor,omitempty"`
	Kind   spaces.EventKind `json:"kind"`
	Thread spaces.ThreadID  `json:"thread,omitempty"`
	Body   spaces.EventBody `json:"body"`           // what its kind holds
	Name   string           `json:"name,omitempty"` // of the actor, when it is known
}

// UnmarshalJSON decodes a row.
func (r *eventRow) UnmarshalJSON(text []byte) error {
	type plainRow eventRow // without this method
	var shell struct {
		plainRow
		Body json.RawMessage `json:"body"`
	}
	if err := json.Unmarshal(text, &shell); err != nil {
		return err
	}
	*r = eventRow(shell.plainRow)
	var err error
	r.Body, err = spaces.Decode(r.Kind, shell.Body)
	return err
}

// eventChoice filters events.
type eventChoice struct {
	space string // its id
	kind  string // of the record, or, of live events, their type
	from  int64  // seq in the space, or id of a live event
	limit int
}

// eventsCommand answers `trestle events`.
type eventsCommand struct{ installation }

func newEventsCommand(env *Environment) *cobra.Command {
	cmd := eventsCommand{installation{env}}
	var follow bool
	var which eventChoice
	c := &cobra.Command{
		Annotations: fromAPI(), Use: "events", Short: "print the newest events of the record; with -f, what happens right now, as JSON lines", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := chooseKind(c, which.kind, follow); err != nil {
				return err
			}
			switch {
			case which.from < 0:
				return misuse(c, "--from is no number of an event", "write a number from 1 on")
			case which.from > 0 && which.space == "" && !follow:
				return &apperr.Error{What: "--from is a number within one space", Where: "events --from", Remedy: "name the space with --space", Code: apperr.Usage}
			}
			if which.space != "" {
				id, err := cmd.spaceCalled(c.Context(), which.space)
				if err != nil {
					return err
				}
				which.space = string(id)
			}
			if follow {
				return cmd.follow(c.Context(), which)
			}
			return cmd.events(c.Context(), which)
		},
	}
	c.Flags().BoolVarP(&follow, "follow", "f", false, "follow the live events of the running process")
	c.Flags().StringVar(&which.space, "space", "", "only of this space (its id or name)")
	c.Flags().StringVar(&which.kind, "kind", "", "only of this kind: said, joined, …; with -f a type of live events")
	c.Flags().Int64Var(&which.from, "from", 0, "begin with this number in the space; with -f, go on behind this id")
	c.Flags().IntVar(&which.limit, "limit", 50, "at most this many")
	return c
}

func (cmd eventsCommand) events(ctx context.Context, which eventChoice) error {
	q := url.Values{
		"kind": {which.kind}, "space": {which.space}, "from": {strconv.FormatInt(which.from, 10)}, "limit": {strconv.Itoa(which.limit)},
	}
	rows, err := consult[[]eventRow](ctx, cmd.installation, "events", q)
	if err != nil {
		return err
	}
	called, err := cmd.spaceNames(ctx)
	if err != nil {
		return err
	}
	return answerRows(cmd.Environment, rows, func(w io.Writer) {
		var lines [][]string
		for _, e := range rows {
			who := textout.OrDash(cmp.Or(e.Name, string(e.Actor)))
			lines = append(lines, []string{e.At, called(e.Space), "#" + strconv.FormatInt(e.Seq, 10), string(e.Kind), who, saidIn(e.Body)})
		}
		textout.WriteTable(w, lines)
	})
}

// tellEvents answers the newest stored events that match, oldest first.
func tellEvents(ctx context.Context, o readContext, q url.Values) (any, error) {
	from, wrong := strconv.ParseInt(q.Get("from"), 10, 64)
	limit, bad := strconv.Atoi(q.Get("limit"))
	if wrong != nil || bad != nil || limit < 1 {
		return nil, &apperr.Error{What: "that is no number of events", Where: "events", Remedy: "write --limit with 1 or more", Code: apperr.Usage}
	}
	which := eventChoice{space: q.Get("space"), kind: q.Get("kind"), from: from, limit: limit}
	found, err := which.among(ctx, o.ReadModel)
	if err != nil {
		return nil, err
	}
	names, err := o.Names(ctx, console.Actors(found))
	rows := make([]eventRow, 0, len(found))
	for _, e := range found {
		rows = append(rows, eventRow{e.Space, e.Seq, e.ID, textout.FormatTime(e.At), e.Actor, e.Body.Kind(), e.Thread, e.Body, names[e.Actor].Name})
	}
	return rows, err
}

// among reads the stored events that match, oldest first.
func (which eventChoice) among(ctx context.Context, r console.RoomReader) ([]spaces.Event, error) {
	id := spaces.SpaceID(which.space)
	if which.kind == "" && which.from == 0 {
		return r.Recent(ctx, id, which.limit)
	}
	all, err := r.Recent(ctx, id, eventWindow)
	if err != nil {
		return nil, err
	}
	var found []spaces.Event
	for _, e := range all {
		if (which.kind == "" || string(e.Body.Kind()) == which.kind) && e.Seq >= which.from {
			found = append(found, e)
		}
	}
	switch over := len(found) - which.limit; {
	case over > 0 && which.from > 0:
		found = found[:which.limit]
	case over > 0:
		found = found[over:]
	}
	return found, nil
}

// eventWindow is the number of newest events that are searched for a kind or a number.
const eventWindow = 100_000

// liveLine is one live event as it is printed: the stream's own, with its id, at
// which --from goes on.
type liveLine struct {
	ID       int64           `json:"id"`
	Type     string          `json:"type"`
	Content  string          `json:"content"`
	Metadata json.RawMessage `json:"metadata,omitempty"` // what it is about: mind, space, cycle, …
	At       string          `json:"timestamp"`
	Process  string          `json:"process,omitempty"` // that it happened in; empty for the one that was asked
}

// follow prints live events, one JSON object a line, until it is interrupted.
func (cmd eventsCommand) follow(ctx context.Context, which eventChoice) error {
	ctx, stop := stoppable(ctx)
	defer stop()
	err := cmd.liveStream(ctx, which.from, func(body io.Reader) error {
		return eachLive(body, func(l liveLine) error {
			var about struct {
				Space string `json:"space"`
			}
			_ = json.Unmarshal(l.Metadata, &about) // an event about no space is of none
			if (which.kind != "" && l.Type != which.kind) || (which.space != "" && about.Space != which.space) {
				return nil
			}
			return json.NewEncoder(cmd.Out).Encode(l)
		})
	})
	if ctx.Err() != nil && !errors.Is(err, io.ErrShortWrite) {
		return &reportedError{apperr.Interrupted}
	}
	return err
}

// liveStream opens the live events behind an id: of the process here, or of
// another machine.
func (cmd eventsCommand) liveStream(ctx context.Context, from int64, read func(io.Reader) error) error {
	path := "/events"
	if from > 0 {
		path += "?from=" + strconv.FormatInt(from, 10)
	}
	if cmd.remote == "" {
		c, err := cmd.running(ctx)
		if err != nil {
			return err
		}
		return c.Stream(ctx, path, read)
	}
	q, err := cmd.remoteRequest(ctx, path)
	if err != nil {
		return err
	}
	return (&control.Client{Client: http.DefaultClient, Socket: cmd.remote}).Do(q, read)
}

// eachLive calls take with every event of a stream, each with its id.
func eachLive(body io.Reader, take func(liveLine) error) error {
	return console.ReadStream(body, func(id int64, data []byte) error {
		l := liveLine{}
		if err := json.Unmarshal(data, &l); err != nil {
			return fmt.Errorf("read live event: %w", err)
		}
		l.ID = id
		return take(l)
	})
}
