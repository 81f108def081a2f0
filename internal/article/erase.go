package article

import "fmt"

// EraseText takes what is kept of an article's text out of its cluster and its stories.
const EraseText Action = "erase"

// erase reads a record of [EraseText]. Of the article it has the Source alone: the id may be
// personal data, too.
func (w *labelRecord) erase(r LabelRecord) (LabelRecord, error) {
	switch {
	case w.Target != TargetArticle:
		return r, fmt.Errorf("target %.80q: action %s has target %s", w.Target, EraseText, TargetArticle)
	case w.Label != "" || w.Trial:
		return r, fmt.Errorf("action %s has no label", EraseText)
	}
	r.Target = TargetArticle
	var err error
	if r.Cluster, err = ParseAddress(w.ClusterID); err != nil || r.Cluster.String() != w.ClusterID {
		return r, fmt.Errorf("cluster_id: %.300q is not topic/partition/offset", w.ClusterID)
	}
	if r.Source, err = ParseAddress(w.Source); err != nil || r.Source.String() != w.Source {
		return r, fmt.Errorf("source: %.300q is not topic/partition/offset", w.Source)
	}
	return r, nil
}
