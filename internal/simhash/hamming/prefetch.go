package hamming

// prefetchLen is how many buckets are prefetched before the first of them is used.
const prefetchLen = 64

// A prefetch reads a word of each of several places in memory before any of them is used. So the
// processor waits for all of these cache misses at once, and not for one after the other. Go has no
// instruction for that. The sum of the words means nothing: who keeps it keeps the compiler from
// leaving the reads out.
type prefetch uint64

func (p *prefetch) read(word uint64) { *p += prefetch(word) }
