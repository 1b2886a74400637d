package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/toolbox"
	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/skills"
	"github.com/trestle-bridge/trestle/internal/textformat"
)

// skillsCommand answers `trestle skills`.
type skillsCommand struct{ installation }

func newSkillsCommand(env *Environment) *cobra.Command {
	cmd := skillsCommand{installation{env}}
	c := &cobra.Command{
		Use: "skills", Short: "list the skills that agents can be granted", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return cmd.list() },
	}
	c.AddCommand(&cobra.Command{
		Use: "check [FOLDER…]", Short: "say which folders are no valid skills, and what could be better about others (default those of the configuration)",
		RunE: func(_ *cobra.Command, args []string) error { return cmd.check(args) },
	}, &cobra.Command{
		Use: "show SKILL", Short: "print the instructions of a skill, as agents read them", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return cmd.show(args[0]) },
	})
	return c
}

// A skillRow is a skill and who has it.
type skillRow struct {
	Name   string   `json:"name"`
	About  string   `json:"about"`
	Folder string   `json:"folder"`
	Agents []string `json:"agents"` // to which it is granted
	Tokens int      `json:"tokens"` // of its instructions, about
	Files  []string `json:"files"`  // besides SKILL.md
	Hash   string   `json:"hash"`   // of all its files
	Advice []string `json:"advice"` // what the format recommends otherwise
}

// A refusedRow is a folder that is no valid skill.
type refusedRow struct {
	Folder string `json:"folder"`
	Why    string `json:"why"`
}

// skillsAnswer are the skills of folders.
type skillsAnswer struct {
	Skills  []skillRow   `json:"skills"`
	Refused []refusedRow `json:"refused"`
}

// A skillText is a skill as agents read it.
type skillText struct {
	skillRow

	Text string `json:"text"`
}

// read reads the skills of folders; without any, those of the configuration.
func (cmd skillsCommand) read(folders []string) (*skills.SkillLibrary, skillsAnswer, error) {
	a := skillsAnswer{Skills: []skillRow{}, Refused: []refusedRow{}}
	conf, err := cmd.load()
	if err != nil {
		return nil, a, err
	}
	if len(folders) == 0 {
		folders = toolbox.SkillFolders(conf.Tools.Skills, filepath.Dir(conf.Path))
	}
	library := skills.ReadLibrary(folders)
	for _, s := range library.Skills {
		row := skillRow{s.Name, s.About, s.Path, []string{}, hud.Bound(s.Text), append([]string{}, s.Files...), s.Hash, append([]string{}, s.Advice...)}
		for _, agent := range conf.Agents {
			if toolbox.SkillGranted(agent.Tools, s.Name) {
				row.Agents = append(row.Agents, agent.ID)
			}
		}
		a.Skills = append(a.Skills, row)
	}
	for _, r := range library.Refused {
		a.Refused = append(a.Refused, refusedRow{r.Path, r.Why})
	}
	return library, a, nil
}

func (cmd skillsCommand) list() error {
	_, a, err := cmd.read(nil)
	if err != nil {
		return err
	}
	return cmd.answer(a, func(w io.Writer) {
		if len(a.Skills)+len(a.Refused) == 0 {
			fmt.Fprintln(w, "no skills are configured; see docs/skills.md")
			return
		}
		lines := [][]string{{"SKILL", "AGENTS", "TOKENS", "FILES", "DESCRIPTION"}}
		for _, s := range a.Skills {
			lines = append(lines, []string{s.Name, textout.OrDash(strings.Join(s.Agents, ", ")), strconv.Itoa(s.Tokens), strconv.Itoa(len(s.Files)), textformat.ClipRunes(s.About, 80)})
		}
		textout.WriteTable(w, lines)
		printRefused(w, a)
	})
}

func printRefused(w io.Writer, a skillsAnswer) {
	for _, r := range a.Refused {
		fmt.Fprintf(w, "refused: %s: %s\n", r.Folder, r.Why)
	}
}

func (cmd skillsCommand) check(folders []string) error {
	_, a, err := cmd.read(folders)
	if err != nil {
		return err
	}
	err = cmd.answer(a, func(w io.Writer) {
		for _, s := range a.Skills {
			if len(s.Advice) == 0 {
				fmt.Fprintf(w, "fine: %s\n", s.Folder)
			}
			for _, advice := range s.Advice {
				fmt.Fprintf(w, "advice: %s: %s\n", s.Folder, advice)
			}
		}
		printRefused(w, a)
	})
	if err == nil && len(a.Refused) > 0 {
		err = &reportedError{apperr.Failed}
	}
	return err
}

func (cmd skillsCommand) show(name string) error {
	library, a, err := cmd.read(nil)
	if err != nil {
		return err
	}
	for _, row := range a.Skills {
		if row.Name != name {
			continue
		}
		t := skillText{row, library.Skill(name).Text}
		return cmd.answer(t, func(w io.Writer) {
			fmt.Fprintf(w, "%s: %s\n\n%s\n", t.Name, t.About, t.Text)
			if len(t.Files) > 0 {
				fmt.Fprintf(w, "\nFILES: %s\n", strings.Join(t.Files, ", "))
			}
		})
	}
	return &apperr.Error{What: fmt.Sprintf("there is no skill %q", name), Where: "skills show", Remedy: "trestle skills lists them", Code: apperr.Failed}
}
