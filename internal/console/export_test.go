package console

// Patterns returns every route.
func (c *Console) Patterns() []string {
	var all []string
	for _, r := range c.routes() {
		all = append(all, r.pattern)
	}
	return all
}
