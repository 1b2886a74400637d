package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/internal/config"
)

func pairCommand(p *program) *cobra.Command {
	var circle string
	c := &cobra.Command{
		Use: "pair CODE", Short: "let in the person to whom the bot has shown this code", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return p.pair(c.Context(), pairRequest{args[0], circle})
		},
	}
	c.Flags().StringVar(&circle, "circle", "", "circle of the chat's space (default one of its own)")
	return c
}

func (p *program) pair(ctx context.Context, q pairRequest) error {
	conf, err := config.Load(p.source())
	if err != nil {
		return err
	}
	c, running := dial(ctx, filepath.Join(conf.Data, socketName))
	if !running {
		return &failure{what: "no process serves this data folder", where: conf.Data, todo: "start it with trestle run, then pair again", code: exitTryAgain}
	}
	var admitted admittedPerson
	if err := c.post(ctx, "/pair", q, &admitted); err != nil {
		return err
	}
	return p.answer(admitted, func(w io.Writer) {
		fmt.Fprintf(w, "%s (%s) may now talk to your agents in the chat %s\n", plain(admitted.Name), admitted.User, admitted.Chat)
	})
}
