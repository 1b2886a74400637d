package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/console/api"
	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/spaces"
)

// spacesCommand answers `trestle spaces`.
type spacesCommand struct{ installation }

func newSpacesCommand(env *Environment) *cobra.Command {
	cmd := spacesCommand{installation{env}}
	c := &cobra.Command{
		Annotations: fromAPI(), Use: "spaces", Short: "list the spaces", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			rooms, err := cmd.rooms(c.Context())
			if err != nil {
				return err
			}
			return answerRows(cmd.Environment, rooms, func(w io.Writer) { printRooms(w, rooms) })
		},
	}
	limit := 20
	show := &cobra.Command{
		Annotations: fromAPI(), Use: "show SPACE", Short: "show one space (its id or name): who is there, what was said last, and what agents made of it", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return cmd.showSpace(c.Context(), args[0], limit) },
	}
	limitFlag(show, &limit, "newest events to show")
	c.AddCommand(show)
	return c
}

// rooms lists the spaces, here or on another machine.
func (in installation) rooms(ctx context.Context) ([]api.SpaceRow, error) {
	var a struct {
		Spaces []api.SpaceRow `json:"spaces"`
	}
	err := in.ask(ctx, "/api/spaces", nil, &a)
	return a.Spaces, err
}

// spaceNames returns how the spaces are called, for people.
func (in installation) spaceNames(ctx context.Context) (func(spaces.SpaceID) string, error) {
	rooms, err := in.rooms(ctx)
	if err != nil {
		return nil, err
	}
	names := map[spaces.SpaceID]string{}
	for _, r := range rooms {
		names[r.Space] = r.Name
	}
	return func(id spaces.SpaceID) string { return textout.OrDash(cmp.Or(names[id], string(id))) }, nil
}

// spaceCalled returns the id of a space by its id, the beginning of its id, or its name.
func (in installation) spaceCalled(ctx context.Context, text string) (spaces.SpaceID, error) {
	rooms, err := in.rooms(ctx)
	if err != nil {
		return "", err
	}
	var found []spaces.SpaceID
	var could, names []string
	for _, r := range rooms {
		names = append(names, strings.ToLower(r.Name))
		switch {
		case string(r.Space) == text:
			return r.Space, nil
		case strings.EqualFold(strings.TrimPrefix(r.Name, "#"), strings.TrimPrefix(text, "#")), strings.HasPrefix(string(r.Space), text):
			found, could = append(found, r.Space), append(could, strings.TrimSpace(string(r.Space)+" "+r.Name))
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", &apperr.Error{What: fmt.Sprintf("there is no space %q", text), Where: text, Remedy: cmp.Or(textformat.DidYouMean(text, names), "see trestle spaces"), Code: apperr.Failed}
	}
	return "", ambiguous(console.AmbiguousNameError{Kind: "spaces", Given: text, Could: could})
}

func printRooms(w io.Writer, rooms []api.SpaceRow) {
	if len(rooms) == 0 {
		fmt.Fprintln(w, "no space")
		return
	}
	lines := [][]string{{"NAME", "SPACE", "CIRCLE", "AGENTS", "PEOPLE", "EVENTS", "LAST", "CHATS"}}
	for _, r := range rooms {
		lines = append(lines, []string{
			textout.OrDash(r.Name), string(r.Space), string(r.Circle), textout.OrDash(agentList(r.Agents)),
			strconv.Itoa(r.Members), strconv.FormatInt(r.Events, 10), textout.FormatTime(r.Last), textout.OrDash(chatList(r)),
		})
	}
	textout.WriteTable(w, lines)
}

func agentList(ids []spaces.AgentID) string {
	var agents []string
	for _, a := range ids {
		agents = append(agents, string(a))
	}
	return strings.Join(agents, " ")
}

func chatList(r api.SpaceRow) string {
	var chats []string
	for _, c := range r.Chats {
		chat := c.Account + "/" + c.Chat
		if !c.Live {
			chat += " (gone)"
		}
		chats = append(chats, chat)
	}
	return strings.Join(chats, " ")
}

// shownSpace is one space with the newest part of its log, as the API tells it.
type shownSpace struct {
	api.SpaceRow
	People []shownMember `json:"people"`
	Log    []shownLine   `json:"log"` // newest first
}

// shownMember is a member of a space.
type shownMember struct {
	ID   spaces.EntityID   `json:"id"`
	Kind spaces.EntityKind `json:"kind"`
	Name string            `json:"name"`
}

// shownLine is one event of a space with what each mind made of it.
type shownLine struct {
	Seq    int64            `json:"seq"`
	Event  spaces.EventID   `json:"event"`
	Kind   spaces.EventKind `json:"kind"`
	Actor  spaces.EntityID  `json:"actor,omitempty"`
	At     time.Time        `json:"at"`
	Thread spaces.ThreadID  `json:"thread,omitempty"`
	Body   shownWords       `json:"body"`
	Marks  []shownMark      `json:"marks"`
}

// shownWords are the words of an event; other bodies have none.
type shownWords struct {
	Text string `json:"text,omitempty"`
}

// shownMark is how one mind handled an event: whether it woke, and why.
type shownMark struct {
	Mind   string               `json:"mind"`
	State  spaces.InboxRowState `json:"state"`
	Reason string               `json:"reason"`        // the gate's word
	Run    spaces.CycleID       `json:"run,omitempty"` // that was shown it
}

// log reads a space with the events before a seq; 0 is from the end.
func (cmd spacesCommand) log(ctx context.Context, name string, before int64, limit int) (a shownSpace, err error) {
	id, err := cmd.spaceCalled(ctx, name)
	if err != nil {
		return a, err
	}
	q := url.Values{"limit": {strconv.Itoa(limit)}}
	if before > 0 {
		q.Set("before", strconv.FormatInt(before, 10))
	}
	return a, cmd.ask(ctx, "/api/spaces/"+url.PathEscape(string(id)), q, &a)
}

func (cmd spacesCommand) showSpace(ctx context.Context, name string, limit int) error {
	a, err := cmd.log(ctx, name, 0, limit)
	if err != nil {
		return err
	}
	return cmd.answer(a, a.print)
}

func (a shownSpace) print(w io.Writer) {
	var people []string
	names := map[spaces.EntityID]string{}
	for _, m := range a.People {
		names[m.ID] = m.Name
		people = append(people, fmt.Sprintf("%s (%s)", m.Name, m.Kind))
	}
	textout.WriteTable(w, [][]string{
		{"name", textout.OrDash(a.Name)},
		{"space", string(a.Space)},
		{"circle", string(a.Circle)},
		{"wake", string(a.Wake)},
		{"agents", textout.OrDash(agentList(a.Agents))},
		{"people", textout.OrDash(strings.Join(people, ", "))},
		{"chats", textout.OrDash(chatList(a.SpaceRow))},
		{"events", strconv.FormatInt(a.Events, 10)},
	})
	fmt.Fprintln(w)
	var lines [][]string
	for _, l := range slices.Backward(a.Log) {
		said := string(l.Kind)
		if l.Body.Text != "" {
			said = strconv.Quote(l.Body.Text)
		}
		var marks []string
		for _, m := range l.Marks {
			marks = append(marks, m.Mind+" "+cmp.Or(m.Reason, string(m.State))) // the gate's word, or how far it got
		}
		lines = append(lines, []string{textout.FormatTime(l.At), "#" + strconv.FormatInt(l.Seq, 10), textout.OrDash(cmp.Or(names[l.Actor], string(l.Actor))), said, strings.Join(marks, ", ")})
	}
	textout.WriteTable(w, lines)
}
