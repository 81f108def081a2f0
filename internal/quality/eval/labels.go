package eval

// Purity says how far clusters keep labels apart. Documents without a label are left out.
type Purity struct {
	// Labelled documents, of which Alone are the only labelled one of their cluster.
	Labelled int `json:"labelled"`
	Alone    int `json:"alone"`
	// Share of the labelled documents that have the most frequent label of their cluster, and the same
	// of those that are not alone, which are those that it says something of.
	Share   float64 `json:"share"`
	Grouped float64 `json:"grouped_share"`
	// Agreement is that of clusters and labels. It means something where a label is what a cluster
	// should be, such as an event, and little where it is a class, such as spam.
	Agreement
}

// PurityOf returns the purity of a clustering of the documents by their labels.
func PurityOf(docs []Document, c Clustering) Purity {
	of := overlapLabels(docs, c, func(int) bool { return true })
	frequent := make(map[int]int) // of each cluster, the documents with its most frequent label
	for both, n := range of.Both {
		frequent[both[1]] = max(frequent[both[1]], n)
	}
	p, grouped := Purity{Agreement: of.agreement()}, 0
	for cluster, size := range of.Found {
		p.Labelled += size
		if size == 1 {
			p.Alone++
		} else {
			grouped += frequent[cluster]
		}
	}
	p.Grouped = ratio(grouped, p.Labelled-p.Alone)
	p.Share = ratio(grouped+p.Alone, p.Labelled)
	return p
}

// overlapLabels returns how labels and clusters overlap, of those documents with a label that
// count. A document without a cluster is a cluster of its own.
func overlapLabels(docs []Document, c Clustering, counts func(document int) bool) Overlaps {
	var labels, found []int
	numbers := make(map[string]int)
	for i := range docs {
		label := docs[i].Label
		if label == "" || !counts(i) {
			continue
		}
		if _, known := numbers[label]; !known {
			numbers[label] = len(numbers)
		}
		cluster := c[i]
		if cluster < 0 {
			cluster = len(c) + i
		}
		labels, found = append(labels, numbers[label]), append(found, cluster)
	}
	return Overlap(labels, found)
}
