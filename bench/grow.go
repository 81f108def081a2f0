package main

import (
	"context"
	"fmt"
	"runtime"
)

// point is one load in a series that shows how cost grows.
type point struct {
	label      string
	size       int // of the contents, in the mean, in bytes
	partitions int
	threads    int // GOMAXPROCS of clusterd, 0 for its default
}

// series returns what clusterd is measured on: each grows in one thing.
func (b *bench) series() (names []string, points [][]point) {
	var sizes, threads, partitions []point
	for _, size := range []int{50, 200, 1_000, 2_000, 10_000, 100_000} {
		sizes = append(sizes, point{inBytes(size), size, b.settings.partitions, 0})
	}
	for n := 1; n <= runtime.NumCPU(); n *= 2 {
		threads = append(threads, point{fmt.Sprint(n), newsSize, b.settings.partitions, n})
	}
	for _, n := range []int{1, 4, 16} {
		partitions = append(partitions, point{fmt.Sprint(n), newsSize, n, 0})
	}
	return []string{"content", "threads", "partitions"}, [][]point{sizes, threads, partitions}
}

// grow measures clusterd on each series, its points in turns.
func (b *bench) grow(ctx context.Context) error {
	names, series := b.series()
	for s, points := range series {
		growth := growthReport{Name: names[s]}
		for i, p := range points {
			n := b.records(p.size)
			say("%s %s: producing %d records", names[s], p.label, n)
			size, err := b.kafka.produce(ctx, b.topic(s, i), p.partitions,
				newCorpus("g", b.news, p.size, p.size >= 1_000), n)
			if err != nil {
				return err
			}
			growth.Points = append(growth.Points, pointReport{Label: p.label, Records: n, Bytes: size})
		}
		for round := range b.settings.rounds {
			for i, p := range points {
				var env []string
				if p.threads > 0 {
					env = []string{fmt.Sprintf("GOMAXPROCS=%d", p.threads)}
				}
				id := fmt.Sprintf("%s-%d-%d", names[s], i, round+1)
				m, err := b.one(ctx, contenders()[0], id, b.topic(s, i), p.partitions, growth.Points[i].Records,
					env...)
				if err != nil {
					return err
				}
				say("%s %s, round %d of %d: %.0f records/s", names[s], p.label, round+1, b.settings.rounds,
					m.rate())
				growth.Points[i].Rounds = append(growth.Points[i].Rounds, m)
			}
		}
		b.report.Growth = append(b.report.Growth, growth)
		if err := b.kafka.dropTopics(ctx, b.prefix); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) topic(series, point int) string {
	return fmt.Sprintf("%sgrow-%d-%d", b.prefix, series, point)
}

// records returns how many articles of a size are as much work, about, as the news.
func (b *bench) records(size int) int {
	return min(b.settings.comments, max(100, b.settings.news*newsSize/size))
}

// inBytes writes a size as a person would.
func inBytes(n int) string {
	if n >= 1_000 {
		return fmt.Sprintf("%d KB", n/1_000)
	}
	return fmt.Sprintf("%d B", n)
}
