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
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

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
		RunE: func(c *cobra.Command, _ []string) error {
			s.Environment = env
			return s.run(c.Context())
		},
	}
	c.Flags().BoolVar(&s.printOnly, "print", false, "ask nothing and write nothing: print what would be written, without credentials")
	c.Flags().StringVar(&s.from, "from", "", "ask nothing: take it from env, or from openclaw's configuration")
	return c
}

// An initWizard is one run of `trestle init`.
type initWizard struct {
	*Environment
	printOnly bool
	from      string // empty: the environment, and the person at stdin
	answers   *bufio.Reader
	handles   []string // of the accounts that were tried, as people write to them
}

func (s *initWizard) run(ctx context.Context) error {
	if s.from != "" && s.from != "env" && s.from != "openclaw" {
		return &apperr.Error{What: "--from is env or openclaw", Where: "init", Remedy: "choose one of them", Code: apperr.Usage}
	}
	file := s.absolute(cmp.Or(s.configPath, config.DefaultFile))
	if _, err := os.Stat(file); err == nil && !s.printOnly {
		return s.compare(ctx, file)
	}
	plan, err := s.plan()
	if err != nil {
		return err
	}
	s.announce(plan)
	if s.printOnly {
		_, err := io.WriteString(s.hidden().ExactWriter(s.Out), plan.File())
		return err
	}
	if err := s.try(ctx, plan); err != nil {
		return err
	}
	if s.from == "" && s.input() != inputNone {
		if err := s.ask(ctx, plan); err != nil {
			return err
		}
	}
	if err := s.write(file, plan); err != nil {
		return err
	}
	return s.finish(ctx)
}

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
		if err := s.tryModel(ctx, plan.Model); err != nil {
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
	ad, err := s.clients().NewAdapter(config.AdapterEntry{
		Name: a.Name, Type: a.Type, APIURL: string(a.APIURL.Value),
		Token: a.Credential("token"), BotToken: a.Credential("bot_token"), AppToken: a.Credential("app_token"), SigningSecret: a.Credential("signing_secret"),
	})
	if err != nil {
		return err
	}
	account, err := ad.Connect(ctx)
	switch {
	case err == nil:
		s.handles = append(s.handles, "@"+account.Handle)
		s.talk("%s: connected as @%s\n", a.Name, account.Handle)
		return nil
	case adapters.KindOf(err) == adapters.Unauthorized:
		return fmt.Errorf("the credentials are refused: %w", err)
	}
	s.talk("%s: not tried, it cannot be reached now: %v\n", a.Name, err)
	return nil
}

// tryModel asks the endpoint for one short answer, and for its models when none is named.
func (s *initWizard) tryModel(ctx context.Context, m *setup.ModelPlan) error {
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
		return err
	}
	_, err = client.Generate(ctx, llm.ModelRequest{Model: m.Name, MaxOutput: 64, Messages: []llm.TranscriptMessage{{Role: llm.User, Text: "Answer with the word yes."}}})
	refused, ok := errors.AsType[*llm.Error](err)
	switch {
	case err == nil:
		s.talk("model: %s answers\n", m.Name)
		return nil
	case ok && (refused.Kind == llm.Denied || refused.Kind == llm.NoModel):
		return err
	}
	s.talk("model: not tried, it cannot be reached now: %v\n", err)
	return nil
}

// clients makes clients of platforms and models, and nothing else.
func (s *initWizard) clients() *server.AccountManager {
	return server.NewAccountManager(&config.Config{}, slog.New(slog.DiscardHandler))
}

// ask asks for what was not found: at most three things, each tested as it is entered. An empty
// answer skips it.
func (s *initWizard) ask(ctx context.Context, plan *setup.InstallPlan) error {
	s.answers = bufio.NewReader(s.In)
	if len(plan.Accounts) == 0 {
		if err := s.askTelegram(ctx, plan); err != nil {
			return err
		}
	}
	if plan.Model == nil {
		return s.askModel(ctx, plan)
	}
	return nil
}

// attempts is how often an answer may be corrected.
const attempts = 3

