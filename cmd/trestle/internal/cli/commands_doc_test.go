package cli

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// answerTypes are the Go types of what commands answer with -o json, or, after
// a dash, why there is none. Their comments are the contract's words.
var answerTypes = map[string]string{
	"trestle":              "cli.statusAnswer",
	"run":                  "console.Boot",
	"chat":                 "- it is a conversation: what the agents say, a line each",
	"doctor":               "doctor.CheckReport",
	"problems":             "[]cli.problemRow",
	"adapters":             "[]cli.adapterRow",
	"problems ack":         "server.AckResult",
	"status":               "cli.statusAnswer",
	"spaces":               "[]api.SpaceRow",
	"runs":                 "[]api.RunRow",
	"explain":              "api.RunAnswer",
	"rehearse":             "cli.rehearsalAnswer",
	"hud":                  "cli.hudAnswer",
	"events":               "[]cli.eventRow",
	"backup":               "cli.checkedBackup",
	"restore":              "cli.restoredAnswer",
	"migrate":              "cli.migratedAnswer",
	"move":                 "cli.movedAnswer",
	"report":               "cli.reportAnswer",
	"pair":                 "console.AdmittedPerson",
	"open":                 "cli.openAnswer",
	"mcp":                  "- it speaks the Model Context Protocol",
	"token":                "- it needs another word",
	"token add":            "console.NewToken",
	"token list":           "[]console.TokenRow",
	"token revoke":         "cli.revokedToken",
	"jobs":                 "[]jobs.JobSnapshot",
	"jobs show":            "jobs.JobSnapshot",
	"jobs pause":           "jobs.JobSnapshot",
	"jobs resume":          "jobs.JobSnapshot",
	"jobs cancel":          "jobs.JobSnapshot",
	"init":                 "- it asks and writes, and then examines as doctor does",
	"config":               "- it needs another word",
	"config check":         "cli.checkedConfig",
	"config set":           "cli.changedConfig",
	"config undo":          "cli.changedConfig",
	"config unset":         "cli.changedConfig",
	"config schema":        "- it is JSON itself, whatever -o says",
	"import":               "- it needs another word",
	"backfill":             "jobs.JobSnapshot",
	"import telegram":      "jobs.JobSnapshot",
	"config show":          "[]config.ShownValue",
	"memory":               "api.MemoryAnswer",
	"memory forget":        "server.MemoryChange",
	"memory correct":       "server.MemoryChange",
	"search":               "[]api.FoundRow",
	"spaces show":          "cli.shownSpace",
	"runs show":            "api.RunAnswer",
	"replay":               "cli.replayAnswer",
	"denials":              "[]api.DenialRow",
	"missions":             "[]spaces.Mission",
	"missions show":        "console.MissionRecord",
	"missions checkpoints": "[]spaces.MissionCheckpoint",
	"missions start":       "spaces.Mission",
	"missions pause":       "spaces.Mission",
	"missions resume":      "spaces.Mission",
	"missions cancel":      "spaces.Mission",
	"denials allow":        "cli.grantAnswer",
	"tools":                "api.ToolsAnswer",
	"tools diff":           "api.ToolsDiff",
	"tools servers":        "console.OutsideTools",
	"tools accept":         "console.AcceptedTools",
	"tools call":           "server.ToolTrialResult",
	"skills":               "cli.skillsAnswer",
	"skills check":         "cli.skillsAnswer",
	"skills show":          "cli.skillText",
	"approvals":            "console.Approvals",
	"approvals allow":      "console.ApprovalOutcome",
	"approvals deny":       "console.ApprovalOutcome",
	"approvals revoke":     "console.ApprovalOutcome",
	"prompts":              "- it needs another word",
	"prompts list":         "api.PromptsAnswer",
	"prompts show":         "api.PromptText",
	"prompts diff":         "api.PromptDiff",
	"prompts activate":     "prompts.PromptChange",
	"prompts rollback":     "prompts.PromptChange",
	"fake":                 "- it needs another word",
	"fake discord":         "- it serves until it is stopped",
	"fake slack":           "- it serves until it is stopped",
	"fake telegram":        "- it serves until it is stopped",
	"version":              "buildinfo.BuildInfo",
}

const (
	commandsBegin = "<!-- commands: written by `go test ./cmd/trestle/internal/cli -run Commands -update` -->\n"
	commandsEnd   = "<!-- end of commands -->\n"
)

