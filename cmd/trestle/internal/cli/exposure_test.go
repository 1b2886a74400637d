package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// alone is a program whose environment says nothing.
func alone(folder string, out, errs *screen) *Environment {
	return &Environment{In: strings.NewReader(""), Out: out, Err: errs, Folder: folder, Lookup: func(string) (string, bool) { return "", false }}
}

// SECURITY S7: of sixty ways to start, every one that others could reach without
// a credential refuses, with exit code 78, before it opens anything; every other
// one is a configuration that starts.
func TestExposedConsoleRefusesToStart(t *testing.T) {
	starts, refused := 0, 0
	for _, listen := range []struct {
		address string
		local   bool
	}{{"127.0.0.1:0", true}, {"localhost:0", true}, {"[::1]:0", true}, {"0.0.0.0:0", false}, {":0", false}, {"trestle.example:0", false}} {
		for _, token := range []int{0, 1, 31, 32, 64} {
			for _, proxies := range []string{"", "[10.0.0.7, fd00::/8]"} {
				starts++
				folder := t.TempDir()
				text := fmt.Sprintf("data: ./data\nlisten: %q\ntoken: %q\ntrusted_proxies: %s\n", listen.address, strings.Repeat("0123456789abcdef", 4)[:token], proxies)
				testutil.OK(t, os.WriteFile(filepath.Join(folder, "trestle.yaml"), []byte(text), 0o600))
				var out, errs screen
				secure := listen.local || token >= 32 || proxies != ""
				if secure {
					if code := alone(folder, &out, &errs).Run(t.Context(), []string{"config", "check"}); code != apperr.Done {
						t.Errorf("%s: exit %s: %s%s", text, code, &out, &errs)
					}
					continue
				}
				refused++
				if code := alone(folder, &out, &errs).Run(t.Context(), []string{"run"}); code != apperr.BadConfig || !strings.Contains(errs.String(), "listen") {
					t.Errorf("%s: exit %s: %s", text, code, &errs)
				}
				if _, err := os.Stat(filepath.Join(folder, "data")); err == nil {
					t.Errorf("%s: the record was opened", text)
				}
			}
		}
	}
	if starts != 60 {
		t.Errorf("%d starts, want 60", starts)
	}
	t.Logf("%d start-up configurations: %d insecure, all of them refused", starts, refused)
}

// A list of trusted proxies that matches every address, or none, would open the
// console.
func TestMisunderstoodProxiesStopTheStart(t *testing.T) {
	for _, line := range []string{"trusted_proxies: [0.0.0.0/0]", "trusted_proxies: [\"::/0\"]", "trusted_proxies: [nginx]", "trusted_proxies: [10.0.0.0/33]", "hosts: [\"*\"]", "hosts: [\"http://x\"]"} {
		folder := t.TempDir()
		testutil.OK(t, os.WriteFile(filepath.Join(folder, "trestle.yaml"), []byte("data: ./data\n"+line+"\n"), 0o600))
		var out, errs screen
		if code := alone(folder, &out, &errs).Run(t.Context(), []string{"run"}); code != apperr.BadConfig {
			t.Errorf("%s: exit %s: %s", line, code, &errs)
		}
	}
}
