package archtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A row says which packages of ours a package may import, and why no others.
// A pattern that ends in /... means the folder and all below it.
type row struct {
	pkg string
	may []string
	why string
}

// rows is the import table of the design; the first row that matches decides.
// Test files are free but for the programs: see barredInTests.
var rows = []row{
	{"adapters", nil, "the contract with a platform is a leaf: an adapter is written without knowing Trestle"},
	{"adapters/adaptertest", []string{"adapters"}, "the suite sees an adapter only through the contract it checks"},
	{"adapters/fake/faketest", []string{"adapters/adaptertest", "adapters/fake"}, "what the rigs of all platforms share; only tests use it"},
	{"adapters/fake/...", []string{"adapters", "adapters/fake", "internal/failpoint"}, "a loopback platform speaks the platform's wire format and nothing of ours"},
	{"adapters/local/...", []string{"adapters", "internal/failpoint"}, "the terminal's room is an adapter like any other"},
	{"adapters/markup", nil, "words and looks are the same on every platform; what one shows is an option"},
	{"adapters/markup/markuptest", []string{"adapters/markup"}, "texts that try to get out are the same for every platform; only tests use it"},
	{"adapters/emoji", nil, "what an emoji is called means the same on every platform"},
	{"adapters/mentions", []string{"adapters"}, "who is named after @ is found alike on every platform; what calls them is the platform's"},
	{"adapters/httpx", []string{"adapters"}, "to speak HTTP with care is the same work for every platform"},
	{"adapters/discord/...", []string{"adapters", "adapters/emoji", "adapters/markup", "adapters/mentions", "adapters/httpx", "internal/failpoint"}, "a platform knows the contract and itself"},
	{"adapters/hook", []string{"adapters", "adapters/httpx"}, "a program that posts is a platform like any other"},
	{"adapters/slack/...", []string{"adapters", "adapters/emoji", "adapters/markup", "adapters/mentions", "adapters/httpx", "internal/failpoint"}, "a platform knows the contract and itself"},
	{"adapters/telegram/...", []string{"adapters", "adapters/emoji", "adapters/markup", "adapters/mentions", "adapters/httpx", "internal/failpoint", "internal/safehttp"}, "a platform knows the contract and itself; what its messages point at is opened by the guarded client"},
	{"internal/imagescale", nil, "what a picture is has nothing to do with who posted it"},
	{"internal/money", nil, "amounts and prices are numbers, whatever they are paid for"},
	{"spaces", []string{"internal/money"}, "the record knows no part of ours: events mean the same to everyone who reads them"},
	{"activity/access", []string{"adapters", "spaces"}, "who may talk is decided on updates and stored approvals"},
	{"activity/commands", []string{"internal/money", "adapters", "spaces", "internal/textformat", "internal/timezone"}, "a chat command is parsed and answered without a model"},
	{"activity/media", []string{"adapters", "spaces", "internal/failpoint", "internal/retry"}, "files are downloaded and transcribed beside the path of a message"},
	{"activity", []string{"adapters", "adapters/markup", "spaces", "activity/access", "activity/commands", "activity/media", "internal/failpoint", "internal/retry"}, "the only package that knows both worlds, so the only one that translates"},
	{"internal/cron", nil, "when something recurs has nothing to do with what it is"},
	{"hud/recall", []string{"spaces"}, "retrieval is a pure function of chats and a query; it renders nothing"},
	{"hud", []string{"adapters/markup", "spaces", "hud/recall", "internal/textformat"}, "the view is a pure function of the record; what may leave is judged on what people see of its Markdown"},
	{"internal/timezone", nil, "a time zone is found by its name"},
	{"shell", []string{"shell/prompts", "internal/money", "spaces", "hud", "hud/recall", "internal/cron", "internal/timezone", "internal/latch", "internal/llm", "internal/failpoint", "internal/textformat"}, "the only package that talks to a model; it reaches platforms through the record alone"},
	{"shell/prompts", []string{"hud", "internal/textformat", "spaces"}, "what agents are told is text with versions; who is told which is a pure function of files and activations"},
	{"migrations/...", nil, "the schema is text; the store that opens the database runs it"},

	{"internal/textformat", nil, "numbers and clipped text mean the same everywhere"},
	{"internal/retry", nil, "how often work is repeated has nothing to do with what it is"},
	{"internal/failpoint", nil, "a fault point may stand anywhere, so it may depend on nothing"},
	{"internal/webpage", []string{"internal/document", "internal/safehttp"}, "a page is fetched by the guarded client and read like any document"},
	{"internal/websearch", []string{"adapters", "internal/safehttp"}, "a provider is asked by the guarded client; its key is a secret like an adapter's"},
	{"internal/skills", []string{"hud"}, "a skill is read the same way, whoever is granted it; letters that a reader does not see are known to hud"},
	{"internal/document", nil, "what a file says has nothing to do with who posted it"},
	{"internal/safehttp", nil, "the guarded client stands below everything that follows somebody else's address"},
	{"internal/toolproc", nil, "a program is started and ended the same way, whatever it is for"},
	{"internal/commandtool", []string{"internal/toolproc"}, "a command is run once, whoever asks and whatever becomes of its answer"},
	{"internal/mcpserver", []string{"hud", "spaces"}, "it shows what a view shows; who may see what is decided by the view"},
	{"internal/mcpclient", []string{"internal/retry", "internal/textformat", "internal/toolproc"}, "a tool server is called the same way, whoever asks and whatever becomes of the result"},
	{"internal/llm", []string{"internal/money"}, "the contract with a model knows what its tokens cost, and nothing of ours"},
	{"internal/llm/llmtest", []string{"internal/llm", "internal/llm/offline"}, "stand-ins for tests may start from the model that needs no endpoint"},
	{"internal/llm/modelhttp", []string{"internal/llm", "internal/textformat"}, "how a model is called over HTTP is the same for every provider"},
	{"internal/llm/provider", []string{"internal/llm", "internal/llm/anthropic", "internal/llm/gemini", "internal/llm/modelhttp", "internal/llm/openai"}, "one constructor knows all providers, and nobody else more than one"},
	{"internal/llm/offline", []string{"internal/llm", "internal/textformat"}, "the model that needs no endpoint knows the contract and itself"},
	{"internal/llm/anthropic", []string{"internal/llm", "internal/llm/modelhttp", "internal/textformat"}, "an endpoint knows the contract, the shared way to call it, and itself"},
	{"internal/llm/gemini", []string{"internal/llm", "internal/llm/modelhttp", "internal/textformat"}, "an endpoint knows the contract, the shared way to call it, and itself"},
	{"internal/llm/openai", []string{"internal/llm", "internal/llm/modelhttp", "internal/textformat"}, "an endpoint knows the contract, the shared way to call it, and itself"},
	{"internal/pubsub", nil, "a doorbell carries ids, never events: it needs none of our types"},
	{"internal/pubsub/redis", []string{"internal/pubsub", "internal/pubsub/inproc"}, "what is rung between processes is first rung within this one"},
	{"internal/pubsub/pgnotify", []string{"internal/pubsub", "internal/pubsub/inproc"}, "what the server passes on is first delivered within this process"},
	{"internal/pubsub/...", []string{"internal/pubsub"}, "a way of ringing knows the contract and itself"},
	{"internal/store/storetest", []string{"shell/prompts", "internal/money", "activity/...", "adapters", "shell", "spaces", "hud", "internal/testutil", "internal/console", "internal/jobs", "internal/alerts", "internal/store/sqlstore", "internal/store/readmodel"}, "the suite checks the ports of a store, reads the statements in its source, and seeds databases of earlier versions"},
	{"internal/store/engine", []string{"internal/failpoint"}, "the contract with a database engine and the group-commit writer know no table"},
	{"internal/store/tables", []string{"activity/...", "hud", "spaces", "internal/alerts", "internal/jobs", "internal/store/engine"}, "rows are read into the types of the packages that declare the ports"},
	{"internal/store/readmodel", []string{"internal/money", "activity/...", "shell", "spaces", "hud", "internal/console", "internal/jobs", "internal/alerts", "internal/store/engine", "internal/store/tables"}, "the read side imports the packages that declare the ports it implements; it never writes"},
	{"internal/store/sqlstore", []string{"shell/prompts", "internal/money", "activity/...", "shell", "spaces", "hud", "internal/console", "internal/jobs", "internal/alerts", "internal/cron", "internal/timezone", "internal/failpoint", "internal/store/engine", "internal/store/tables", "internal/store/readmodel"}, "the store imports the packages that declare the ports it implements; it does not know which engine it runs on"},
	{"internal/testutil", nil, "what tests ask knows nothing of what they test"},
	{"internal/testservers", nil, "a private server is a program on a port; it knows none of our types"},
	{"internal/store/...", []string{"activity/...", "internal/doctor", "internal/store", "internal/store/engine", "internal/store/readmodel", "internal/store/sqlstore", "migrations/..."}, "an engine opens, locks, migrates and copies a database; sqlstore owns the tables"},
	{"internal/config", []string{"internal/money", "adapters", "spaces", "internal/textformat", "internal/timezone"}, "what an operator decides, in the words of the two contracts: secrets, wake policies; it knows none of the parts it configures"},
	{"internal/jobs", []string{"internal/textformat"}, "long work is a row and a loop, whatever it does: it needs none of our types"},
	{"internal/demo", []string{"adapters/fake/...", "hud", "internal/console", "internal/llm", "internal/llm/offline", "internal/pubsub", "spaces", "internal/textformat"}, "the demo's people act on fake platforms, its model is a script, and what it tells it reads from the record"},
	{"internal/console/browsertest", nil, "it holds nothing but tests"},
	{"internal/console/consoletest", []string{"shell/prompts", "internal/money", "activity/...", "spaces", "hud", "internal/alerts", "internal/console", "internal/console/api", "internal/console/web", "internal/jobs", "internal/pubsub/...", "internal/store/sqlstore", "internal/store/sqlite"}, "a console for tests stands on a real record"},
	{"internal/console", []string{"shell/prompts", "internal/money", "spaces", "internal/alerts", "internal/jobs", "internal/pubsub", "internal/textformat"}, "the console declares the ports that pages and API read through; live events and long work keep the form they have"},
	{"internal/console/api", []string{"hud", "shell/prompts", "internal/money", "spaces", "internal/alerts", "internal/console", "internal/jobs"}, "the JSON routes answer from the ports of the console"},
	{"internal/console/web", []string{"adapters/markup", "shell/prompts", "spaces", "hud", "internal/alerts", "internal/console", "internal/console/api", "internal/jobs", "internal/textformat"}, "the pages show what the API answers"},
	{"internal/setup", []string{"adapters", "internal/config"}, "a first configuration is written in the words of the configuration"},
	{"internal/redact", []string{"adapters"}, "what hides credentials knows what a credential is, and nothing of who has it"},

	{"internal/telemetry", []string{"spaces", "internal/pubsub"}, "figures and spans are made of the record's words and of live events"},
	{"internal/latch", nil, "a lock knows nothing of what it guards"},
	{"internal/clockskew", nil, "a clock is compared with whatever answers"},
	{"internal/systemd", nil, "the service manager is told lines"},
	{"internal/doctor", []string{"adapters", "internal/llm", "internal/clockskew", "internal/textformat"}, "an examination asks the contracts with platforms and models, and ports of its own for the rest"},
	{"internal/alerts", []string{"internal/money"}, "a problem is told in words of its own, so that whoever sees one can say so"},

	{"internal/parity", nil, "it reads a table and the text of tests"},
	{"internal/corpus", nil, "it makes up rooms from its own words, and knows nothing of how anything is found"},
	{"internal/archtest", nil, "it reads source text"},
	{"internal/crashtest/...", []string{"adapters/fake/...", "internal/llm", "internal/llm/llmtest", "internal/failpoint", "internal/crashtest/..."}, "the kill harness meets the program as a platform and a model endpoint would: from outside"},
	{"internal/bench/...", []string{"adapters/fake/...", "internal/llm", "internal/llm/llmtest", "internal/corpus", "internal/testservers", "internal/bench/..."}, "the benchmark drives the finished binary from outside, beside bare baselines, and over private servers"},
	{"cmd/trestle/internal/apperr", []string{"internal/config", "internal/console"}, "an error for people knows how a wrong configuration is written, and nothing else"},
	{"cmd/trestle/internal/textout", []string{"internal/console"}, "times and tables are text"},
	{"cmd/trestle/internal/buildinfo", []string{"internal/store/sqlite"}, "the version of the schema is part of the program's"},
	{"cmd/trestle/internal/storeopen", []string{"cmd/trestle/internal/apperr", "cmd/trestle/internal/buildinfo", "internal/config", "internal/console", "internal/jobs", "internal/store/engine", "internal/store/postgres", "internal/store/readmodel", "internal/store/sqlite", "internal/store/sqlstore"}, "opening a database needs its engine and the configuration"},
	{"cmd/trestle/internal/control", []string{"cmd/trestle/internal/apperr", "internal/config", "internal/console"}, "the protocol of the control socket knows neither side of it"},
	{"cmd/trestle/internal/terminal", []string{"adapters/markup", "cmd/trestle/internal/apperr", "cmd/trestle/internal/control", "cmd/trestle/internal/storeopen", "cmd/trestle/internal/textout", "hud", "internal/console", "internal/store/readmodel", "spaces"}, "a person talks with a room, wherever it is served, and sees Markdown as it is meant"},
	{"cmd/trestle/internal/backup", []string{"internal/jobs", "internal/store/sqlite", "internal/store/sqlstore"}, "a backup is a job that copies the file of a store"},
	{"cmd/trestle/internal/history", []string{"activity", "activity/access", "adapters", "adapters/telegram", "cmd/trestle/internal/apperr", "internal/config", "internal/jobs", "internal/store/sqlstore", "spaces"}, "old messages go through the bridge into the logs, as jobs; it knows no running process"},
	{"cmd/trestle/internal/persontools", []string{"cmd/trestle/internal/buildinfo", "hud", "internal/console", "internal/mcpserver", "internal/store/sqlstore", "shell", "spaces"}, "it joins a view of the record with the server that shows it"},
	{"cmd/trestle/internal/toolbox", []string{"adapters", "internal/commandtool", "internal/config", "internal/doctor", "internal/mcpclient", "internal/skills", "internal/textformat", "internal/toolproc", "internal/webpage", "internal/websearch", "shell", "spaces"}, "it knows where tools are from; what calls them is a package each"},
	{"cmd/trestle/internal/settingsdesk", []string{"internal/config", "internal/console", "internal/redact"}, "it changes the configuration file for the console"},
	{"cmd/trestle/internal/server", []string{"cmd/trestle/internal/settingsdesk", "shell/prompts", "internal/money", "activity", "activity/access", "activity/commands", "activity/media", "adapters", "adapters/discord", "adapters/hook", "adapters/local", "adapters/slack", "adapters/telegram", "cmd/trestle/internal/apperr", "cmd/trestle/internal/backup", "cmd/trestle/internal/buildinfo", "cmd/trestle/internal/control", "cmd/trestle/internal/history", "cmd/trestle/internal/persontools", "cmd/trestle/internal/storeopen", "cmd/trestle/internal/textout", "cmd/trestle/internal/toolbox", "hud", "internal/alerts", "internal/clockskew", "internal/config", "internal/console", "internal/console/api", "internal/console/web", "internal/doctor", "internal/document", "internal/imagescale", "internal/jobs", "internal/latch", "internal/llm", "internal/llm/offline", "internal/llm/provider", "internal/pubsub", "internal/pubsub/inproc", "internal/pubsub/pgnotify", "internal/pubsub/redis", "internal/redact", "internal/store/blobs", "internal/store/engine", "internal/store/postgres", "internal/store/sqlite", "internal/store/sqlstore", "internal/systemd", "internal/telemetry", "internal/textformat", "internal/timezone", "shell", "spaces"}, "it joins all parts, and knows no command"},
	{"cmd/trestle/internal/replay", []string{"activity", "activity/access", "adapters", "adapters/local", "cmd/trestle/internal/storeopen", "hud", "hud/recall", "internal/store/sqlite", "internal/store/sqlstore", "shell", "spaces"}, "a replay is a process of its own, without platforms or models"},
	{"cmd/trestle/internal/cli", []string{"cmd/trestle/internal/settingsdesk", "shell/prompts", "activity", "adapters", "adapters/fake", "adapters/fake/discord", "adapters/fake/slack", "adapters/fake/telegram", "adapters/telegram", "cmd/trestle/internal/apperr", "cmd/trestle/internal/backup", "cmd/trestle/internal/buildinfo", "cmd/trestle/internal/control", "cmd/trestle/internal/history", "cmd/trestle/internal/replay", "cmd/trestle/internal/server", "cmd/trestle/internal/storeopen", "cmd/trestle/internal/terminal", "cmd/trestle/internal/textout", "cmd/trestle/internal/toolbox", "hud", "hud/recall", "internal/alerts", "internal/config", "internal/console", "internal/console/api", "internal/console/web", "internal/demo", "internal/doctor", "internal/jobs", "internal/latch", "internal/llm", "internal/llm/offline", "internal/mcpserver", "internal/pubsub", "internal/redact", "internal/setup", "internal/skills", "internal/store/engine", "internal/store/postgres", "internal/store/readmodel", "internal/store/sqlite", "internal/store/sqlstore", "internal/systemd", "internal/textformat", "shell", "spaces"}, "a command may use everything, and nothing uses a command"},
	{"cmd/trestle", []string{"cmd/trestle/internal/cli"}, "the program is its command line"},
}