// ECOSYSTEM 3.1, 9: the reference is made of the program itself; JSON answers
// are a contract whose words are the comments of the types.
func TestCommandsPageIsTheProgramsOwn(t *testing.T) {
	types := parseTypes(t)
	root := stage{}.program(nil, nil, nil).Command()
	var want strings.Builder
	described := map[string]bool{}
	for _, name := range commandNames(root) {
		answer, known := answerTypes[name]
		if !known {
			t.Errorf("the answer of %q is not in answerTypes", name)
		}
		c, _, err := root.Find(strings.Fields(strings.TrimPrefix(name, "trestle")))
		testutil.OK(t, err)
		if goType := strings.TrimPrefix(answer, "[]"); !strings.HasPrefix(answer, "- ") && types[goType] == nil {
			t.Errorf("%q answers with %s, which is no type of the packages that parseTypes reads", name, goType)
		}
		describeCommand(&want, c, name, answer, types, described)
	}
	page := filepath.Join("..", "..", "..", "..", "docs", "commands.md")
	text, err := os.ReadFile(page)
	testutil.OK(t, err)
	before, rest, ok := strings.Cut(string(text), commandsBegin)
	got, after, ended := strings.Cut(rest, commandsEnd)
	if !ok || !ended {
		t.Fatalf("%s has lost the marks around its commands", page)
	}
	if *update {
		testutil.OK(t, os.WriteFile(page, []byte(before+commandsBegin+want.String()+commandsEnd+after), 0o600))
		return
	}
	if diff := cmp.Diff(want.String(), got); diff != "" {
		t.Errorf("docs/commands.md; write it with: go test ./cmd/trestle/internal/cli -run Commands -update (-program +page)\n%s", diff)
	}
}

func describeCommand(w *strings.Builder, c *cobra.Command, name, answer string, types goTypes, described map[string]bool) {
	title := "trestle"
	if name != "trestle" {
		title += " " + name
	}
	fmt.Fprintf(w, "\n## %s\n\n", title)
	text := c.Long
	if text == "" {
		text = strings.ToUpper(c.Short[:1]) + c.Short[1:] + "."
	}
	fmt.Fprintf(w, "%s\n\n```\n%s\n```\n", strings.ReplaceAll(text, "\n", " "), c.UseLine())
	flags := regexp.MustCompile(`(?m)^.*help for .*\n`).ReplaceAllString(c.LocalNonPersistentFlags().FlagUsages(), "")
	if flags != "" {
		fmt.Fprintf(w, "\n```\n%s```\n", flags)
	}
	if why, none := strings.CutPrefix(answer, "- "); none {
		fmt.Fprintf(w, "\nNo JSON: %s.\n", why)
		return
	}
	element, list := strings.CutPrefix(answer, "[]")
	what := "`-o json` is an object"
	if list {
		what = "`-o json` is an array, `-o jsonl` a line for each, of"
	}
	if described[element] {
		fmt.Fprintf(w, "\n%s as above (`%s`).\n", what, element)
		return
	}
	described[element] = true
	fmt.Fprintf(w, "\n%s (`%s`):\n\n| field | is | |\n| --- | --- | --- |\n", what, element)
	types.describe(w, element, "", map[string]bool{})
}

// goTypes are the types of the packages whose values are answers, by
// "package.Name".
type goTypes map[string]*ast.TypeSpec

func parseTypes(t *testing.T) goTypes {
	t.Helper()
	types := goTypes{}
	for _, folder := range []string{".", "../server", "../buildinfo", "../storeopen", "../../../../internal/console", "../../../../internal/console/api", "../../../../adapters", "../../../../internal/jobs", "../../../../internal/config", "../../../../internal/doctor", "../../../../internal/alerts", "../../../../spaces", "../../../../shell/prompts", "../../../../activity"} {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		testutil.OK(t, err)
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
			testutil.OK(t, err)
			for _, d := range file.Decls {
				if g, ok := d.(*ast.GenDecl); ok {
					for _, s := range g.Specs {
						if spec, ok := s.(*ast.TypeSpec); ok {
							types[file.Name.Name+"."+spec.Name.Name] = spec
						}
					}
				}
			}
		}
	}
	return types
}

