package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/demo"
	"github.com/trestle-bridge/trestle/internal/setup"
)

// attempts is how often an answer may be corrected.
const attempts = 5

// ask asks for what was not found and what no flag says, and tests each answer as it is entered.
// An empty answer takes the default that the question names.
func (s *initWizard) ask(ctx context.Context, plan *setup.InstallPlan) error {
	s.answers = bufio.NewReader(s.In)
	for _, step := range []func(context.Context, *setup.InstallPlan) error{s.askPlatforms, s.askModel, s.askAgent, s.askOwners} {
		if err := step(ctx, plan); err != nil {
			return err
		}
	}
	return nil
}

// askPlatforms asks which platforms there shall be beside those that were found.
func (s *initWizard) askPlatforms(ctx context.Context, plan *setup.InstallPlan) error {
	open := slices.DeleteFunc(setup.Platforms(), func(p setup.PlatformEntry) bool {
		return slices.ContainsFunc(plan.Accounts, func(a setup.AccountPlan) bool { return a.Type == p.Kind })
	})
	if len(open) == 0 {
		return nil
	}
	kinds, none := []string{}, "none: talk in the terminal only"
	for _, p := range open {
		kinds = append(kinds, p.Kind)
	}
	if len(plan.Accounts) > 0 {
		none = "no more"
	}
	for range attempts {
		text, err := s.question(ctx, fmt.Sprintf("\nOn which platforms shall your agent be? %s (one or more; empty: %s): ", withNumbers(kinds), none), false)
		if err != nil {
			return err
		}
		chosen, unknown := chooseFrom(kinds, text)
		if unknown != "" {
			s.talk("%q is none of them; write numbers or names, such as: 1 %s\n", unknown, kinds[len(kinds)-1])
			continue
		}
		for _, i := range chosen {
			if err := s.askAccount(ctx, plan, open[i]); err != nil {
				return err
			}
		}
		return nil
	}
	return s.enough("no platform was chosen")
}

// withNumbers writes what can be chosen, each with its number.
func withNumbers(all []string) string {
	var out []string
	for i, name := range all {
		out = append(out, fmt.Sprintf("%d %s", i+1, name))
	}
	return strings.Join(out, ", ")
}

// chooseFrom reads numbers and names, and returns their places, each once, and a word that is
// neither.
func chooseFrom(all []string, text string) (chosen []int, unknown string) {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
		i := slices.IndexFunc(all, func(name string) bool { return strings.EqualFold(name, word) })
		if n, err := strconv.Atoi(word); err == nil && n > 0 && n <= len(all) {
			i = n - 1
		}
		if i < 0 {
			return nil, word
		}
		if !slices.Contains(chosen, i) {
			chosen = append(chosen, i)
		}
	}
	return chosen, ""
}

// credentialNames are what platforms call their credentials, by the keys of the file.
var credentialNames = map[string]string{"token": "Token", "bot_token": "Bot token (xoxb-…)", "app_token": "App token (xapp-…)"}

// askAccount asks for the credentials of an account until the platform takes them.
func (s *initWizard) askAccount(ctx context.Context, plan *setup.InstallPlan, p setup.PlatformEntry) error {
	s.talk("\n%s: %s\n", p.Kind, p.Obtain)
	values := map[string]adapters.SecretString{}
	same := false
	for range attempts {
		if !same {
			if given, err := s.askCredentials(ctx, p, values); err != nil || !given {
				return err
			}
		}
		a := p.Account(func(variable string) adapters.SecretString {
			found, _ := s.Lookup(variable)
			return cmp.Or(values[variable], adapters.SecretString(found))
		})
		refused := s.tryAccount(ctx, a)
		faults := s.faults(ctx, a)
		for _, f := range faults {
			s.talk("%s: %s\n  do: %s\n", p.Kind, f.What, f.Mend)
		}
		choice, err := "y", error(nil)
		switch {
		case refused != nil:
			choice = "t"
			if len(faults) == 0 {
				s.talk("%v\n", refused)
			}
		case len(faults) > 0:
			choice, err = s.question(ctx, "Empty: it is mended, try again; t: type it anew; y: use it as it is: ", false)
		}
		if err != nil {
			return err
		}
		if isYes(choice) {
			plan.Accounts = append(plan.Accounts, a)
			return nil
		}
		same = choice == ""
	}
	return s.enough("no token was accepted")
}

