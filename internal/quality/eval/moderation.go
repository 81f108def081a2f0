package eval

// A Moderation is what clusters save a moderator who reads a stream, and labels a cluster as soon
// as it has a positive document, such as spam. What joins it from then on needs no reading.
type Moderation struct {
	Work
	// Parts are those of the stream, one after the other, with equally many documents each, but for
	// rounding. What was labelled in one part is known in those after it.
	Parts []Work `json:"parts"`
}

// Work is a moderator's in a stream, or in a part of one. Documents without a label join clusters,
// and are neither positive nor honest. A document in which there is nothing to compare, or which is
// no article, is in no cluster: it is neither caught nor hit, and no click.
type Work struct {
	Documents int `json:"documents"`
	Positive  int `json:"positive"`
	// Caught counts positive documents that joined a cluster which was labelled before them.
	Caught int `json:"caught"`
	Honest int `json:"honest"` // with another label
	// Hit counts honest documents that joined a cluster which was labelled before them.
	Hit int `json:"hit"`
	// Clicks counts clusters that were labelled, each at its first positive document.
	Clicks int `json:"clicks"`

	CaughtShare    float64 `json:"caught_share"`     // of the positive documents
	HitPerThousand float64 `json:"hit_per_thousand"` // honest documents
}

// Moderate returns a moderator's work on a clustering of the documents, in their order, in all and
// in so many parts.
func Moderate(docs []Document, c Clustering, positive string, parts int) Moderation {
	m := Moderation{Parts: make([]Work, min(parts, len(docs)))}
	labelled := make(map[int]bool)
	for p := range m.Parts {
		w := &m.Parts[p]
		for i := p * len(docs) / len(m.Parts); i < (p+1)*len(docs)/len(m.Parts); i++ {
			w.see(docs[i].Label, positive, c[i], labelled)
		}
		m.add(*w)
		w.shares()
	}
	m.shares()
	return m
}

// see takes one document to the moderator.
func (w *Work) see(label, positive string, cluster int, labelled map[int]bool) {
	w.Documents++
	known := cluster >= 0 && labelled[cluster]
	switch label {
	case "":
	case positive:
		w.Positive++
		if known {
			w.Caught++
		} else if cluster >= 0 {
			w.Clicks++
			labelled[cluster] = true
		}
	default:
		w.Honest++
		if known {
			w.Hit++
		}
	}
}

func (w *Work) add(o Work) {
	w.Documents += o.Documents
	w.Positive += o.Positive
	w.Caught += o.Caught
	w.Honest += o.Honest
	w.Hit += o.Hit
	w.Clicks += o.Clicks
}

func (w *Work) shares() {
	w.CaughtShare, w.HitPerThousand = ratio(w.Caught, w.Positive), ratio(1000*w.Hit, w.Honest)
}
