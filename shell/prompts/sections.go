// Package prompts holds the texts that models are told, as sections with versions.
// Version 1 of a section is built in; operators add others as files, and activate them
// for all agents or for one.
package prompts

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/textformat"
)

//go:embed *.md
var builtInFiles embed.FS

// A SectionMode says when a model is shown a section.
type SectionMode string

// The modes of sections.
const (
	AlwaysShown  SectionMode = "always"      // every call of a cycle: the system message
	TagsDialect  SectionMode = "tags"        // the same, where acts are written as tags
	OutsideTools SectionMode = "outside"     // the same, for agents with outside tools
	SkillsListed SectionMode = "skills"      // the same, for agents with skills: at the end
	WordAnswers  SectionMode = "words"       // the same, where plain text is delivered
	LookedUp     SectionMode = "asked"       // the agent looks it up
	EachPhase    SectionMode = "phase"       // contemplation and engagement: a line for each
	CrossSpace   SectionMode = "cross-space" // words for another space are composed
	RoomSetup    SectionMode = "onboarding"  // a room is new, or is set up
	OldAccounts  SectionMode = "compaction"  // old accounts are condensed
)

// A PromptSection is a part of what models are told.
type PromptSection struct {
	Name string
	Mode SectionMode
	// sample has a value for each placeholder; nil: the text is shown as it is.
	sample map[string]any
	needs  []string // placeholders that every version must show; of text shown as it is: beginnings of lines
}

// ofAgent has the placeholders of the system message.
var ofAgent = map[string]any{"Name": mark("Name"), "Entity": mark("Entity"), "Persona": mark("Persona")}

// ofSkills has those of the section about skills.
var ofSkills = map[string]any{"Name": mark("Name"), "Entity": mark("Entity"), "Persona": mark("Persona"), "Skills": mark("Skills")}

// sections are all sections, in the order of the system message.
var sections = []PromptSection{
	{"identity", AlwaysShown, ofAgent, []string{"Name", "Entity", "Persona"}},
	{"antipatterns", AlwaysShown, ofAgent, nil},
	{"instructions", AlwaysShown, ofAgent, nil},
	{"tools", AlwaysShown, ofAgent, nil},
	{"memories", AlwaysShown, ofAgent, nil},
	{"tags", TagsDialect, ofAgent, nil},
	{"memory", LookedUp, nil, nil},
	{"capabilities", LookedUp, nil, nil},
	{"outside", OutsideTools, ofAgent, nil},
	{"words", WordAnswers, ofAgent, nil},
	{"skills", SkillsListed, ofSkills, []string{"Skills"}},
	{"phases", EachPhase, nil, []string{"contemplation: ", "engagement: ", "one: "}},
	{"compose", CrossSpace, map[string]any{
		"Agent": mark("Agent"), "Entity": mark("Entity"), "Persona": mark("Persona"), "Instruction": mark("Instruction"), "Why": mark("Why"),
		"Origin": sampleRoom("Origin"), "Target": sampleRoom("Target"),
	}, []string{"Agent", "Persona", "Instruction", "Target.Name", "Target.Messages"}},
	{"offer", RoomSetup, nil, nil},
	{"setup", RoomSetup, nil, nil},
	{"digest", OldAccounts, map[string]any{"Words": mark("Words")}, []string{"Words"}},
}

// mark is the value of a placeholder in a sample.
func mark(placeholder string) string { return "⟨" + placeholder + "⟩" }

func sampleRoom(name string) map[string]any {
	return map[string]any{"Name": mark(name + ".Name"), "Members": []string{mark(name + ".Members")}, "Messages": []string{mark(name + ".Messages")}}
}

// AllSections returns every section, in the order of the system message.
func AllSections() []PromptSection { return slices.Clone(sections) }

// sectionOf returns the section of a name; nil if there is none.
func sectionOf(name string) *PromptSection {
	i := slices.IndexFunc(sections, func(s PromptSection) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &sections[i]
}

// SectionError is returned for what cannot be a version, or cannot be shown.
type SectionError struct{ What, Remedy string }

// Error implements error.
func (e *SectionError) Error() string {
	return strings.TrimSuffix(e.What+"; "+e.Remedy, "; ")
}

// unknownSection says that there is no section of a name.
func unknownSection(name string) error {
	names := make([]string, len(sections))
	for i, s := range sections {
		names[i] = s.Name
	}
	remedy := textformat.DidYouMean(name, names)
	if remedy == "" {
		remedy = "the sections are " + strings.Join(names, ", ")
	}
	return &SectionError{fmt.Sprintf("there is no section %q", name), remedy}
}

// parse makes a text the version of a section, or says why it cannot be one.
func (s *PromptSection) parse(number int, text string) (PromptVersion, error) {
	v := PromptVersion{Section: s.Name, Number: number, Text: strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))}
	if r, found := hud.FindHidden(v.Text); found {
		return v, &SectionError{fmt.Sprintf("it holds the character U+%04X, which a reader does not see", r), "remove it"}
	}
	if v.Text == "" {
		return v, &SectionError{"it is empty", "remove the file, or write the section"}
	}
	if s.sample == nil {
		return v, s.checkPlain(v.Text)
	}
	shown, err := tryPlaceholders(&v, s.sample)
	for _, need := range s.needs {
		if err == nil && !strings.Contains(shown, mark(need)) {
			err = &SectionError{"it does not show {{." + need + "}}", s.seeBuiltIn()}
		}
	}
	return v, err
}

// checkPlain returns why a text cannot be a version that is shown as it is.
func (s *PromptSection) checkPlain(text string) error {
	if strings.Contains(text, "{{") {
		return &SectionError{"it holds {{, and this section has no placeholders", "remove it"}
	}
	for _, need := range s.needs {
		if !strings.Contains("\n"+text, "\n"+need) {
			return &SectionError{fmt.Sprintf("no line of it begins with %q", need), s.seeBuiltIn()}
		}
	}
	return nil
}

func (s *PromptSection) seeBuiltIn() string { return "trestle prompts show " + s.Name + "@1 has it" }

// tryPlaceholders parses the text of a version as its template and returns what it makes of the sample.
// Where an agent comes from no room, and where nothing was said, it must work as well.
func tryPlaceholders(v *PromptVersion, sample map[string]any) (shown string, err error) {
	v.template, err = template.New(v.Section).Option("missingkey=error").Funcs(template.FuncMap{"join": joinNames}).Parse(v.Text)
	if err != nil {
		return "", placeholderError(err)
	}
	bare := map[string]any{}
	for name, value := range sample {
		if _, room := value.(map[string]any); room {
			value = map[string]any{"Name": "", "Members": []string{}, "Messages": []string{}}
		}
		bare[name] = value
	}
	if _, has := bare["Origin"]; has {
		bare["Origin"], bare["Why"] = nil, ""
	}
	for _, data := range []map[string]any{bare, sample} {
		var out strings.Builder
		if err := v.template.Execute(&out, data); err != nil {
			return "", placeholderError(err)
		}
		shown = out.String()
	}
	return shown, nil
}

// placeholderError says what is wrong with the placeholders of a text.
func placeholderError(err error) error {
	return &SectionError{"its placeholders cannot be filled in: " + strings.TrimPrefix(err.Error(), "template: "), "version 1 has those that there are"}
}

// joinNames is the function join of templates.
func joinNames(names []string) string {
	if len(names) == 0 {
		return "nobody"
	}
	return strings.Join(names, ", ")
}
