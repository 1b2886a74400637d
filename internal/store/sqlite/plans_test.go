package sqlite

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// whole are the statements that may read all of a table or of an index: what is
// asked at a start, by an operator or by the auditor, and what waits, whose
// index holds nothing else.
var whole = []string{
	"actionOverdue", "actionWithoutEvent", "allBranches", "allFailed", "allHumans", "allSent", "dayLost", "epochFell",
	"messageWithoutEvent", "numberGap", "ordinalGap", "rowAstray", "rowWithoutEvent", "sentLate", "sourceTwice", "stepUndone",
	"timerTwice", "turnGap", "unseenEvent", "usageLost",
	"leasesLost", "openProblems", "recordBegan", "waitingByAccount", "openJobs", "newestJobs",
	"dropPaired", "expireLeases", "keyedRooms", "liveUplinks", "openSpans", "mappings", "newestRefusals", "waiting",
}

// A statement on the way of a message takes the same time however long the
// record is.
func TestMessagesAreHandledWithoutReadingWholeTables(t *testing.T) {
	s := openIn(t, t.TempDir())
	operators := fileConstants(t, "accounts.go", "console.go", "console_people.go", "keys.go", "learned.go", "look.go")
	parameter := regexp.MustCompile(`\$\d+`)
	for name, text := range statements(t) {
		if slices.Contains(whole, name) || slices.Contains(operators, name) || !regexp.MustCompile(`^(select|insert|update|delete)`).MatchString(text) {
			continue
		}
		args := make([]any, len(slices.Compact(slices.Sorted(slices.Values(parameter.FindAllString(text, -1))))))
		for i := range args {
			args[i] = "1"
		}
		err := each(t.Context(), s.readers, query("explain query plan "+text), args, func(r row) error {
			var id, parent, unused int
			var detail string
			if err := r.Scan(&id, &parent, &unused, &detail); err != nil {
				return err
			}
			// A few rows of the statement's own, and the few that readyRows has found.
			small := strings.Contains(detail, "CONSTANT") || strings.Contains(detail, "VALUES") || strings.HasSuffix(detail, " r")
			if strings.HasPrefix(detail, "SCAN") && !small {
				return fmt.Errorf("%s", detail)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
