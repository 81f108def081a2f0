package config

// Update takes over from next the keys that a running daemon can change. It returns the paths of
// those that it has taken, and of those that differ and have to wait for the next start.
func (c *Config) Update(next Config) (taken, left []string) {
	now, later := c.keys(), next.keys()
	for i, key := range now {
		if key.Value.IsSame(later[i].Value) {
			continue
		}
		if !key.Live {
			left = append(left, key.Path)
			continue
		}
		taken = append(taken, key.Path)
		key.Value.Clear()
		for _, item := range later[i].Value.Items() {
			if err := key.Value.Add(item); err != nil {
				panic("config: " + key.Path + ": " + err.Error()) // it has been checked
			}
		}
	}
	return taken, left
}
