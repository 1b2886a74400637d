package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

// Limits on how much one thing holds. They keep a type and a package small enough
// to be understood at once; a limit on the length of files alone would only spread
// one idea over many of them.
const (
	maxMethods     = 40  // of one type
	maxTypeFiles   = 8   // that hold methods of one type
	maxFiles       = 50  // of one package, tests apart
	maxFields      = 25  // of one struct
	maxInterface   = 5   // methods of one interface, embedded ones apart
	maxNesting     = 4   // of blocks within one function
	minMedianLines = 120 // the median length of all files
	maxExceptions  = 28  // falls with each type that is split; the aim is 20
)

// exceptions lists what may be over a limit, with the reason. A key is
// "folder.Type: limit" or "folder: limit", as a finding prints it. An entry that is
// no longer needed fails the test.
var exceptions = map[string]string{
	"activity.Egress: methods":                                "the way out of one account; split off the drafts",
	"activity.Outbox: interface methods":                      "the way out of one account; split off the drafts",
	"adapters/adaptertest.SuiteFixture: fields":               "a case of the suite fills in what its platform needs",
	"adapters/discord.receiver: files":                        "one decoder for each kind of update; split it by the kinds",
	"adapters/discord.receiver: methods":                      "one decoder for each kind of update; split it by the kinds",
	"adapters/telegram.Client: files":                         "one decoder for each kind of update; split it by the kinds",
	"adapters/telegram.exportMessage: fields":                 "the fields of Telegram's export",
	"internal/config.Config: fields":                          "the keys of the file; split them by their sections",
	"internal/config.ResolvedSettings: fields":                "the keys of the file; split them by their sections",
	"internal/config.decoder: methods":                        "the keys of the file; split them by their sections",
	"internal/store/engine.ClusterEngine: interface methods":  "a transaction has a beginning, an end and marks between",
	"internal/store/engine.WriteSession: interface methods":   "a transaction has a beginning, an end and marks between",
	"internal/store/readmodel.ReadModel: files":               "reads for pages, audit and metrics; split it by the reader",
	"internal/store/storetest.BridgeStore: interface methods": "the suite sees a store whole",
	"internal/store/storetest.world: files":                   "the suite sees a store whole",
	"internal/store/storetest.world: methods":                 "the suite sees a store whole",
	"shell.LogReader: interface methods":                      "one run on one type; split it by budget, drafts, images, speech and transcript",
	"shell.AgentSettings: fields":                             "one run on one type; split it by budget, drafts, images, speech and transcript",
	"shell.Shell: files":                                      "one run on one type; split it by budget, drafts, images, speech and transcript",
	"shell.Shell: methods":                                    "one run on one type; split it by budget, drafts, images, speech and transcript",
	"shell.cycle: fields":                                     "one run on one type; split it by budget, drafts, images, speech and transcript",
	"shell.cycle: files":                                      "one run on one type; split it by budget, drafts, images, speech and transcript",
	"shell.cycle: methods":                                    "one run on one type; split it by budget, drafts, images, speech and transcript",
	"shell.mind: fields":                                      "one run on one type; split it by budget, drafts, images, speech and transcript",
	"shell.mind: files":                                       "one run on one type; split it by budget, drafts, images, speech and transcript",
	"shell.mind: methods":                                     "one run on one type; split it by budget, drafts, images, speech and transcript",
	"shell: files":                                            "one run on one type; split it by budget, drafts, images, speech and transcript",
	"spaces.Action: fields":                                   "the row of the outbox",
}

func TestTypesAndPackagesAreSmall(t *testing.T) {
	report(t, "Split these by what they do, or give a reason in exceptions (internal/archtest/shape_test.go):",
		oversized(load(t).program(), exceptions))
	if len(exceptions) > maxExceptions {
		t.Errorf("%d exceptions, limit %d", len(exceptions), maxExceptions)
	}
}

func TestMedianFileIsLongEnough(t *testing.T) {
	var lines []int
	for _, f := range load(t).program() {
		lines = append(lines, f.lines)
	}
	slices.Sort(lines)
	if m := lines[len(lines)/2]; m < minMedianLines {
		t.Errorf("half of %d files have fewer than %d lines, want %d: merge files that hold parts of one idea", len(lines), m, minMedianLines)
	}
}

