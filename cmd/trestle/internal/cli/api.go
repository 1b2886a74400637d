package cli

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/control"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/server"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/console/api"
	"github.com/trestle-bridge/trestle/internal/store/readmodel"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/shell/prompts"
	"github.com/trestle-bridge/trestle/spaces"
)

// remoteLimit is how long another machine may take to answer.
const remoteLimit = 30 * time.Second

// ask reads the answer of a path of the console's API into a: from the machine that --remote
// names, or made from the store here, so that every command answers alike in both cases.
func (in installation) ask(ctx context.Context, path string, query url.Values, a any) error {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	if in.remote != "" {
		return in.askRemote(ctx, path, a)
	}
	return in.despite(ctx, path, a, in.look(ctx, func(c *config.Config, r readmodel.ReadModel) error {
		entries, err := r.Entries(ctx)
		if err != nil {
			return err
		}
		as := server.ConsoleSettings{Current: func() *config.Config { return c }, EntryOf: func(id spaces.SpaceID) string { return entries[id] }}
		acts := func() spaces.ToolManifest {
			return shell.NewCatalogue(c.SettingsFor("", "").Attachments.Send).WithFileReading().Manifest()
		}
		o := console.Options{Store: r, Settings: as, Tools: acts, Prompts: offlinePrompts(c, r), Logger: slog.New(slog.DiscardHandler)}
		local := console.New(o, nil, api.New(o).Routes()).Socket()
		q, err := http.NewRequestWithContext(ctx, http.MethodGet, path, nil)
		if err != nil {
			return err
		}
		w := &answerWriter{header: http.Header{}, code: http.StatusOK}
		local.ServeHTTP(w, q)
		return control.DecodeAnswer(path, w.code, w.body.Bytes(), a)
	}))
}

// offlinePrompts reads the versions of prompts and their activations beside a process or
// without one.
func offlinePrompts(c *config.Config, r readmodel.ReadModel) server.PromptAccess {
	return server.PromptAccess{Registry: &prompts.PromptRegistry{Folder: c.PromptFolder, Reader: r}, Config: func() *config.Config { return c }, Log: slog.New(slog.DiscardHandler)}
}

// answerWriter collects an answer of the API without a network.
type answerWriter struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

// Header implements [http.ResponseWriter].
func (w *answerWriter) Header() http.Header { return w.header }

// WriteHeader implements [http.ResponseWriter].
func (w *answerWriter) WriteHeader(code int) { w.code = code }

// Write implements [http.ResponseWriter].
func (w *answerWriter) Write(b []byte) (int, error) { return w.body.Write(b) }

// remoteRequest returns a request for a path of another machine, with the token of the
// environment.
func (in installation) remoteRequest(ctx context.Context, path string) (*http.Request, error) {
	base, err := url.Parse(in.remote)
	if err != nil || (base.Scheme != "http" && base.Scheme != "https") || base.Host == "" {
		return nil, &apperr.Error{What: "the address is no URL", Where: "--remote " + in.remote, Remedy: "write https://host, with the path before /api if there is one", Code: apperr.Usage}
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(in.remote, "/")+path, nil)
	if err != nil {
		return nil, err
	}
	if token, ok := in.Lookup("TRESTLE_TOKEN"); ok && token != "" {
		q.Header.Set("Authorization", "Bearer "+token)
	}
	return q, nil
}

// askRemote reads the answer of a path of another machine into a.
func (in installation) askRemote(ctx context.Context, path string, a any) error {
	ctx, cancel := context.WithTimeout(ctx, remoteLimit)
	defer cancel()
	q, err := in.remoteRequest(ctx, path)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(q)
	if err != nil {
		if broken, ok := errors.AsType[*url.Error](err); ok {
			err = broken.Err // the address is told beside it
		}
		return &apperr.Error{What: "the other machine does not answer: " + err.Error(), Where: "--remote " + in.remote, Remedy: "see that it runs and can be reached", Code: apperr.TryAgain}
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	var body bytes.Buffer
	if _, err := body.ReadFrom(http.MaxBytesReader(nil, resp.Body, 64<<20)); err != nil {
		return &apperr.Error{What: "the answer of the other machine broke off: " + err.Error(), Where: "--remote " + in.remote, Remedy: "ask again", Code: apperr.TryAgain}
	}
	return control.DecodeAnswer(path, resp.StatusCode, body.Bytes(), a)
}

// nothing replaces errNothing by an error for people.
func nothing(err error, what, where, remedy string) error {
	if errors.Is(err, control.ErrNotFound) || errors.Is(err, console.ErrUnknown) {
		return &apperr.Error{What: what, Where: where, Remedy: remedy, Code: apperr.Failed}
	}
	return err
}

// ambiguous returns the error for a name that fits several things.
func ambiguous(several console.AmbiguousNameError) error {
	no := several.Refusal()
	return &apperr.Error{What: no.Error, Where: several.Given, Remedy: no.Do, Code: apperr.Failed}
}

var _ console.Settings = server.ConsoleSettings{}
