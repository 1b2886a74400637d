package cli

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/server"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

// adaptersCommand answers `trestle adapters`.
type adaptersCommand struct{ installation }

func newAdaptersCommand(env *Environment) *cobra.Command {
	cmd := adaptersCommand{installation{env}}
	since := "7d"
	c := &cobra.Command{
		Annotations: fromAPI(), Use: "adapters [NAME]", Short: "list the accounts on platforms; with a name, when it was connected with each of its spaces", Args: cobra.MaximumNArgs(1),
		Long: "List the accounts on platforms. With a name, show when each agent was connected with each of the account's spaces; " +
			"the JSON is then one object: such a row with `from`, `to` and `spaces`, each with its `spans`.",
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 && c.Flags().Changed("since"):
				return misuse(c, "--since needs the name of an adapter", "trestle adapters NAME --since "+since)
			case len(args) == 0:
				return cmd.listAdapters(c.Context())
			}
			return cmd.showAdapter(c.Context(), args[0], since)
		},
	}
	c.Flags().StringVar(&since, "since", since, "with a name: how far back: 2h, 7d")
	return c
}

// adapterRow is one account on a platform as a list shows it.
type adapterRow struct {
	Name    string     `json:"name"`              // of its entry
	Type    string     `json:"type,omitempty"`    // the platform
	Account string     `json:"account,omitempty"` // empty while it is not known who we are there
	Handle  string     `json:"handle,omitempty"`  // what people write after @
	State   string     `json:"state"`             // connecting, connected, degraded, misconfigured, conflict, standby, stopped
	Healthy bool       `json:"healthy"`
	Since   *time.Time `json:"since,omitempty"` // when it came into this state
	Heard   *time.Time `json:"heard,omitempty"` // when the platform last proved to be there, or at least was last recorded
	Said    *time.Time `json:"said,omitempty"`  // when something was last sent
	Waiting int        `json:"waiting"`         // to be sent
	Reason  string     `json:"reason"`          // empty while all is well
}

// adapterRows joins the accounts of the configuration, of the running process and of the store.
// h is nil when nothing runs here; another process of the installation may serve an account
// then.
func adapterRows(conf *config.Config, h *console.Health, crew []engine.WriterProcess, accounts []console.Account) []adapterRow {
	rows := []adapterRow{}
	for _, a := range conf.Adapters {
		r := adapterRow{Name: a.Name, Type: a.Type, State: "stopped"}
		if a.Misconfigured {
			r.State, r.Reason = "misconfigured", reasonIn(conf, "adapters."+a.Name)
		}
		switch by := server.ProcessServing(crew, a.Name); {
		case h != nil:
			r.live(*h)
		case by != nil && !a.Misconfigured:
			r.State, r.Healthy, r.Since, r.Reason = string(activity.ConnStandby), true, server.OptionalTime(by.Since), by.String()+" serves it"
		}
		r.remember(conf, accounts)
		rows = append(rows, r)
	}
	return rows
}

func reasonIn(conf *config.Config, entry string) string {
	i := slices.IndexFunc(conf.Problems, func(p config.EntryProblem) bool { return p.Entry == entry })
	if i < 0 {
		return ""
	}
	return conf.Problems[i].Err.String()
}

// live copies the state of an account from the health of the running process.
func (r *adapterRow) live(h console.Health) {
	for _, x := range h.Extensions {
		if x.Kind == "adapter" && x.Name == r.Name {
			r.State, r.Healthy, r.Since, r.Heard, r.Handle, r.Reason, r.Account = x.State, x.Healthy, x.Since, x.Heard, x.Handle, x.Reason, x.Account
		}
	}
}

// remember adds what the store has of an account. Without a running process, the account is
// only known where the platform has a single one.
func (r *adapterRow) remember(conf *config.Config, accounts []console.Account) {
	if r.Account == "" {
		same := slices.DeleteFunc(slices.Clone(accounts), func(a console.Account) bool { return !strings.HasPrefix(a.Account, r.Type+":") })
		alone := !slices.ContainsFunc(conf.Adapters, func(a config.AdapterEntry) bool { return a.Type == r.Type && a.Name != r.Name })
		if len(same) != 1 || !alone {
			return
		}
		r.Account = same[0].Account
	}
	for _, a := range accounts {
		if a.Account != r.Account {
			continue
		}
		r.Said, r.Waiting = server.OptionalTime(a.Said), a.Waiting
		if r.Heard == nil {
			r.Heard = server.OptionalTime(a.Heard)
		}
	}
}

func (cmd adaptersCommand) listAdapters(ctx context.Context) error {
	a, err := cmd.readStatus(ctx, false)
	if err != nil {
		return err
	}
	return answerRows(cmd.Environment, a.Adapters, func(w io.Writer) {
		if len(a.Adapters) == 0 {
			fmt.Fprintln(w, "no adapter is configured")
			return
		}
		printAdapters(w, a.Adapters, cmd.clock())
	})
}

func printAdapters(w io.Writer, all []adapterRow, at timeFormat) {
	rows := [][]string{{"ADAPTER", "STATE", "SINCE", "HEARD", "SAID", ""}}
	for _, r := range all {
		note := r.Reason
		if r.Waiting > 0 {
			note = strings.TrimPrefix(note+"; ", "; ") + fmt.Sprintf("outbox %d waiting", r.Waiting)
		}
		rows = append(rows, []string{r.Name, r.State, at.moment(r.Since), at.moment(r.Heard), at.moment(r.Said), note})
	}
	textout.WriteTable(w, rows)
}