// oversized returns what is over a limit and not allowed, and what is allowed
// without need.
func oversized(tr tree, allowed map[string]string) []string {
	var found []string
	used := map[string]bool{}
	check := func(what, limit string, n, most int) {
		if n <= most {
			return
		}
		key := what + ": " + limit
		used[key] = true
		if allowed[key] == "" {
			found = append(found, fmt.Sprintf("%s: %d, limit %d", key, n, most))
		}
	}
	for folder, files := range tr.packages() {
		check(folder, "files", len(files), maxFiles)
		methods, homes := map[string]int{}, map[string]map[string]bool{}
		for _, f := range files {
			for _, d := range f.ast.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					name := folder + "." + d.Name.Name
					if d.Recv != nil {
						r := receiver(d)
						name = folder + "." + r + "." + d.Name.Name
						methods[r]++
						if homes[r] == nil {
							homes[r] = map[string]bool{}
						}
						homes[r][f.path] = true
					}
					if d.Body != nil {
						check(name, "nesting", nesting(d.Body), maxNesting)
					}
				case *ast.GenDecl:
					for _, s := range d.Specs {
						checkSpec(folder, s, check)
					}
				}
			}
		}
		for r, n := range methods {
			check(folder+"."+r, "methods", n, maxMethods)
			check(folder+"."+r, "files", len(homes[r]), maxTypeFiles)
		}
	}
	for key := range allowed {
		if !used[key] {
			found = append(found, key+": is in exceptions without need")
		}
	}
	slices.Sort(found)
	return found
}

func checkSpec(folder string, s ast.Spec, check func(what, limit string, n, most int)) {
	ts, ok := s.(*ast.TypeSpec)
	if !ok {
		return
	}
	switch t := ts.Type.(type) {
	case *ast.StructType:
		n := 0
		for _, f := range t.Fields.List {
			n += max(1, len(f.Names))
		}
		check(folder+"."+ts.Name.Name, "fields", n, maxFields)
	case *ast.InterfaceType:
		n := 0
		for _, m := range t.Methods.List {
			n += len(m.Names)
		}
		check(folder+"."+ts.Name.Name, "interface methods", n, maxInterface)
	}
}

// nesting returns how deep the blocks of a body stand in each other. The cases of a
// switch count with it as one, else-if chains as one, and function literals begin anew.
func nesting(body ast.Node) int {
	deepest := 0
	var visit func(n ast.Node, depth int)
	children := func(n ast.Node, depth int) {
		ast.Inspect(n, func(c ast.Node) bool {
			if c == n || c == nil {
				return true
			}
			visit(c, depth)
			return false
		})
	}
	visit = func(n ast.Node, depth int) {
		switch n := n.(type) {
		case *ast.IfStmt:
			deepest = max(deepest, depth+1)
			children(n.Body, depth+1)
			if n.Else != nil {
				if e, ok := n.Else.(*ast.IfStmt); ok {
					visit(e, depth)
				} else {
					children(n.Else, depth+1)
				}
			}
		case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
			deepest = max(deepest, depth+1)
			children(n, depth+1)
		case *ast.FuncLit:
			children(n, 0)
		default:
			children(n, depth)
		}
	}
	children(body, 0)
	return deepest
}

// Shares of one-word names that are neither in the glossary nor usual in Go.
const (
	maxOneWordTypes     = 14 // per cent of exported types
	maxOneWordFunctions = 30 // per cent of package-level functions
	maxSameName         = 2  // packages with an exported type of one name
	maxSameNames        = 0  // names in more packages
)

// usual are type names that may stand in many packages, since each package means
// its own by them as Go packages do.
var usual = []string{"Options", "Client", "Store", "Config", "Error", "Adapter", "Server", "Handler"}

// TestNamesSayWhatTheyMean holds the share of names that a newcomer cannot guess.
// A word of ARCHITECTURE.md, "Words", is known; everything else takes two.
func TestNamesSayWhatTheyMean(t *testing.T) {
	known := glossary(t)
	types, functions := oneWord(load(t).program(), known)
	if p := types.percent(); p > maxOneWordTypes {
		t.Errorf("%d %% of exported types have one word outside the glossary, limit %d %%:\n  %s", p, maxOneWordTypes, strings.Join(types.short, "\n  "))
	}
	if p := functions.percent(); p > maxOneWordFunctions {
		t.Errorf("%d %% of functions have one word, limit %d %%:\n  %s", p, maxOneWordFunctions, strings.Join(functions.short, "\n  "))
	}
	if same := sameNames(load(t).program(), known); len(same) > maxSameNames {
		report(t, fmt.Sprintf("At most %d type names may be in more than %d packages, apart from %s:", maxSameNames, maxSameName, strings.Join(usual, ", ")), same)
	}
}

// names counts names, and keeps those of one word.
type nameCount struct {
	all   int
	short []string
}

func (n nameCount) percent() int { return 100 * len(n.short) / max(1, n.all) }

func oneWord(tr tree, known map[string]bool) (types, functions nameCount) {
	for _, f := range tr {
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil || d.Name.Name == "main" || d.Name.Name == "init" {
					continue
				}
				functions.all++
				if words(d.Name.Name) == 1 && !known[strings.ToLower(d.Name.Name)] {
					functions.short = append(functions.short, f.pkg+"."+d.Name.Name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					ts, ok := s.(*ast.TypeSpec)
					if !ok || !ts.Name.IsExported() {
						continue
					}
					types.all++
					if words(ts.Name.Name) == 1 && !known[strings.ToLower(ts.Name.Name)] {
						types.short = append(types.short, f.pkg+"."+ts.Name.Name)
					}
				}
			}
		}
	}
	slices.Sort(types.short)
	slices.Sort(functions.short)
	return types, functions
}

