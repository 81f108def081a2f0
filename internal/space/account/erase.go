package account

// Erase removes the text of a cluster's founder from these stories, before the article at a
// position: where it is the headline, and all terms, of which nobody knows whose words they are. It
// reports whether there was any.
func (b *Book) Erase(clusterID string, stories []string, position uint64) (erased bool) {
	for _, id := range stories {
		if s := b.story(id); s.Address != "" && s.EraseText(clusterID) {
			s.Position, erased = position, true
		}
	}
	return erased
}
