package article

import "fmt"

// Erase takes what is kept of an article's text out of its cluster and its stories, or a contact
// out of clusters and marks.
const Erase Action = "erase"

// erase reads a record of [Erase]. Of an article it has the Source alone: the id may be personal
// data, too.
func (w *labelRecord) erase(r LabelRecord) (LabelRecord, error) {
	var err error
	switch {
	case w.Target != TargetArticle && w.Target != TargetContact:
		return r, fmt.Errorf("target %.80q: action %s has target %s or %s", w.Target, Erase,
			TargetArticle, TargetContact)
	case w.Label != "" || w.Trial:
		return r, fmt.Errorf("action %s has no label", Erase)
	case w.Target == TargetContact:
		r.Targeted, err = w.contact()
		return r, err
	}
	r.Target = TargetArticle
	if r.Cluster, err = addressIn("cluster_id", w.ClusterID); err != nil {
		return r, err
	}
	r.Source, err = addressIn("source", w.Source)
	return r, err
}
