package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/server"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/demo"
	"github.com/trestle-bridge/trestle/internal/doctor"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/setup"
)

func newInitCommand(env *Environment) *cobra.Command {
	var s initWizard
	c := &cobra.Command{
		Use: "init", Short: "write a first configuration from what is there, asking for the rest; never overwrites one", Args: cobra.NoArgs,
		Long: "Write a first configuration, trestle.yaml, and its credentials, trestle.env, which only you can read. What the environment has is\n" +
			"used; on a terminal or with lines on stdin the rest is asked for: platforms, model, the agent, its owner. Every answer is tested,\n" +
			"nothing is written before the last one, and files that are there are kept.",
		RunE: func(c *cobra.Command, _ []string) error {
			s.Environment, s.teams = env, map[string]string{}
			ctx, stop := stoppable(c.Context())
			defer stop()
			return s.run(ctx)
		},
	}
	c.Flags().BoolVar(&s.printOnly, "print", false, "ask nothing and write nothing: print what would be written, without credentials")
	c.Flags().StringVar(&s.from, "from", "", "ask nothing: take it from env, or from openclaw's configuration")
	c.Flags().StringVar(&s.name, "name", "", "name of the agent, not asked for then")
	c.Flags().StringVar(&s.character, "character", "", "what the agent is like: friendly, professional, technical, or a text addressed to it")
	c.Flags().StringSliceVar(&s.owners, "owner", nil, "owner as `ADAPTER:USER`, with the id that the platform assigned; may be repeated")
	c.Flags().BoolVar(&s.schema, "schema", false, "write the JSON schema beside the file, by which editors complete it")
	return c
}

// An initWizard is one run of `trestle init`.
type initWizard struct {
	*Environment
	printOnly, schema bool
	from              string // empty: the environment, and the person at stdin
	name, character   string // of the agent; empty: asked for
	owners            []string
	answers           *bufio.Reader
	handles           []string          // of the accounts that were tried, as people write to them
	teams             map[string]string // of the Slack accounts that were tried, by their names
}

func (s *initWizard) run(ctx context.Context) error {
	if s.from != "" && s.from != "env" && s.from != "openclaw" {
		return &apperr.Error{What: "--from is env or openclaw", Where: "init", Remedy: "choose one of them", Code: apperr.Usage}
	}
	file := s.absolute(cmp.Or(s.configPath, config.DefaultFile))
	if _, err := os.Stat(file); err == nil && !s.printOnly {
		return s.compare(ctx, file)
	}
	secret := filepath.Join(filepath.Dir(file), config.EnvFile)
	if _, err := os.Stat(secret); err == nil && !s.printOnly { // before the first question
		return notWritten(secret, fs.ErrExist)
	}
	plan, err := s.plan()
	if err != nil {
		return err
	}
	plan.Schema = s.schema
	s.announce(plan)
	if err := s.useFlags(plan); err != nil {
		return err
	}
	if s.printOnly {
		_, err := io.WriteString(s.hidden().ExactWriter(s.Out), plan.File())
		return err
	}
	if err := s.try(ctx, plan); err != nil {
		return err
	}
	if s.asks() {
		if err := s.ask(ctx, plan); err != nil {
			return err
		}
	}
	if err := s.write(file, plan); err != nil {
		return err
	}
	return s.finish(ctx, plan)
}

// useFlags takes over what the flags say of the agent and its owners.
func (s *initWizard) useFlags(plan *setup.InstallPlan) error {
	wrong := func(flag string, err error) error {
		return &apperr.Error{What: err.Error(), Where: "init --" + flag, Remedy: "correct it, or leave it out to be asked for it", Code: apperr.Usage}
	}
	if s.name != "" || s.character != "" {
		if err := checkAgent(s.name, s.character); err != nil {
			return wrong("name", err)
		}
		plan.SetAgent(cmp.Or(s.name, defaultName), s.character)
	}
	for _, who := range s.owners {
		adapter, id, _ := strings.Cut(who, ":")
		i := slices.IndexFunc(plan.Accounts, func(a setup.AccountPlan) bool { return a.Name == adapter })
		if i < 0 {
			if s.asks() {
				continue // the account may be asked for
			}
			return wrong("owner", fmt.Errorf("%q is of no account in this configuration", who))
		}
		if err := checkUserID(plan.Accounts[i].Type, id); err != nil {
			return wrong("owner", err)
		}
		plan.Owners = append(plan.Owners, who)
	}
	return nil
}

