package eval

// A resolved truth speaks of members, the different ids of documents, by number, and of sets of
// members that are exact copies of one another.
type resolved struct {
	documents []int              // that are not left out
	member    []int              // of each of these
	group     []int              // the true cluster of each member
	pairs     map[[2]int]float64 // Jaccard, of a lower and a higher member, as the truth lists them
	copies    []int              // the set of each member
	sizes     map[int]int        // of the sets
	// similar is the highest Jaccard that the truth lists for a member of a lower and one of a higher
	// set.
	similar map[[2]int]float64
}

func (t *Truth) resolve(docs []Document) resolved {
	b := resolved{pairs: make(map[[2]int]float64)}
	members := make(map[string]int)
	for i := range docs {
		if docs[i].LeftOut {
			continue
		}
		m, known := members[docs[i].ID]
		if !known {
			m = len(members)
			members[docs[i].ID] = m
			b.group = append(b.group, m)
		}
		b.documents, b.member = append(b.documents, i), append(b.member, m)
	}
	names := make(map[string]int)
	for _, row := range t.clusters {
		id, name := row[0], row[1]
		m, known := members[id]
		if !known {
			if m, known = members[name]; !known {
				continue
			}
			name = id
		}
		if _, known := names[name]; !known {
			names[name] = len(members) + len(names)
		}
		b.group[m] = names[name]
	}
	b.resolvePairs(t.pairs, members)
	return b
}

// resolvePairs takes exact copies together. An id that no document has may be what connects them,
// so it has a number beyond those of the members.
func (b *resolved) resolvePairs(pairs []pair, numbers map[string]int) {
	number := func(id string) int {
		n, known := numbers[id]
		if !known {
			n = len(numbers)
			numbers[id] = n
		}
		return n
	}
	listed := make(map[[2]int]float64)
	for _, p := range pairs {
		listed[ordered(number(p.a), number(p.b))] = p.jaccard
	}
	sets := NewSets(len(numbers))
	for p, jaccard := range listed {
		if jaccard >= copyJaccard {
			sets.Join(p[0], p[1])
		}
	}
	b.similar = make(map[[2]int]float64)
	for p, jaccard := range listed {
		if p[1] < len(b.group) && p[0] != p[1] {
			b.pairs[p] = jaccard
		}
		x, y := sets.Of(p[0]), sets.Of(p[1])
		if highest, known := b.similar[ordered(x, y)]; x != y && (!known || jaccard > highest) {
			b.similar[ordered(x, y)] = jaccard
		}
	}
	b.copies, b.sizes = make([]int, len(b.group)), make(map[int]int)
	for m := range b.copies {
		b.copies[m] = sets.Of(m)
		b.sizes[b.copies[m]]++
	}
}

func ordered(x, y int) [2]int { return [2]int{min(x, y), max(x, y)} }

// similarities calls do with each two sets that the truth has a similarity of, and with each set
// and itself.
func (b resolved) similarities(do func(x, y int, jaccard float64)) {
	for set := range b.sizes {
		do(set, set, 1)
	}
	for p, jaccard := range b.similar {
		do(p[0], p[1], jaccard)
	}
}

// A cell is what copies, found cluster and true cluster have in common.
type cell struct{ set, cluster, group int }

// cells count members, by set.
type cells map[int]map[cell]int

func (b resolved) cells(found []int) cells {
	c := make(cells)
	for m, set := range b.copies {
		if c[set] == nil {
			c[set] = make(map[cell]int)
		}
		c[set][cell{set, found[m], b.group[m]}]++
	}
	return c
}

// meet calls do with each two cells of sets x and y in one found cluster, and with how many pairs
// of members they have; where the sets are one, also with a cell and itself.
func (c cells) meet(x, y int, do func(c, d cell, pairs int)) {
	for one, n := range c[x] {
		for other, k := range c[y] {
			switch {
			case one.cluster != other.cluster:
			case one == other:
				do(one, other, n*(n-1)/2)
			case x != y || one.group < other.group: // of one set, each two once
				do(one, other, n*k)
			}
		}
	}
}

// Sets are disjoint sets of numbers, a forest of parents.
type Sets []int

// NewSets returns n sets of one number each.
func NewSets(n int) Sets {
	s := make(Sets, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// Of returns the number that stands for the set that x is in.
func (s Sets) Of(x int) int {
	for s[x] != x {
		s[x] = s[s[x]]
		x = s[x]
	}
	return x
}

// Join makes one set of those of x and y. The number of y's set stands for it.
func (s Sets) Join(x, y int) { s[s.Of(x)] = s.Of(y) }
