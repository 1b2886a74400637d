package discord

import (
	"encoding/json"
	"testing"
)

// SEQ-96, S10: a picture's address is made of a user's id and a hash, and of nothing
// else that a person may write.
func TestOnlyHashesBecomePictures(t *testing.T) {
	const hash = "0123456789abcdef0123456789abcdef"
	at := "https://cdn.discordapp.com/avatars/7/" + hash + ".png?size=128"
	for author, want := range map[string]string{
		`{"id":"7","username":"kai","avatar":"` + hash + `"}`:                    at,
		`{"id":"7","username":"kai","avatar":null}`:                              "",
		`{"id":"7","username":"kai"}`:                                            "",
		`{"id":"7","username":"kai","avatar":17}`:                                "",
		`{"id":"7","username":"kai","avatar":"../../api/v9/users/@me"}`:          "",
		`{"id":"7","username":"kai","avatar":"https://example.org/who-looks"}`:   "",
		`{"id":"../x","username":"kai","avatar":"` + hash + `"}`:                 "",
		`{"id":"7","username":"kai","avatar":"` + hash + `","bot":true}`:         at,
		`{"id":"7","username":"kai","avatar":"` + hash + `?x=https://evil.org"}`: "",
	} {
		var u user
		if err := json.Unmarshal([]byte(author), &u); err != nil {
			t.Errorf("%s: %v", author, err)
		}
		if got := u.person("").Portrait; got != want {
			t.Errorf("%s has the picture %q, want %q", author, got, want)
		}
	}
}