// asks reports whether there is a person, or a list of answers, at stdin.
func (s *initWizard) asks() bool { return !s.printOnly && s.from == "" && s.input() != inputNone }

func (s *initWizard) talk(format string, args ...any) {
	fmt.Fprintf(s.hidden().Writer(s.Err), format, args...)
}

// plan reads what the environment or another agent host has.
func (s *initWizard) plan() (*setup.InstallPlan, error) {
	if s.from != "openclaw" {
		plan := setup.FromEnvironment(s.Lookup)
		s.hidden().AddSecrets(plan.Secrets()...)
		return plan, nil
	}
	home, _ := s.Lookup("HOME")
	file, named := s.Lookup("OPENCLAW_CONFIG_PATH")
	if !named {
		file = filepath.Join(home, ".openclaw", "openclaw.json")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, &apperr.Error{What: "openclaw's configuration cannot be read: " + err.Error(), Where: file, Remedy: "name it with OPENCLAW_CONFIG_PATH", Code: apperr.Failed}
	}
	plan, err := setup.FromOpenClaw(string(text), s.Lookup)
	if err != nil {
		return nil, &apperr.Error{What: "openclaw's configuration is not understood: " + err.Error(), Where: file, Remedy: "mend the line, or run trestle init without --from", Code: apperr.Failed}
	}
	s.hidden().AddSecrets(plan.Secrets()...)
	return plan, nil
}

// announce prints what was found, before the first question.
func (s *initWizard) announce(plan *setup.InstallPlan) {
	switch n := len(plan.Found); n {
	case 0:
		s.talk("found nothing in the environment\n")
	default:
		s.talk("found %s: will use %s\n", strings.Join(plan.Found, ", "), map[bool]string{true: "it", false: "all of it"}[n == 1])
	}
	for _, left := range plan.Left {
		s.talk("left out: %s\n", left)
	}
}

// trying is the time limit for one test of a credential.
const trying = 20 * time.Second

// try tests every credential that was found. A refused one ends the setup: a file with it would
// only fail later.
func (s *initWizard) try(ctx context.Context, plan *setup.InstallPlan) error {
	for _, a := range plan.Accounts {
		if err := s.tryAccount(ctx, a); err != nil {
			return &apperr.Error{What: err.Error(), Where: a.Name, Remedy: "correct the variable, or unset it to go on without this account", Code: apperr.Failed}
		}
	}
	if plan.Model != nil {
		if _, err := s.tryModel(ctx, plan.Model); err != nil {
			return &apperr.Error{What: err.Error(), Where: "model", Remedy: "correct the variables of the model, or unset them to go on without it", Code: apperr.Failed}
		}
	}
	return nil
}

// tryAccount connects an account. Only a refusal is an error: a platform that
// cannot be reached now may be reached later.
func (s *initWizard) tryAccount(ctx context.Context, a setup.AccountPlan) error {
	ctx, stop := context.WithTimeout(ctx, trying)
	defer stop()
	ad, err := s.adapter(a)
	if err != nil {
		return err
	}
	account, err := ad.Connect(ctx)
	switch {
	case err == nil:
		if handle := "@" + account.Handle; !slices.Contains(s.handles, handle) {
			s.handles = append(s.handles, handle)
		}
		if team, _, ok := strings.Cut(account.ID, "-"); ok && a.Type == "slack" {
			s.teams[a.Name] = team
		}
		s.talk("%s: connected as @%s\n", a.Name, account.Handle)
		return nil
	case adapters.KindOf(err) == adapters.Unauthorized:
		return fmt.Errorf("the credentials are refused: %w", err)
	}
	s.talk("%s: not tried, it cannot be reached now: %v\n", a.Name, err)
	return nil
}

// adapter returns a client of an account.
func (s *initWizard) adapter(a setup.AccountPlan) (adapters.Adapter, error) {
	return s.clients().NewAdapter(config.AdapterEntry{
		Name: a.Name, Type: a.Type, APIURL: string(a.APIURL.Value),
		Token: a.Credential("token"), BotToken: a.Credential("bot_token"), AppToken: a.Credential("app_token"), SigningSecret: a.Credential("signing_secret"),
	})
}