func sameNames(tr tree, known map[string]bool) []string {
	homes := map[string]map[string]bool{}
	for _, f := range tr {
		for _, d := range f.ast.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE {
				continue
			}
			for _, s := range g.Specs {
				name := s.(*ast.TypeSpec).Name.Name
				if !ast.IsExported(name) || slices.Contains(usual, name) || known[strings.ToLower(name)] {
					continue
				}
				if homes[name] == nil {
					homes[name] = map[string]bool{}
				}
				home := f.pkg
				if strings.HasPrefix(home, "adapters/fake/") {
					home = "adapters/fake" // three loopback platforms that are driven alike
				}
				homes[name][home] = true
			}
		}
	}
	var found []string
	for name, in := range homes {
		if len(in) > maxSameName {
			found = append(found, name+": "+strings.Join(slices.Sorted(maps.Keys(in)), ", "))
		}
	}
	slices.Sort(found)
	return found
}

// words counts the words of a name in camel case; an initialism is one.
func words(name string) int {
	n := 0
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case i == 0:
			n++
		case unicode.IsUpper(r) && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			n++
		}
	}
	return n
}

var boldWord = regexp.MustCompile(`\*\*([A-Za-z]+)\*\*`)

// glossary returns the words that ARCHITECTURE.md defines, in lower case.
func glossary(t *testing.T) map[string]bool {
	t.Helper()
	known := map[string]bool{}
	walk(t, func(name string) bool { return name == "ARCHITECTURE.md" }, func(_, text string) {
		_, rest, _ := strings.Cut(text, "\n## Words\n")
		section, _, _ := strings.Cut(rest, "\n## ")
		for _, m := range boldWord.FindAllStringSubmatch(section, -1) {
			known[strings.ToLower(m[1])] = true
		}
	})
	if len(known) < 10 {
		t.Fatalf("ARCHITECTURE.md defines %d words, want the glossary", len(known))
	}
	return known
}

func TestOversizedIsFound(t *testing.T) {
	deep := "if x {\nfor {\nswitch {\ncase x:\nif x {\nif x {\n}\n}\n}\n}\n}\n"
	methods := strings.Repeat("func (w Wide) m() {}\n", maxMethods+1)
	fields := "type Full struct {\n" + strings.Repeat("\tX int\n", maxFields+1) + "}\n"
	port := "type Port interface {\n" + strings.Repeat("\tM()\n", maxInterface+1) + "}\n"
	tr := parse(t, map[string]string{
		"hud/a.go": "package hud\n\ntype Wide struct{}\n" + methods + fields + port + "func deep(x bool) {\n" + deep + "}\n" +
			"func flat(x bool) {\nif x {\n} else if x {\n} else if x {\n} else if x {\n} else if x {\n}\nfunc() {\n" + "if x {\n}\n" + "}()\n}\n",
	})
	got := oversized(tr, map[string]string{"hud.Port: interface methods": "the whole contract", "hud.Gone: fields": "a table"})
	want := []string{
		"hud.Full: fields: 26, limit 25", "hud.Gone: fields: is in exceptions without need",
		"hud.Wide: methods: 41, limit 40", "hud.deep: nesting: 5, limit 4",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("oversized (-want +got):\n%s", diff)
	}
}

func TestOneWordNamesAreFound(t *testing.T) {
	text := "\n\ntype Line struct{}\ntype Wake struct{}\ntype SendTarget struct{}\nfunc keep() {}\nfunc keepLine() {}\n"
	tr := parse(t, map[string]string{"a/a.go": "package a" + text, "b/b.go": "package b" + text, "c/c.go": "package c" + text})
	types, functions := oneWord(tr, map[string]bool{"wake": true})
	if len(types.short) != 3 || types.percent() != 33 || len(functions.short) != 3 || functions.percent() != 50 {
		t.Errorf("one word: got %v and %v, want Line and keep of each package", types, functions)
	}
	want := []string{"Line: a, b, c", "SendTarget: a, b, c", "Wake: a, b, c"}
	if diff := cmp.Diff(want, sameNames(tr, nil)); diff != "" {
		t.Errorf("same names (-want +got):\n%s", diff)
	}
	for name, want := range map[string]int{"Line": 1, "URL": 1, "HTTPClient": 2, "sendTarget": 2, "newURLReader": 3} {
		if got := words(name); got != want {
			t.Errorf("words of %s: got %d, want %d", name, got, want)
		}
	}
}