// barredInTests are packages that not even a test may import: programs, which
// nothing may depend on. Otherwise a test may import what it needs to build its world.
var barredInTests = []string{"cmd/...", "internal/crashtest/...", "internal/bench/...", "internal/parity", "internal/archtest"}

func TestImportsFollowTheTable(t *testing.T) {
	report(t, "These imports are not in the table (rows, in internal/archtest/imports_test.go); an arrow is added there with its reason, or not at all:",
		strayImports(load(t), rows))
}

func strayImports(tr tree, rows []row) []string {
	var stray []string
	for folder, files := range tr.packages() {
		r, listed := rowOf(folder, rows)
		if !listed {
			stray = append(stray, fmt.Sprintf("%s: the package has no row", folder))
			continue
		}
		for _, f := range files {
			for imported, at := range f.imports() {
				theirs, ours := strings.CutPrefix(imported, module+"/")
				if !ours || theirs == folder {
					continue
				}
				switch {
				case f.test && !strings.HasPrefix(theirs, folder+"/") && !siblings(theirs, folder) && matchesAny(theirs, barredInTests):
					stray = append(stray, fmt.Sprintf("%s: %s is a program; not even a test imports it", at, theirs))
				case !f.test && !matchesAny(theirs, r.may):
					stray = append(stray, fmt.Sprintf("%s: %s may import %s of ours, not %s: %s", at, folder, list(r.may), theirs, r.why))
				}
			}
		}
	}
	slices.Sort(stray)
	return stray
}