// askCredentials asks for the credentials of a platform, those in values being the usual ones,
// and reports whether they were given.
func (s *initWizard) askCredentials(ctx context.Context, p setup.PlatformEntry, values map[string]adapters.SecretString) (bool, error) {
	for _, c := range p.Credentials {
		hint := "empty: without " + p.Kind
		if values[c.Name] != "" {
			hint = "empty: the same; -: without " + p.Kind
		}
		text, err := s.question(ctx, credentialNames[c.Key]+" ("+hint+"): ", true)
		switch {
		case err != nil:
			return false, err
		case text == "-" || text == "" && values[c.Name] == "":
			s.talk("%s is left out\n", p.Kind)
			return false, nil
		case text != "":
			values[c.Name] = adapters.SecretString(text)
			s.hidden().AddSecrets(values[c.Name])
		}
	}
	return true, nil
}

func isYes(text string) bool { return strings.EqualFold(text, "y") || strings.EqualFold(text, "yes") }

// faults returns what would keep an account from working, with what to do.
func (s *initWizard) faults(ctx context.Context, a setup.AccountPlan) []adapters.AccountDiagnosis {
	ctx, stop := context.WithTimeout(ctx, trying)
	defer stop()
	ad, err := s.adapter(a)
	if err != nil {
		return nil // it is refused
	}
	e, ok := ad.(adapters.AccountDiagnoser)
	if !ok {
		return nil
	}
	return slices.DeleteFunc(e.Examine(ctx, nil, false), func(f adapters.AccountDiagnosis) bool { return f.Level != adapters.Failure })
}

// A modelChoice is an answer to which model shall be used.
type modelChoice struct {
	name     string // as a person chooses it
	shown    string
	provider string
	base     string // empty: the provider's own, or asked for
	keys     string // where a key comes from; empty: no key, or asked for
	models   []string
}

// The choices whose address is not the provider's own.
const (
	choiceLocal = "local"
	choiceOther = "other"
)

func (s *initWizard) modelChoices(ctx context.Context) []modelChoice {
	all := []modelChoice{
		{name: "openai", shown: "OpenAI", provider: "openai", keys: "https://platform.openai.com/api-keys"},
		{name: "anthropic", shown: "Anthropic", provider: "anthropic", keys: "https://console.anthropic.com/settings/keys"},
		{name: "gemini", shown: "Gemini", provider: "gemini", keys: "https://aistudio.google.com/apikey"},
		{name: choiceOther, shown: "another endpoint that speaks OpenAI's chat completions", provider: "openai"},
	}
	if base := demo.Found(ctx, http.DefaultClient, s.Endpoints); base != "" {
		models, _ := demo.ListModels(ctx, http.DefaultClient, base, "") // it has listed them just now
		all = append(all, modelChoice{name: choiceLocal, shown: "on this machine, at " + base + ": " + strings.Join(models, ", "), provider: "openai", base: base, models: models})
	}
	return all
}

func (s *initWizard) askModel(ctx context.Context, plan *setup.InstallPlan) error {
	if plan.Model != nil {
		return nil
	}
	choices := s.modelChoices(ctx)
	names, usual := []string{}, "none: the built-in offline model"
	s.talk("\nWhich model shall think?\n")
	for i, c := range choices {
		names = append(names, c.name)
		s.talk("  %d %-10s %s\n", i+1, c.name, c.shown)
	}
	if choices[len(choices)-1].name == choiceLocal {
		usual = choiceLocal + "; none: the built-in offline model"
	}
	for range attempts {
		text, err := s.question(ctx, "Model (empty: "+usual+"): ", false)
		if err != nil {
			return err
		}
		if text == "" && usual != "none: the built-in offline model" {
			text = choiceLocal
		}
		if text == "" || text == "none" {
			return nil
		}
		chosen, unknown := chooseFrom(names, text)
		if strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://") {
			chosen, unknown = []int{slices.Index(names, choiceOther)}, ""
			choices[chosen[0]].base = text
		}
		if unknown != "" || len(chosen) != 1 {
			s.talk("choose one of %s\n", strings.Join(names, ", "))
			continue
		}
		if done, err := s.askEndpoint(ctx, plan, choices[chosen[0]]); done || err != nil {
			return err
		}
	}
	return s.enough("no model answered")
}

