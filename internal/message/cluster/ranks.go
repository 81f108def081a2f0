package cluster

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// Ranks are publishers by how much their headlines are preferred: the best has rank 0. The nil
// Ranks prefer none.
type Ranks map[string]uint32

// LoadRanks reads a file that names a publisher a line, the best first. Empty lines and those that
// begin with # are comments. An empty name of a file is that of none.
func LoadRanks(file string) (Ranks, error) {
	if file == "" {
		return nil, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("ranks of publishers: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	ranks := make(Ranks)
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		name := foldPublisher(lines.Text())
		if name == "" || strings.HasPrefix(name, "#") {
			continue
		}
		if _, ok := ranks[name]; !ok {
			ranks[name] = uint32(len(ranks))
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("ranks of publishers: %s: %w", file, err)
	}
	return ranks, nil
}

// Of returns the rank of a publisher, upper and lower case being the same; [Unranked] of one that
// has none.
func (r Ranks) Of(publisher string) uint32 {
	if len(r) == 0 {
		return Unranked
	}
	if rank, ok := r[foldPublisher(publisher)]; ok {
		return rank
	}
	return Unranked
}

func foldPublisher(name string) string { return strings.ToLower(strings.TrimSpace(name)) }
