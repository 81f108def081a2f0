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
	var p Purity
	counts := make(map[int]map[string]int)
	var labels, found []int // of labelled documents
	numbers := make(map[string]int)
	for i := range docs {
		if docs[i].Label == "" {
			continue
		}
		p.Labelled++
		if _, known := numbers[docs[i].Label]; !known {
			numbers[docs[i].Label] = len(numbers)
		}
		labels = append(labels, numbers[docs[i].Label])
		if c[i] < 0 {
			p.Alone++
			found = append(found, len(c)+i)
			continue
		}
		found = append(found, c[i])
		if counts[c[i]] == nil {
			counts[c[i]] = make(map[string]int)
		}
		counts[c[i]][docs[i].Label]++
	}
	frequent := 0
	for _, labels := range counts {
		size, best := 0, 0
		for _, n := range labels {
			size, best = size+n, max(best, n)
		}
		if size == 1 {
			p.Alone++
		} else {
			frequent += best
		}
	}
	p.Grouped = ratio(frequent, p.Labelled-p.Alone)
	p.Agreement = overlap(labels, found).agreement()
	p.Share = ratio(frequent+p.Alone, p.Labelled)
	return p
}