// askEndpoint asks for what a choice leaves open, and reports whether the model is to be used.
func (s *initWizard) askEndpoint(ctx context.Context, plan *setup.InstallPlan, c modelChoice) (done bool, err error) {
	key, name := "", ""
	if c.name == choiceOther && c.base == "" {
		if c.base, err = s.question(ctx, "Its address, such as https://api.example.com/v1: ", false); err != nil {
			return false, err
		}
	}
	for _, p := range config.Providers() {
		if set, ok := s.Lookup(p.BaseVariable); ok && p.Name == c.provider && c.base == "" {
			c.base = set
		}
	}
	switch {
	case c.keys != "":
		if key, err = s.question(ctx, "Key, from "+c.keys+" (empty: choose again): ", true); err != nil || key == "" {
			return false, err
		}
	case c.name == choiceOther && c.base == "":
		return false, nil
	case c.name == choiceOther:
		if key, err = s.question(ctx, "Its key (empty: none): ", true); err != nil {
			return false, err
		}
	}
	s.hidden().AddSecrets(adapters.SecretString(key))
	set, _ := s.Lookup("TRESTLE_MODEL")
	usual := cmp.Or(set, config.UsualModel(c.provider))
	switch {
	case len(c.models) > 0:
		usual = cmp.Or(set, c.models[0])
	case c.name == choiceOther:
		usual = cmp.Or(set, "the first that it lists")
	}
	if len(c.models) != 1 {
		if name, err = s.question(ctx, "Name of the model (empty: "+usual+"): ", false); err != nil {
			return false, err
		}
	}
	if name = cmp.Or(name, set); name == "" && c.name != choiceOther {
		name = usual
	}
	tried := &setup.InstallPlan{}
	tried.SetModel(c.provider, c.base, name, adapters.SecretString(key))
	answered, err := s.tryModel(ctx, tried.Model)
	if err != nil {
		s.talk("%v\n", err)
		return false, ctx.Err()
	}
	if !answered {
		text, err := s.question(ctx, "Use it all the same? y, or empty to choose again: ", false)
		if err != nil || !isYes(text) {
			return false, err
		}
	}
	plan.Model = tried.Model
	return true, nil
}

// The agent that is planned where nothing is said.
const defaultName = "Ada"

// Bounds of what is said of an agent.
const (
	longestName      = 40 // characters
	longestCharacter = 4000
)

// checkAgent returns why an agent cannot have the name or the character; empty ones are fine.
func checkAgent(name, character string) error {
	switch control := func(text string) bool { return strings.ContainsFunc(text, unicode.IsControl) }; {
	case !utf8.ValidString(name + character):
		return errors.New("the text is not UTF-8")
	case control(name) || strings.HasPrefix(name, "@"):
		return errors.New("a name holds no control characters and no @ before it")
	case utf8.RuneCountInString(name) > longestName:
		return fmt.Errorf("a name has at most %d characters: people write it to call the agent", longestName)
	case utf8.RuneCountInString(character) > longestCharacter:
		return fmt.Errorf("a character has at most %d characters here; write it into the file later", longestCharacter)
	}
	return nil
}

func (s *initWizard) askAgent(ctx context.Context, plan *setup.InstallPlan) error {
	for range attempts {
		var err error
		name, character := s.name, s.character
		if name == "" {
			if name, err = s.question(ctx, "\nName of your agent (empty: "+defaultName+"): ", false); err != nil {
				return err
			}
		}
		if character == "" {
			if character, err = s.question(ctx, "Its character: friendly, professional, technical, or in your words, such as \"You keep the calendar.\" (empty: friendly and careful): ", false); err != nil {
				return err
			}
		}
		if err := checkAgent(name, character); err != nil {
			s.talk("%v\n", err)
			continue
		}
		plan.SetAgent(cmp.Or(name, defaultName), character)
		return nil
	}
	return s.enough("no name was accepted")
}

// userIDs are the forms of the ids that platforms assign to people.
var userIDs = map[string]*regexp.Regexp{
	"telegram": regexp.MustCompile(`^[1-9][0-9]{2,15}$`),
	"slack":    regexp.MustCompile(`^[TE][A-Z0-9]{2,20}/[UW][A-Z0-9]{2,20}$`),
	"discord":  regexp.MustCompile(`^[1-9][0-9]{14,19}$`),
}

