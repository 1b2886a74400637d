package config

// Over returns c as it counts over a configuration that is running: what only a
// start reads is running's. It shares its parts with both.
func (c *Config) Over(running *Config) *Config {
	merged := *c
	merged.Data, merged.Database, merged.Redis = running.Data, running.Database, running.Redis
	merged.Roles, merged.Listen, merged.WebhookListen = running.Roles, running.Listen, running.WebhookListen
	merged.Outgoing, merged.Alarms, merged.Telemetry = running.Outgoing, running.Alarms, running.Telemetry
	return &merged
}
