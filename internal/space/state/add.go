package state

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/parallel"
	"github.com/clusterd/clusterd/internal/space/disk"
)

// Add adds clusters that are not in the store, each once, much faster than Apply. It sets
// m.Founders as Apply does. The next Apply is to be with m: without it the store is damaged when it
// is opened again, since it then has clusters that its meta data do not count. After an error
// nothing can be done but Close.
func (s *Store) Add(ctx context.Context, clusters []*cluster.Cluster, m *Meta) error {
	// In the order of their seqs, the other keys are nearly in theirs, too.
	slices.SortFunc(clusters, func(a, b *cluster.Cluster) int { return cmp.Compare(a.Seq, b.Seq) })
	byKind := make(map[byte][]disk.Entry)
	for _, kind := range []byte{clusterKey, expiryKey, founderKey} {
		byKind[kind] = make([]disk.Entry, len(clusters))
	}
	all, expiry, founders := byKind[clusterKey], byKind[expiryKey], byKind[founderKey]
	failed := make([]error, len(clusters))
	parallel.Chunks(len(clusters), func(from, to int) {
		for i := from; i < to; i++ {
			k := clusters[i]
			failed[i] = s.addable(k)
			all[i] = disk.Entry{Key: keyOfCluster(k.Seq), Value: encodeCluster(*k, k.LastSeen)}
			expiry[i] = disk.Entry{
				Key: keyOfExpiry(k.Space, k.LastSeen, k.Seq), Value: encodeCentre(k.Centre),
			}
			founders[i] = disk.Entry{Key: keyOfFounder(k.Founder), Value: all[i].Key[1:]} // the seq
		}
	})
	if err := errors.Join(failed...); err != nil {
		return err
	}
	var labellings []labelling
	for _, k := range clusters {
		holders(k, func(key, value []byte) {
			byKind[key[0]] = append(byKind[key[0]], disk.Entry{Key: key, Value: value})
		})
		if k.Story != "" {
			byKind[memberKey] = append(byKind[memberKey],
				disk.Entry{Key: keyOfMember(k.Story, k.Seq)})
		}
		if k.Labelled() {
			byKind[labelledKey] = append(byKind[labelledKey], disk.Entry{Key: keyOfLabelled(k.Seq)})
			labellings = append(labellings, labelling{centreOf(k), true})
		}
		if at, ok := m.Founders[k.Founder.Partition]; !ok || k.Founder.Offset > at {
			m.Founders[k.Founder.Partition] = k.Founder.Offset
		}
		if before, ok := s.oldest[k.Space]; ok && k.LastSeen < before {
			s.oldest[k.Space] = k.LastSeen
		}
	}
	tables := make([][]disk.Entry, 0, len(byKind))
	for _, entries := range byKind {
		tables = append(tables, entries)
	}
	if err := s.db.Ingest(ctx, tables...); err != nil {
		return err
	}
	s.live += len(clusters)
	s.relabel(labellings)
	return nil
}

// addable returns an error for a cluster that could not be read back.
func (s *Store) addable(k *cluster.Cluster) error {
	if err := k.Validate(); err != nil {
		return fmt.Errorf("cluster %s: %w", k.Founder, err)
	}
	if k.Founder.Topic != s.identity.Input {
		return fmt.Errorf("cluster %s is not of topic %s", k.Founder, s.identity.Input)
	}
	return nil
}
