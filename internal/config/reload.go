package config

// KeepStartValues returns c as it counts over a configuration that is running: what only a
// start reads is running's. It shares its parts with both.
func (c *Config) KeepStartValues(running *Config) *Config {
	merged := *c
	merged.Data, merged.Database, merged.Redis = running.Data, running.Database, running.Redis
	merged.Roles, merged.Listen, merged.WebhookListen = running.Roles, running.Listen, running.WebhookListen
	merged.Outgoing, merged.Alerts, merged.Telemetry = running.Outgoing, running.Alerts, running.Telemetry
	return &merged
}
