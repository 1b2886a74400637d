package discord

// NewPrivateThread opens a thread that only those see who are in it, the bots among them.
func (c *Channel) NewPrivateThread(by *Person, name string) *Channel {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	return c.open(PrivateThread, by.ID, 0, name)
}

// TakesIn has a person join a thread.
func (c *Channel) TakesIn(p *Person) { c.tellMembers([]*Person{p}, nil) }

// PutsOut has a person leave a thread.
func (c *Channel) PutsOut(p *Person) { c.tellMembers(nil, []*Person{p}) }

func (c *Channel) tellMembers(in, out []*Person) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	type comer struct {
		ID     ID          `json:"user_id"`
		Thread ID          `json:"id"`
		Member *wireMember `json:"member"`
	}
	told := struct {
		ID      ID      `json:"id"`
		GuildID ID      `json:"guild_id"`
		Count   int     `json:"member_count"`
		Added   []comer `json:"added_members,omitempty"`
		Removed []ID    `json:"removed_member_ids,omitempty"`
	}{ID: c.ID, GuildID: c.guild.ID, Count: 2}
	for _, p := range in {
		told.Added = append(told.Added, comer{p.ID, c.ID, c.guild.members[p.ID]})
	}
	for _, p := range out {
		told.Removed = append(told.Removed, p.ID)
	}
	c.guild.dispatch("THREAD_MEMBERS_UPDATE", intentMembers, told)
}
