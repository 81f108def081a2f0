package singlepass

// ShareFloors lets so many Seqs share a floor: a test has fewer than a daemon.
func (s *Space) ShareFloors(seqs uint64) { s.floors.seqs = seqs }

// Floor returns the floor of a Seq, and how many there are.
func (s *Space) Floor(seq uint64) (at int64, floors int) {
	return s.floors.of(seq), len(s.floors.at)
}