// checkUserID returns why a text is no id of a person on a platform.
func checkUserID(platform, id string) error {
	form := map[string]string{"telegram": "a number, such as 123456789", "slack": "TEAM/USER, such as T0123ABCD/U0456ABCD", "discord": "a number of 17 to 20 digits"}
	if userIDs[platform] == nil || userIDs[platform].MatchString(id) {
		return nil
	}
	return fmt.Errorf("%q is no id of a person on %s: those are %s; names and handles can change", id, platform, form[platform])
}

// askOwners asks for the owner's id on each platform.
func (s *initWizard) askOwners(ctx context.Context, plan *setup.InstallPlan) error {
	for _, p := range setup.Platforms() {
		i := slices.IndexFunc(plan.Accounts, func(a setup.AccountPlan) bool { return a.Type == p.Kind })
		if i < 0 {
			continue
		}
		if err := s.askOwner(ctx, plan, plan.Accounts[i], p); err != nil {
			return err
		}
	}
	return nil
}

func (s *initWizard) askOwner(ctx context.Context, plan *setup.InstallPlan, a setup.AccountPlan, p setup.PlatformEntry) error {
	flagged := func(who string) bool { return strings.HasPrefix(who, a.Name+":") }
	for range attempts {
		if slices.ContainsFunc(plan.Owners, flagged) {
			return nil
		}
		var id string
		fromFlag := slices.IndexFunc(s.owners, flagged)
		if fromFlag >= 0 {
			id = strings.TrimPrefix(s.owners[fromFlag], a.Name+":")
		} else {
			text, err := s.question(ctx, fmt.Sprintf("\nYour own id on %s, to be the owner: %s\n  (empty: `trestle pair CODE --owner` makes you the owner later): ", p.Kind, p.UserID), false)
			if err != nil || text == "" {
				return err
			}
			id = strings.TrimPrefix(text, a.Name+":")
		}
		if team := s.teams[a.Name]; team != "" && !strings.Contains(id, "/") {
			id = team + "/" + id
		}
		err := checkUserID(a.Type, id)
		switch {
		case err == nil:
			plan.Owners = append(plan.Owners, a.Name+":"+id)
		case fromFlag >= 0:
			return &apperr.Error{What: err.Error(), Where: "init --owner", Remedy: "correct it, and run trestle init again; nothing was written", Code: apperr.Usage}
		default:
			s.talk("%v\n", err)
		}
	}
	if !slices.ContainsFunc(plan.Owners, flagged) {
		return s.enough("no id was accepted")
	}
	return nil
}

func (s *initWizard) enough(what string) error {
	return &apperr.Error{What: what + ", and nothing was written", Where: "init", Remedy: "run trestle init again with the right one", Code: apperr.Failed}
}

// question asks one thing and returns the answer, see [Environment.question].
func (s *initWizard) question(ctx context.Context, text string, secret bool) (string, error) {
	return s.Environment.question(ctx, "init", s.answers, text, secret)
}

// question asks one thing for a command and returns the answer. The end of a file or pipe is an empty
// answer; on a terminal it ends the command, as a signal does. What is secret is not shown on a
// terminal while it is typed.
func (env *Environment) question(ctx context.Context, command string, answers *bufio.Reader, text string, secret bool) (string, error) {
	talk := func(format string, args ...any) { fmt.Fprintf(env.hidden().Writer(env.Err), format, args...) }
	talk("%s", text)
	file, _ := env.In.(*os.File)
	typed := env.input() == inputTerminal
	read := func() (string, error) { return answers.ReadString('\n') }
	if typed {
		before, err := term.GetState(int(file.Fd()))
		if err != nil {
			return "", err
		}
		defer func() { _ = term.Restore(int(file.Fd()), before) }() // also when a signal ends it
	}
	if typed && secret {
		read = func() (string, error) {
			raw, err := term.ReadPassword(int(file.Fd()))
			return string(raw), err
		}
	}
	type reading struct {
		line string
		err  error
	}
	done := make(chan reading, 1)
	go func() {
		line, err := read()
		done <- reading{line, err}
	}()
	stopped := func() (string, error) {
		talk("\n")
		return "", &apperr.Error{What: "stopped, and nothing was written", Where: command, Remedy: "run trestle " + command + " again", Code: apperr.Interrupted}
	}
	select {
	case <-ctx.Done():
		return stopped()
	case r := <-done:
		if !typed || secret {
			talk("\n")
		}
		if errors.Is(r.err, io.EOF) {
			if typed {
				return stopped()
			}
			r.err = nil
		}
		return strings.TrimSpace(r.line), r.err
	}
}