func (s *initWizard) askTelegram(ctx context.Context, plan *setup.InstallPlan) error {
	api, _ := s.Lookup("TELEGRAM_API_URL")
	for range attempts {
		token, err := s.question("Token of a Telegram bot, from @BotFather (empty: talk in the terminal only): ", true)
		if err != nil || token == "" {
			return err
		}
		s.hidden().AddSecrets(adapters.SecretString(token))
		tried := &setup.InstallPlan{}
		tried.AddTelegram(adapters.SecretString(token), adapters.SecretString(api))
		if err := s.tryAccount(ctx, tried.Accounts[0]); err != nil {
			s.talk("%v\n", err)
			continue
		}
		plan.Accounts = tried.Accounts
		return nil
	}
	return s.enough("no token was accepted")
}

func (s *initWizard) askModel(ctx context.Context, plan *setup.InstallPlan) error {
	offer, hint := demo.Found(ctx, http.DefaultClient, s.Endpoints), "such as https://api.openai.com/v1; empty: the built-in offline model"
	if offer != "" {
		hint = "empty: " + offer + ", which answers here; none: the built-in offline model"
	}
	for range attempts {
		base, err := s.question("Address of a model endpoint ("+hint+"): ", false)
		if err != nil {
			return err
		}
		if base = cmp.Or(base, offer, "none"); base == "none" {
			return nil
		}
		key := ""
		if base != offer {
			if key, err = s.question("Its key (empty: none): ", true); err != nil {
				return err
			}
		}
		s.hidden().AddSecrets(adapters.SecretString(key))
		name, _ := s.Lookup("TRESTLE_MODEL")
		tried := &setup.InstallPlan{}
		tried.SetModel(base, name, adapters.SecretString(key))
		if err := s.tryModel(ctx, tried.Model); err != nil {
			s.talk("%v\n", err)
			continue
		}
		plan.Model = tried.Model
		return nil
	}
	return s.enough("no endpoint was accepted")
}

func (s *initWizard) enough(what string) error {
	return &apperr.Error{What: what + ", and nothing was written", Where: "init", Remedy: "run trestle init again with the right one", Code: apperr.Failed}
}

// question asks one thing and returns the answer; the end of stdin is an empty
// one. What is secret is not shown on a terminal while it is typed.
func (s *initWizard) question(text string, secret bool) (string, error) {
	s.talk("%s", text)
	if file, ok := s.In.(*os.File); ok && secret && s.input() == inputTerminal {
		typed, err := term.ReadPassword(int(file.Fd()))
		s.talk("\n")
		return strings.TrimSpace(string(typed)), err
	}
	line, err := s.answers.ReadString('\n')
	if s.input() != inputTerminal {
		s.talk("\n")
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return strings.TrimSpace(line), err
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
	for _, f := range []struct{ path, text string }{{secret, env}, {file, plan.File()}} {
		if err := writeNew(f.path, []byte(f.text)); err != nil {
			remedy := "see that the folder can be written"
			if errors.Is(err, fs.ErrExist) {
				remedy = "it is kept; move it away, or name another folder with --config"
			}
			return &apperr.Error{What: "not written: " + err.Error(), Where: f.path, Remedy: remedy, Code: apperr.Failed}
		}
	}
	s.talk("written, for you alone to read; undo with: rm %s %s %s\n\n", filepath.Base(file), config.EnvFile, config.SchemaFile)
	s.writeSchema(filepath.Join(filepath.Dir(file), config.SchemaFile))
	return nil
}

// writeSchema puts the schema where the first line of the file says that editors
// find it. It is this program's, so an older one is replaced; without it the file
// is as good.
func (s *initWizard) writeSchema(file string) {
	if err := os.WriteFile(file, config.JSONSchema(), 0o600); err != nil {
		s.talk("editors will not complete the file: the schema was not written: %v\n", err)
	}
}

// finish examines what was set up, and says how to go on.
func (s *initWizard) finish(ctx context.Context) error {
	err := doctorCommand{installation{s.Environment}}.examine(ctx, doctor.Options{}, false, string(adapters.Failure))
	next := "talk to your agent"
	if len(s.handles) > 0 {
		next = "then send /start to " + strings.Join(s.handles, " or ") + " and let yourself in with trestle pair CODE"
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
