package article

// Parts are the fields that a result has of those which may be left out, a bit for each.
type Parts uint8

// The fields that may be left out.
const (
	RepresentativePart Parts = 1 << iota
	FingerprintPart
	PublishedPart
	SourcePart
	PipelinePart
	AllParts = PipelinePart<<1 - 1
)

// PartsOf returns the fields of these names. Unknown ones are none.
func PartsOf(names []string) (p Parts) {
	for _, name := range names {
		p |= map[string]Parts{
			"representative": RepresentativePart, "fingerprint": FingerprintPart,
			"published_at": PublishedPart, "source": SourcePart, "pipeline": PipelinePart,
		}[name]
	}
	return p
}

func (p Parts) has(part Parts) bool { return p&part != 0 }
