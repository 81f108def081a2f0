package config

import "strings"

// nearest returns the known key or section nearest to an unknown path: by spelling, or of the same
// name in another section. It is empty where none is near.
func (d *decoder) nearest(path string) string {
	leaf := leafOf(path)
	const longest = 64 // a longer name is no misspelling, and comparing it is expensive
	if len(path) > longest {
		return ""
	}
	nearest, limit := "", max(1, len(leaf)/3)+1
	for _, name := range d.names {
		far := min(edits(path, name, limit), 1+edits(leaf, leafOf(name), limit))
		if far < limit {
			nearest, limit = name, far
		}
	}
	return nearest
}

func suggestion(nearest string) string {
	if nearest == "" {
		return ": `clusterd config` shows every key"
	}
	return ": did you mean " + nearest + "?"
}

func leafOf(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// edits returns the optimal string alignment distance of a and b in bytes: the smallest
// number of insertions, deletions, substitutions and swaps of neighbours. From
// limit on it may give any number not below limit.
func edits(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, before
		row[0] = i
		for j := 1; j <= len(b); j++ {
			substitution := last[j-1]
			if a[i-1] != b[j-1] {
				substitution++
			}
			row[j] = min(last[j]+1, row[j-1]+1, substitution)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
