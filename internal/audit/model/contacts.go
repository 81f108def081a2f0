package model

// contacts are the clusters that have contacts, which are digests.
type contacts struct {
	limit int // of articles that may join a cluster by contacts; 0: none may
	// holders are, by contact, the clusters, oldest first, without some that have expired.
	holders map[holderKey][]int
	guessed bool // there is a cluster of which the contacts are not known
}

// A holderKey is a contact among the articles of a value.
type holderKey struct{ space, contact uint64 }

// addHolder notes the contacts of a cluster, the input record of whose founder is known or not.
func (m *Model) addHolder(cluster int, space uint64, of []uint64, known bool) {
	if m.contacts.limit == 0 {
		return
	}
	m.contacts.guessed = m.contacts.guessed || !known
	for _, c := range of {
		h := holderKey{space, c}
		m.contacts.holders[h] = append(m.contacts.holders[h], cluster)
	}
}

// byContact returns the oldest live cluster that has one of the contacts, and that contact: of each
// contact, only the oldest live one counts, and it only if it has not taken in as many as it may.
func (m *Model) byContact(
	space uint64, of []uint64,
) (cluster int, by uint64, ok bool) {
	for _, contact := range of {
		key := holderKey{space, contact}
		holders := m.contacts.holders[key]
		for len(holders) > 0 && m.Expired(holders[0]) {
			holders = holders[1:]
		}
		m.contacts.holders[key] = holders
		if len(holders) == 0 {
			continue
		}
		oldest := holders[0]
		if (!ok || oldest < cluster) && m.clusters[oldest].ByContact < int64(m.contacts.limit) {
			cluster, by, ok = oldest, contact, true
		}
	}
	return cluster, by, ok
}

// joinByContact returns where an article goes that is like no centre. Where the contacts of the
// article or of a cluster are not known, the result is believed if what it says can be.
func (m *Model) joinByContact(a *Article, of []uint64) Placement {
	if m.contacts.limit == 0 {
		return Placement{}
	}
	if !a.Fingerprint.Known || m.contacts.guessed {
		cluster, known := m.founders[a.Cluster]
		if a.Contact != 0 && known && m.mayTake(cluster, a) {
			return Placement{Cluster: cluster, Joined: true, Contact: a.Contact}
		}
		return Placement{}
	}
	cluster, by, ok := m.byContact(a.Space, of)
	return Placement{Cluster: cluster, Joined: ok, Contact: by}
}
