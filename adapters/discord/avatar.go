package discord

import (
	"encoding/json"
	"regexp"
)

// picture is the hash of a user's picture; empty for those who chose none.
type picture string

var pictureHash = regexp.MustCompile(`^(a_)?[0-9a-f]{32}$`)

// UnmarshalJSON reads a hash; anything else is none, and spoils nothing.
func (p *picture) UnmarshalJSON(raw []byte) error {
	var hash string
	if json.Unmarshal(raw, &hash) != nil || !pictureHash.MatchString(hash) {
		hash = ""
	}
	*p = picture(hash)
	return nil
}

// of returns where everybody finds the picture of the user with that id
// (docs.discord.com/developers/reference, "Image Formatting").
func (p picture) of(user string) string {
	if p == "" || flake(user) == 0 {
		return ""
	}
	return "https://cdn.discordapp.com/avatars/" + user + "/" + string(p) + ".png?size=128"
}