// describe writes a row for each field of a struct, and of the structs in it.
func (y goTypes) describe(w *strings.Builder, name, prefix string, within map[string]bool) {
	spec := y[name]
	if spec == nil || within[name] {
		return
	}
	within[name] = true
	defer delete(within, name)
	fields, ok := spec.Type.(*ast.StructType)
	if !ok {
		return
	}
	home, _, _ := strings.Cut(name, ".")
	for _, f := range fields.Fields.List {
		tag := ""
		if f.Tag != nil {
			tag = reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json")
		}
		key, _, _ := strings.Cut(tag, ",")
		if key == "-" {
			continue
		}
		is, inner := y.kind(f.Type, home)
		if len(f.Names) == 0 && key == "" {
			y.describe(w, inner, prefix, within)
			continue
		}
		for _, n := range f.Names {
			if !n.IsExported() {
				continue
			}
			field := prefix + key
			if key == "" {
				field = prefix + n.Name
			}
			fmt.Fprintf(w, "| `%s` | %s | %s |\n", field, is, words(f))
			if strings.HasPrefix(is, "array") {
				field += "[]"
			}
			y.describe(w, inner, field+".", within)
		}
	}
}

// words are the comment of a field, in one line.
func words(f *ast.Field) string {
	text := f.Doc.Text() + f.Comment.Text()
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", "\\|")
}

// kind says what a type is in JSON, and which struct of ours is inside.
func (y goTypes) kind(e ast.Expr, home string) (is, inner string) {
	switch e := e.(type) {
	case *ast.StarExpr:
		is, inner = y.kind(e.X, home)
		return is + " or null", inner
	case *ast.ArrayType:
		if id, ok := e.Elt.(*ast.Ident); ok && id.Name == "byte" {
			return "base64", ""
		}
		is, inner = y.kind(e.Elt, home)
		return "array of " + is, inner
	case *ast.MapType:
		is, inner = y.kind(e.Value, home)
		return "object of " + is, inner
	case *ast.SelectorExpr:
		name := e.X.(*ast.Ident).Name + "." + e.Sel.Name
		switch name {
		case "time.Time":
			return "time", ""
		case "time.Duration":
			return "nanoseconds", ""
		case "json.RawMessage":
			return "any JSON", ""
		}
		return y.named(name)
	case *ast.Ident:
		switch e.Name {
		case "string":
			return "string", ""
		case "bool":
			return "boolean", ""
		case "int", "int64", "int32", "uint64", "float64", "uint32":
			return "number", ""
		}
		return y.named(home + "." + e.Name)
	}
	return "object", ""
}

func (y goTypes) named(name string) (is, inner string) {
	spec := y[name]
	if spec == nil {
		return "object", ""
	}
	home, _, _ := strings.Cut(name, ".")
	if _, ok := spec.Type.(*ast.StructType); ok {
		return "object", name
	}
	if _, ok := spec.Type.(*ast.InterfaceType); ok {
		return "object", ""
	}
	return y.kind(spec.Type, home)
}

// The page says which exit codes there are; flag is here for its -update.
func TestCommandsPageNamesEveryExitCode(t *testing.T) {
	if flag.Lookup("update") == nil {
		t.Fatal("the page could not be written")
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "commands.md"))
	testutil.OK(t, err)
	for _, code := range []apperr.ExitCode{apperr.Done, apperr.Failed, apperr.Usage, apperr.TryAgain, apperr.BadConfig, apperr.Interrupted} {
		if !strings.Contains(string(text), "| "+code.String()+" |") {
			t.Errorf("exit code %s is not explained", code)
		}
	}
}

// ECOSYSTEM 9: the page about silence has every reason that explain --silence gives.
func TestThePageOfSilenceHasEveryReason(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "silent.md"))
	testutil.OK(t, err)
	for reason := range verdicts {
		if !strings.Contains(string(text), "`"+reason+"`") {
			t.Errorf("docs/silent.md does not explain %s", reason)
		}
	}
}

// commandNames returns the names of all commands that can be called, the root
// itself as "trestle".
func commandNames(root *cobra.Command) []string {
	names := []string{root.Name()}
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		for _, below := range c.Commands() {
			if below.Name() == "help" || below.Name() == "completion" || below.Hidden {
				continue
			}
			names = append(names, strings.TrimPrefix(below.CommandPath(), root.Name()+" "))
			visit(below)
		}
	}
	visit(root)
	return names
}