// siblings reports whether two folders belong to one program of cmd.
func siblings(a, b string) bool { return strings.HasPrefix(a, "cmd/") && strings.HasPrefix(b, "cmd/") }

func rowOf(folder string, rows []row) (row, bool) {
	for _, r := range rows {
		if matches(folder, r.pkg) {
			return r, true
		}
	}
	return row{}, false
}

func matchesAny(folder string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(folder, p) })
}

func matches(folder, pattern string) bool {
	above, all := strings.CutSuffix(pattern, "...")
	if !all {
		return folder == pattern
	}
	return above == "" || folder+"/" == above || strings.HasPrefix(folder, above)
}

func list(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}

func TestEveryRowHasAReasonAndAPlace(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range rows {
		if r.why == "" {
			t.Errorf("%s: no reason", r.pkg)
		}
		if seen[r.pkg] {
			t.Errorf("%s: two rows", r.pkg)
		}
		seen[r.pkg] = true
		for _, may := range r.may {
			if _, listed := rowOf(strings.TrimSuffix(may, "/..."), rows); !listed && may != "..." && may != "internal/store" {
				t.Errorf("%s may import %s, which has no row", r.pkg, may)
			}
		}
	}
}

// An arrow that closes a circle would make the direction of the tree a matter
// of taste. The go command refuses circles between packages; the table refuses
// them before there is code.
func TestTableHasNoCircle(t *testing.T) {
	above := map[string][]string{}
	for _, r := range rows {
		for _, other := range rows {
			if r.pkg != other.pkg && matchesAny(strings.TrimSuffix(other.pkg, "/..."), r.may) {
				above[r.pkg] = append(above[r.pkg], other.pkg)
			}
		}
	}
	done := map[string]bool{}
	var visit func(pkg string, way []string)
	visit = func(pkg string, way []string) {
		if slices.Contains(way, pkg) {
			t.Fatalf("circle: %s", strings.Join(append(way, pkg), " → "))
		}
		if done[pkg] {
			return
		}
		for _, next := range above[pkg] {
			visit(next, append(slices.Clone(way), pkg))
		}
		done[pkg] = true
	}
	for _, pkg := range slices.Sorted(maps.Keys(above)) {
		visit(pkg, nil)
	}
}

func TestStrayImportIsNamedWithItsPlace(t *testing.T) {
	tr := parse(t, map[string]string{
		"hud/fit.go":          "package hud\n\nimport _ \"" + module + "/spaces\"\n",
		"hud/clock.go":        "package hud\n\nimport _ \"" + module + "/shell\"\n",
		"hud/fit_test.go":     "package hud\n\nimport _ \"" + module + "/adapters/fake\"\n",
		"hud/scene_test.go":   "package hud\n\nimport _ \"" + module + "/cmd/trestle\"\n",
		"spaces/deep/deep.go": "package deep\n",
		"cmd/trestle/main.go": "package main\n\nimport _ \"" + module + "/cmd/trestle/internal/cli\"\n",
	})
	var got []string
	for _, s := range strayImports(tr, rows) {
		at, _, _ := strings.Cut(s, ": ")
		got = append(got, at)
	}
	want := []string{"hud/clock.go:3", "hud/scene_test.go:3", "spaces/deep"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stray imports (-want +got):\n%s", diff)
	}
}
