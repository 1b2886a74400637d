package config

import "slices"

// Over returns c as it counts over a configuration that is running: what only a
// start reads is running's. It shares its parts with both.
func (c *Config) Over(running *Config) *Config {
	merged := *c
	merged.Data, merged.Database, merged.Redis = running.Data, running.Database, running.Redis
	merged.Listen, merged.WebhookListen = running.Listen, running.WebhookListen
	merged.Outgoing, merged.Alarms = running.Outgoing, running.Alarms
	merged.Adapters = slices.Clone(running.Adapters)
	for i, a := range merged.Adapters {
		j := slices.IndexFunc(c.Adapters, func(b Adapter) bool { return b.Name == a.Name })
		if j >= 0 && !c.Adapters[j].Misconfigured {
			merged.Adapters[i].Admit = c.Adapters[j].Admit
		}
	}
	return &merged
}
