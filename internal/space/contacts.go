package space

import "github.com/clusterd/clusterd/internal/message/cluster"

// Contact returns a contact of a value that labels have marked, and whether there is one.
func (v *View) Contact(value, name string) (cluster.Contact, bool, error) {
	return v.snapshot.Contact(value, name)
}

// Contacts hands on each contact that labels have marked, by value and name, until each is false.
func (v *View) Contacts(each func(*cluster.Contact) (more bool)) error {
	return v.snapshot.Contacts(each)
}

// Shared hands on each contact that at least some number of clusters without labels have, as
// [state.Snapshot] says, those that have expired included.
func (v *View) Shared(
	least int, each func(value, contact string, clusters int, oldest uint64) (more bool),
) error {
	return v.snapshot.Shared(least, each)
}

// Unlabelled returns how many clusters without labels have a contact, at most some number, and the
// oldest of them.
func (v *View) Unlabelled(
	value, contact string, most int,
) (clusters int, oldest cluster.Cluster, err error) {
	failed := v.snapshot.Unlabelled(value, contact, func(seq uint64) (more bool) {
		var c cluster.Cluster
		var ok bool
		if c, ok, err = v.Get(seq); err != nil {
			return false
		}
		if ok && clusters == 0 {
			oldest = c
		}
		if ok {
			clusters++
		}
		return clusters < most
	})
	if err == nil {
		err = failed
	}
	return clusters, oldest, err
}
