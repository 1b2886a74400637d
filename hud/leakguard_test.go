package hud

import (
	"strings"
	"testing"
)

// Whatever the HUD shows, and the instructions, stay inside.
func TestNothingInternalGoesOut(t *testing.T) {
	system := "You are Ada. Plain text is internal: nobody sees it.\nUse send_message to speak in the active space."
	for name, scene := range scenes {
		for part := range strings.SplitSeq(scene(newWorld(t)), "\n--- ") {
			if strings.Contains(part, "INBOX (") || strings.Contains(part, "YOUR SPACES") || strings.Contains(part, "ACTIVE SPACE") {
				if _, leaks := NewLeakGuard(system).Leak(part); !leaks {
					t.Errorf("%s: this may go out:\n%s", name, part)
				}
			}
		}
	}
	for text, want := range map[string]bool{
		"Sure, I will ask Nova about the inbox.":                                                    false,
		"PLAIN text is   internal: nobody\nsees it. use Send_message":                               true,
		"#a7 [Family] Kai (human): \"hi\"":                                                          true,
		"#a7 10:02 [Family] Kai (human): \"hi\"":                                                    true,
		"INBOX (2 events), Wed 25 Nov 2026 10:05 CET:":                                              true,
		"REMINDER ~k3 set by Kai in s1 on Wed 2026-11-25 10:05 UTC: \"tea\"":                        true,
		"Use send_message to speak":                                                                 false,
		"hi ← TRIGGER":                                                                              true,
		"My active space is the kitchen; what's on your trigger list? [EARLIER] #a7.":               false,
		"see #12 [bug] Kai (who knows)":                                                             false,
		"P&#108;ain t\\ext is internal: **no**body se\u200bes it. Use send_message":                 true,
		"`Plain text is internal:` _nobody_ sees it. [Use send](https://a.b) message":               true,
		"P.l.a.i.n. t.e.x.t. is\n\ninternal: | nobody | sees it - Use send message":                 true,
		"[x](https://a.b/?Plain%20text%20is%20internal:%20nobody%20sees%20it%20Use%20send_message)": true,
		"Ｐｌａｉｎ ｔｅｘｔ is internal: nobody sees it. Use send_message":                                  true,
		"I&#78;BOX **(2** events\\):":                                                               true,
		"IN\u200bBOX (2\nevents):":                                                                  true,
		"- &#35;a7 [Family] **Kai** (human): hi":                                                    true,
		"| x |\n|---|\n| #a7 [Family] Kai (human): hi |":                                            true,
		"`ACTIVE SPACE: none`":                                                                      true,
	} {
		if _, got := NewLeakGuard(system).Leak(text); got != want {
			t.Errorf("Leak(%q) = %v, want %v", text, got, want)
		}
	}
}
