package commands

import "testing"

// ECOSYSTEM 8
func TestAnswersToAnAlarm(t *testing.T) {
	for text, want := range map[string]string{
		"ack": "", "Ack 2h": "2h", " ack 3 2h. ": "3 2h", "ack #3 for 30m": "#3 for 30m", "`ack 2h`": "2h", "/ack 2h": "2h", "ACK 7": "7",
		"acknowledge": "-", "ack it": "-", "please ack 2h": "-", "ack 2h or so": "-", "": "-", "ack\n2h": "-",
	} {
		got := "-"
		if c := ParseAcknowledgement(text); c != nil {
			got = c.Args
			if c.Name != CommandAck {
				t.Errorf("%q is the command %q", text, c.Name)
			}
		}
		if got != want {
			t.Errorf("%q asks for %q, want %q", text, got, want)
		}
	}
}

// What decides about a mission is read without a slash, and nothing else is.
func TestDecisionsAboutMissions(t *testing.T) {
	for text, want := range map[string]string{
		"mission start 3f2a": "start 3f2a", "/Mission resume #3F2A from checkpoint 2.": "resume 3f2a 2", "mission resume 3f2a from latest": "resume 3f2a latest", "mission resume 3f2a from 12": "resume 3f2a 12",
		"mission resume 3f2a from": "-", "mission resume 3f2a from two": "-", "the mission resume 3f2a": "-", "mission resume 3f2a from 2 please": "-",
	} {
		got := "-"
		if c := parseMission(text); c != nil {
			got = c.Args
		}
		if got != want {
			t.Errorf("%q asks for %q, want %q", text, got, want)
		}
	}
}