// tryModel asks the endpoint for one short answer, and for its models when none is named. It
// reports whether it answered; only a refusal is an error.
func (s *initWizard) tryModel(ctx context.Context, m *setup.ModelPlan) (answered bool, err error) {
	ctx, stop := context.WithTimeout(ctx, trying)
	defer stop()
	if m.Name == "" && m.BaseURL.Value != "" {
		if first, err := demo.FirstModel(ctx, http.DefaultClient, string(m.BaseURL.Value), string(m.Key.Value)); err == nil {
			m.Name = first
		}
	}
	m.Name = cmp.Or(m.Name, config.UsualModel(m.Provider))
	client, err := s.clients().OpenEndpoint(config.ModelEndpoint{Provider: m.Provider, BaseURL: string(m.BaseURL.Value), APIKey: m.Key.Value, Name: m.Name})
	if err != nil {
		return false, err
	}
	_, err = client.Generate(ctx, llm.ModelRequest{Model: m.Name, MaxOutput: 64, Messages: []llm.TranscriptMessage{{Role: llm.User, Text: "Answer with the word yes."}}})
	refused, ok := errors.AsType[*llm.Error](err)
	switch {
	case err == nil:
		s.talk("model: %s answers\n", m.Name)
		return true, nil
	case ok && (refused.Kind == llm.Denied || refused.Kind == llm.NoModel):
		return false, err
	}
	s.talk("model: not tried, it cannot be reached now: %v\n", err)
	return false, nil
}

// clients makes clients of platforms and models, and nothing else.
func (s *initWizard) clients() *server.AccountManager {
	return server.NewAccountManager(&config.Config{}, slog.New(slog.DiscardHandler))
}

// write shows what is about to be written, and writes it. A file that is there
// stays as it is.
func (s *initWizard) write(file string, plan *setup.InstallPlan) error {
	env, err := plan.Env()
	if err != nil {
		return &apperr.Error{What: err.Error(), Where: config.EnvFile, Remedy: "set it in the environment without the line break", Code: apperr.Failed}
	}
	secret := filepath.Join(filepath.Dir(file), config.EnvFile)
	fmt.Fprintf(s.hidden().ExactWriter(s.Out), "== %s\n%s\n== %s\n%s\n", filepath.Base(file), plan.File(), config.EnvFile, plan.EnvShown())
	if err := writeNew(secret, []byte(env)); err != nil {
		return notWritten(secret, err)
	}
	if err := writeNew(file, []byte(plan.File())); err != nil {
		return errors.Join(notWritten(file, err), os.Remove(secret)) // both or neither
	}
	written := []string{filepath.Base(file), config.EnvFile}
	if plan.Schema {
		schema := filepath.Join(filepath.Dir(file), config.SchemaFile)
		if err := writeNew(schema, config.JSONSchema()); err != nil {
			s.talk("editors will not complete the file: %s was not written: %v\n", config.SchemaFile, err)
		} else {
			written = append(written, config.SchemaFile)
		}
	}
	s.talk("written, for you alone to read; undo with: rm %s\n\n", strings.Join(written, " "))
	return nil
}

// notWritten returns what to do about a file that is not written.
func notWritten(file string, err error) error {
	remedy := "see that the folder can be written"
	if errors.Is(err, fs.ErrExist) {
		remedy = "it is kept; move it away, or name another folder with --config"
	}
	return &apperr.Error{What: "not written: " + err.Error(), Where: file, Remedy: remedy, Code: apperr.Failed}
}

// finish examines what was set up, and says how to go on.
func (s *initWizard) finish(ctx context.Context, plan *setup.InstallPlan) error {
	err := doctorCommand{installation{s.Environment}}.examine(ctx, doctor.Options{}, false, string(adapters.Failure))
	next := "talk to your agent"
	if len(s.handles) > 0 {
		next = "then send /start to " + strings.Join(s.handles, " or ") + " and let yourself in with trestle pair CODE"
		if len(plan.Owners) == 0 {
			next += " --owner"
		}
	}
	s.talk("\nnext: trestle run; %s\n", next)
	return err
}

// compare is what init does where there is a configuration: it changes nothing,
// says what the environment would add, and examines it.
func (s *initWizard) compare(ctx context.Context, file string) error {
	c, err := s.load()
	if err != nil {
		return err
	}
	s.talk("%s is there and is kept as it is\n", filepath.Base(file))
	plan, err := s.plan()
	if err != nil {
		return err
	}
	for _, d := range plan.Differences(c) {
		s.talk("different: %s\n", d)
	}
	return doctorCommand{installation{s.Environment}}.examine(ctx, doctor.Options{}, false, string(adapters.Failure))
}