// adapterAnswer is one account with its connections.
type adapterAnswer struct {
	adapterRow
	From  time.Time           `json:"from"`
	To    time.Time           `json:"to"`
	Rooms []connectionHistory `json:"spaces"`
}

// connectionHistory is when an agent was connected with one space.
type connectionHistory struct {
	Space spaces.SpaceID  `json:"space"`
	Name  string          `json:"name"`
	Mind  string          `json:"mind"`
	Spans []connectedSpan `json:"spans"` // oldest first
}

// connectedSpan is one period of a connection.
type connectedSpan struct {
	Opened time.Time         `json:"opened"`
	Closed *time.Time        `json:"closed"` // null while it is open
	Opener spaces.SpanReason `json:"opener"`
	Closer spaces.SpanReason `json:"closer,omitempty"`
}

// manySpans is the largest number of connection spans that are read for a timeline.
const manySpans = 10_000

func (cmd adaptersCommand) showAdapter(ctx context.Context, name, since string) error {
	a, err := consult[adapterAnswer](ctx, cmd.installation, "adapters show", url.Values{"name": {name}, "since": {since}})
	if err != nil {
		return err
	}
	return cmd.answer(a, func(w io.Writer) { a.print(w, cmd.clock()) })
}

// tellAdapter answers when an account was connected with its spaces.
func tellAdapter(ctx context.Context, o readContext, q url.Values) (any, error) {
	from, err := sinceFlag(q.Get("since"))
	if err != nil {
		return nil, err
	}
	status, err := o.status(ctx, false)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(status.Adapters, func(r adapterRow) bool { return r.Name == q.Get("name") })
	if i < 0 {
		return nil, &apperr.Error{What: fmt.Sprintf("there is no adapter %q", q.Get("name")), Where: "adapters", Remedy: "trestle adapters lists them", Code: apperr.Failed}
	}
	a := adapterAnswer{adapterRow: status.Adapters[i], From: from.UTC(), To: time.Now().UTC(), Rooms: []connectionHistory{}}
	return a, a.connect(ctx, o.ReadModel)
}

// connect reads the connections of the spaces that have chats on the account.
func (a *adapterAnswer) connect(ctx context.Context, r console.Store) error {
	rooms, err := r.Rooms(ctx)
	if err != nil {
		return err
	}
	spans, err := r.Connections(ctx, a.From, a.To, manySpans)
	if err != nil {
		return err
	}
	for _, room := range rooms {
		if !slices.ContainsFunc(room.Chats, func(m spaces.ChatMapping) bool { return m.Account == a.Account && a.Account != "" }) {
			continue
		}
		for _, s := range spans {
			if s.Space == room.Space.ID {
				a.add(room, s)
			}
		}
	}
	return nil
}

func (a *adapterAnswer) add(room console.Room, s spaces.ConnectionSpan) {
	i := slices.IndexFunc(a.Rooms, func(l connectionHistory) bool { return l.Space == s.Space && l.Mind == s.Mind.String() })
	if i < 0 {
		i = len(a.Rooms)
		a.Rooms = append(a.Rooms, connectionHistory{Space: s.Space, Name: room.Space.Name, Mind: s.Mind.String()})
	}
	a.Rooms[i].Spans = append(a.Rooms[i].Spans, connectedSpan{s.Opened, server.OptionalTime(s.Closed), s.Opener, s.Closer})
}

func (a *adapterAnswer) print(w io.Writer, at timeFormat) {
	head := []string{a.Name, textout.OrDash(a.Account)}
	if a.Handle != "" {
		head = append(head, "@"+a.Handle)
	}
	head = append(head, a.State, "heard "+at.moment(a.Heard), "said "+at.moment(a.Said))
	fmt.Fprintln(w, strings.Join(head, "   "))
	if a.Reason != "" {
		fmt.Fprintln(w, a.Reason)
	}
	if len(a.Rooms) == 0 {
		return
	}
	fmt.Fprintln(w)
	rows := [][]string{{"SPACE", "MIND", at.past(a.From), "SPANS", "NOW"}}
	for _, l := range a.Rooms {
		last := l.Spans[len(l.Spans)-1]
		now := "open since " + at.ago(last.Opened)
		if last.Closed != nil {
			now = string(last.Closer) + " " + at.past(*last.Closed)
		}
		rows = append(rows, []string{l.Name, l.Mind, l.line(a.From, a.To), fmt.Sprint(len(l.Spans)), now})
	}
	textout.WriteTable(w, rows)
}

// lineWidth is how many cells a lifeline has.
const lineWidth = 40

// line draws a connection over time: full where it was open, empty where it was not, a cross
// where it closed and opened again within one cell.
func (l connectionHistory) line(from, to time.Time) string {
	cells := make([]rune, lineWidth)
	for i := range cells {
		begin := from.Add(to.Sub(from) * time.Duration(i) / lineWidth)
		end := from.Add(to.Sub(from) * time.Duration(i+1) / lineWidth)
		cells[i] = '·'
		broken := false
		for _, s := range l.Spans {
			if s.Opened.Before(end) && (s.Closed == nil || s.Closed.After(begin)) {
				cells[i] = '▇'
			}
			broken = broken || s.Closed != nil && s.Closed.After(begin) && s.Closed.Before(end)
		}
		if broken && cells[i] == '▇' {
			cells[i] = '╳'
		}
	}
	return string(cells)
}
