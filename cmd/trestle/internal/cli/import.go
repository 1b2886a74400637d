package cli

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/adapters/telegram"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/history"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
)

// importCommand answers `trestle import`.
type importCommand struct{ installation }

func newImportCommand(env *Environment) *cobra.Command {
	cmd := importCommand{installation{env}}
	c := &cobra.Command{Use: "import", Short: "bring in what was said elsewhere before"}
	var adapter, chat string
	from := &cobra.Command{
		Use: "telegram FILE", Short: "import result.json of Telegram Desktop's \"Export chat history\"", Args: cobra.ExactArgs(1),
		Long: "Reads messages of one chat out of an export and writes them into the log of the chat's space, with their own times and\n" +
			"authors. They wake nobody, and what the log has already is left alone. It is a job: interrupted, it goes on where it was.",
		RunE: func(c *cobra.Command, args []string) error {
			return cmd.importTelegram(c.Context(), args[0], adapter, chat)
		},
	}
	from.Flags().StringVar(&adapter, "adapter", "", "the entry under adapters whose chat it is (default the only one of type telegram)")
	from.Flags().StringVar(&chat, "chat", "", "the chat's id as the bot knows it, or its name in the export (default the export's only chat)")
	c.AddCommand(from)
	return c
}

// importTelegram adds a job that imports an export and waits until it is over.
func (cmd importCommand) importTelegram(ctx context.Context, file, adapter, chat string) error {
	conf, err := cmd.load()
	if err != nil {
		return err
	}
	q := history.ImportRequest{File: cmd.absolute(file)}
	if err := chooseAccount(&q, conf, adapter); err != nil {
		return err
	}
	if err := chooseChat(ctx, &q, chat); err != nil {
		return err
	}
	return cmd.addJob(ctx, "/import", q, func(ctx context.Context, s *sqlstore.Store) error {
		w := history.ImportJob{Store: s, Log: cmd.logger(slog.LevelWarn), Config: func() *config.Config { return conf }}
		added, err := w.Add(ctx, q)
		if err != nil {
			return err
		}
		return cmd.doHere(ctx, s, added, w.Work, cmd.asAnswer())
	})
}

// chooseAccount finds the account whose chat is imported.
func chooseAccount(q *history.ImportRequest, conf *config.Config, adapter string) error {
	var names []string
	for _, a := range conf.Adapters {
		if a.Type != "telegram" || adapter != "" && a.Name != adapter {
			continue
		}
		names = append(names, a.Name)
		q.Adapter = a.Name
		q.Account, _, _ = strings.Cut(string(a.Token), ":")
	}
	switch {
	case len(names) == 0 && adapter == "":
		return &apperr.Error{What: "no Telegram account is configured", Where: "adapters", Remedy: "add the one that is in the chat: type: telegram, with its token", Code: apperr.Usage}
	case len(names) == 0:
		return &apperr.Error{What: "no such Telegram account is configured", Where: "adapters." + adapter, Remedy: "name one with --adapter", Code: apperr.Usage}
	case len(names) > 1:
		return &apperr.Error{What: fmt.Sprintf("there are several Telegram accounts: %s", strings.Join(names, ", ")), Where: "adapters", Remedy: "name one with --adapter", Code: apperr.Usage}
	case q.Account == "":
		return &apperr.Error{What: "the account has no token", Where: "adapters." + q.Adapter, Remedy: "set its token; the number before the colon says which bot it is", Code: apperr.BadConfig}
	}
	return nil
}

// chooseChat reads the export through and picks the chat.
func chooseChat(ctx context.Context, q *history.ImportRequest, chat string) error {
	file, err := os.Open(q.File)
	if err != nil {
		return &apperr.Error{What: "the file cannot be read", Where: q.File, Remedy: "name the result.json of an export", Code: apperr.Usage}
	}
	defer func() { _ = file.Close() }() // it was only read
	chats, err := telegram.ListExport(ctx, file)
	if err != nil {
		return &apperr.Error{What: err.Error(), Where: q.File, Remedy: "export the chat from Telegram Desktop as machine-readable JSON", Code: apperr.Failed}
	}
	var fit []telegram.ExportedChat
	for _, e := range chats {
		id, known := e.Chat()
		if chat == "" || chat == e.Name || known && chat == id || !known && len(chats) == 1 {
			fit = append(fit, e)
		}
	}
	if len(fit) != 1 {
		return &apperr.Error{What: fmt.Sprintf("the export has %d chats, %d of them fit", len(chats), len(fit)), Where: q.File, Remedy: "choose one with --chat:\n" + exportList(chats), Code: apperr.Usage}
	}
	q.Export = fit[0]
	id, known := q.Export.Chat()
	switch {
	case known:
		q.Chat = id
	case chat != "" && chat != q.Export.Name:
		q.Chat = chat
	default:
		return &apperr.Error{What: "an export of a private chat does not say by which id the bot knows it", Where: q.File, Remedy: "give the person's id with --chat; `trestle spaces` shows it", Code: apperr.Usage}
	}
	return nil
}

// exportList lists the chats of an export, a line each.
func exportList(chats []telegram.ExportedChat) string {
	var b strings.Builder
	for i, e := range chats {
		if i == 40 {
			fmt.Fprintf(&b, "  and %d more\n", len(chats)-i)
			break
		}
		id, known := e.Chat()
		if !known {
			id = "(its id at the bot)"
		}
		fmt.Fprintf(&b, "  %s  %q, %d messages\n", id, textout.EscapeControls(e.Name), e.Messages)
	}
	return strings.TrimRight(b.String(), "\n")
}
