package sqlstore_test

import (
	"database/sql"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/store/storetest"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// whole are the statements that may read all of a table or of an index: what is
// asked at a start or a stop, by an operator or by the auditor, and what waits, whose
// index holds nothing else.
var whole = []string{
	"actionOverdue", "actionWithoutEvent", "allBranches", "allFailed", "allHumans", "allSent", "dayLost", "epochFell",
	"messageWithoutEvent", "numberGap", "ordinalGap", "rowAstray", "rowWithoutEvent", "sentLate", "sourceTwice", "stepUndone",
	"timerTwice", "turnGap", "unseenEvent", "usageLost", "waitAstray",
	"idleMinds", "idleActions", "leasesLost", "openProblems", "firstMigration", "waitingByAccount", "openJobs", "newestJobs", "newestRuns", "newestMissions", "missionsNamed",
	"dropPaired", "expireLeases", "leaveLeases", "leaveJobs", "leaveCycles", "openToSee", "leaveRows", "ConfiguredSpaces", "liveUplinks", "openSpans", "forgetDisconnected", "SelectMappings", "newestRefusals", "waiting", "besideSuspect",
	"takenSeats", "leftCycles", "peopleNamed", "unattendedToolRuns", "allGrants", "activePrompts", "contentHeld",
}

// A statement on the way of a message takes the same time however long the
// record is.
func TestMessagesAreHandledWithoutReadingWholeTables(t *testing.T) {
	db := openTables(t)
	operators := fileConstants(t, "tokens.go", "../readmodel/accounts.go", "../readmodel/overview.go", "../readmodel/history.go")
	for name, text := range storetest.Statements(t) {
		if slices.Contains(whole, name) || slices.Contains(operators, name) || !regexp.MustCompile(`^(select|insert|update|delete)`).MatchString(text) {
			continue
		}
		for _, detail := range plan(t, db, text) {
			// A few rows of the statement's own, and the few that readyRows has found.
			small := strings.Contains(detail, "CONSTANT") || strings.Contains(detail, "VALUES") || strings.HasSuffix(detail, " r")
			if strings.HasPrefix(detail, "SCAN") && !small {
				t.Errorf("%s: %s", name, detail)
			}
		}
	}
}

// SECURITY S5: rooms that a person shares with an agent are found by the person's id,
// not among all the rooms of the agent.
func TestRoomsAcrossAreFoundByWhoIsInThem(t *testing.T) {
	steps := plan(t, openTables(t), storetest.Statements(t)["uplinksAcross"])
	found := slices.IndexFunc(steps, func(s string) bool { return strings.Contains(s, "members_entity (entity=?)") })
	rooms := slices.IndexFunc(steps, func(s string) bool { return strings.Contains(s, "uplinks_space (space=? AND agent=?)") })
	if found < 0 || rooms < found {
		t.Errorf("the engine goes about it by %q", steps)
	}
}

// The moves of a room's chats are found by an index of their own, and not among all that
// was said there: they are asked for within write transactions.
func TestMovesOfChatsAreNotSearchedInTheWholeLog(t *testing.T) {
	steps := plan(t, openTables(t), storetest.Statements(t)["chatMoves"])
	if !slices.ContainsFunc(steps, func(s string) bool { return strings.Contains(s, "events_migrated (space=? AND branch=?)") }) {
		t.Errorf("the engine goes about it by %q", steps)
	}
}

// What a person does in a room, or an answer that goes out, looks at as much as it is
// about, and not at all that the room or the mind ever had. The engine knows nothing of
// how many rows a key has, so the statements say by what they are found.
func TestRoomsAreNotReadFromTheirBeginning(t *testing.T) {
	db, texts := openTables(t), storetest.Statements(t)
	const thread = "SEARCH e USING INDEX events_thread (space=? AND thread=?)"
	for name, want := range map[string][]string{
		"openRunsHere":  {"SEARCH o USING COVERING INDEX cycles_open (agent=? AND circle=?)"},
		"stopWaiting":   {"SEARCH w USING COVERING INDEX inbox_ready (agent=? AND circle=? AND space=?)"},
		"ignoreWaiting": {"SEARCH i USING COVERING INDEX inbox_ready (agent=? AND circle=? AND space=?)"},
		"leaveRow":      {"SEARCH inbox USING COVERING INDEX inbox_ready (agent=? AND circle=? AND space=?)"},
		"handOver":      {"SEARCH inbox USING COVERING INDEX inbox_ready (agent=? AND circle=? AND space=?)"},
		"whereStarts":   {"SEARCH m USING COVERING INDEX messages_event (event=? AND account=? AND chat=?)"},
		"sentAround":    {"SEARCH m USING INDEX messages_event (event=? AND account=? AND chat=?)"},
		"threadHere":    {thread, "SEARCH k USING COVERING INDEX messages_event (event=? AND account=? AND chat=?)"},
		"firstHere":     {thread, "SEARCH m USING COVERING INDEX messages_event (event=? AND account=? AND chat=?)"},
		"tiesOf":        {"SEARCH k USING COVERING INDEX threads_thread (space=? AND thread=?)"},
		"tieOnRoot":     {"SEARCH k USING COVERING INDEX threads_root (space=? AND root=?)"},
	} {
		steps := plan(t, db, texts[name])
		if slices.ContainsFunc(want, func(step string) bool { return !slices.Contains(steps, step) }) {
			t.Errorf("%s: the engine goes about it by %q", name, steps)
		}
	}
}

// What is open is few, and is found among what is open: a slice of retention, for which
// all writes wait, a deletion, a start, and what is looked for every ten seconds do not
// look at all runs that ever were (DELIVERY 2.7).
func TestOpenRunsAreNotSoughtAmongAllRuns(t *testing.T) {
	db, texts := openTables(t), storetest.Statements(t)
	for name, want := range map[string]string{
		"idleMinds":  "SCAN c USING INDEX cycles_open",
		"agedCycles": "SEARCH o USING INDEX cycles_open",
		"leftCycles": "SCAN cycles USING INDEX cycles_open",
		"openToSee":  "SEARCH y USING PRIMARY KEY (id=?)",
	} {
		if steps := plan(t, db, texts[name]); !slices.Contains(steps, want) {
			t.Errorf("%s: the engine goes about it by %q", name, steps)
		}
	}
}

// A page of figures reads one range of the key, however many spaces, agents and years there
// are, and events are counted from where the last ones were.
func TestFiguresAreReadByTheirKey(t *testing.T) {
	db, texts := openTables(t), storetest.Statements(t)
	for name, want := range map[string]string{
		"figurePoints": "SEARCH figures USING PRIMARY KEY (span=? AND space=? AND agent=? AND platform=? AND at>? AND at<?)",
		"figureTimes":  "SEARCH answer_times USING PRIMARY KEY (span=? AND space=? AND agent=? AND platform=? AND at>? AND at<?)",
		"figureParts":  "SEARCH figures USING PRIMARY KEY (span=? AND space=?)",
		"dropFigures":  "SEARCH figures USING INDEX figures_at (span=? AND at<?)",
		"dropAnswers":  "SEARCH answer_times USING INDEX answer_times_at (span=? AND at<?)",
		"factsAfter":   "SEARCH e USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)",
	} {
		if steps := plan(t, db, texts[name]); !slices.Contains(steps, want) {
			t.Errorf("%s: the engine goes about it by %q", name, steps)
		}
	}
}

// An audit grows with the record, not with its square: for each message it looks up
// one row of the inbox. (DELIVERY 2.5)
func TestAuditLooksUpEachRowOfTheInbox(t *testing.T) {
	steps := plan(t, openTables(t), storetest.Statements(t)["unseenEvent"])
	if !slices.Contains(steps, "SEARCH i USING PRIMARY KEY (agent=? AND circle=? AND space=? AND seq=?)") {
		t.Errorf("the engine goes about it by %q", steps)
	}
}

var parameter = regexp.MustCompile(`\$\d+`)

// plan returns how the engine would go about a statement, step by step.
func plan(t *testing.T, db *sql.DB, text string) (steps []string) {
	t.Helper()
	var args []any
	for range slices.Compact(slices.Sorted(slices.Values(parameter.FindAllString(text, -1)))) {
		args = append(args, "1")
	}
	rows, err := db.QueryContext(t.Context(), "explain query plan "+text, args...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, parent, unused int
		var detail string
		testutil.OK(t, rows.Scan(&id, &parent, &unused, &detail))
		steps = append(steps, detail)
	}
	testutil.OK(t, rows.Err())
	return steps
}
