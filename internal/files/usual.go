// usual.go finds the fields of articles that have no text where the configuration says. JSON
// objects go in. The fields that they seem to have come out, by the names that producers usually
// give to fields.

package files

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/clusterd/clusterd/internal/message/article"
)

// The parts of an article.
const (
	content = iota
	title
	id
	sourceField
	publishedAt
	parts // how many they are
)

// usualNames returns the names of the parts, the most usual first, in lower case. A dot is a step
// into an object.
func usualNames() [parts][]string {
	return [parts][]string{
		id:    {"id", "_id", "uuid", "guid", "comment_id", "message_id"},
		title: {"title", "title.rendered", "headline", "subject", "标题"},
		content: {
			"content", "content.rendered", "text", "body", "message", "comment", "comment_text",
			"comment_content", "comment_body", "review", "review_text", "tweet", "post", "msg",
			"description", "内容", "正文", "评论",
		},
		sourceField: {"source", "site", "publisher"},
		publishedAt: {
			"published_at", "created_at", "published", "created", "created_utc", "timestamp", "date", "time",
		},
	}
}

// Of hostile objects, no more than this is looked at.
const (
	maxDepth     = 4  // objects within objects
	maxPathBytes = 60 // of a path
	maxSightings = 1000
)

// Useless reports whether a record is a JSON object that has no text where title and content should
// be.
func Useless(a article.Article, rejection *article.Rejection) bool {
	if rejection != nil {
		return rejection.Class == article.Empty || rejection.Class == article.BadField
	}
	return strings.TrimSpace(a.Title) == "" && strings.TrimSpace(a.Content) == ""
}

// Sightings are where useless records have what may be parts of articles.
type Sightings struct {
	fields article.Fields
	names  [parts][]string
	counts map[sighting]int // of records
}

// A sighting is the path of a value that may be this part.
type sighting struct {
	part int
	path string
}

// NewSightings returns Sightings for articles whose parts should be in these fields.
func NewSightings(fields article.Fields) *Sightings {
	return &Sightings{fields: fields, names: usualNames(), counts: make(map[sighting]int)}
}

// Add adds the value of a useless record.
func (s *Sightings) Add(value []byte) { s.add("", gjson.ParseBytes(value), 1) }

func (s *Sightings) add(prefix string, object gjson.Result, depth int) {
	object.ForEach(func(key, value gjson.Result) bool {
		path := prefix + key.Str
		switch {
		case strings.Contains(key.Str, ".") || len(path) > maxPathBytes:
			// A path of the configuration cannot lead there, or would be very long.
		case value.IsObject() && depth < maxDepth:
			s.add(path+".", value, depth+1)
		default:
			s.see(path, value)
		}
		return true
	})
}

// see counts a path for each part that may stand there.
func (s *Sightings) see(path string, value gjson.Result) {
	text := value.Type == gjson.String && strings.TrimSpace(value.Str) != ""
	folded := fold(path)
	for part, names := range s.names {
		number := value.Type == gjson.Number && (part == id || part == publishedAt)
		_, _, isUsual := match(folded, names)
		if (text || number) && (isUsual || path == *field(&s.fields, part)) {
			seen := sighting{part, path}
			if s.counts[seen] > 0 {
				s.counts[seen]++
			} else if len(s.counts) < maxSightings {
				s.counts[sighting{part, strings.Clone(path)}] = 1
			}
		}
	}
}

func field(f *article.Fields, part int) *string {
	return [parts]*string{
		id: &f.ID, title: &f.Title, content: &f.Content, sourceField: &f.Source,
		publishedAt: &f.PublishedAt,
	}[part]
}

// fold returns a path in lower case, with one mark between words.
func fold(path string) string {
	path = strings.ReplaceAll(strings.ToLower(path), " ", "_")
	return strings.ReplaceAll(path, "-", "_")
}

// match returns how usual the name at the end of a folded path is, 0 for the most usual one, and
// the part of the path before it.
func match(folded string, names []string) (rank int, before string, ok bool) {
	for i, name := range names {
		before, ok := strings.CutSuffix(folded, name)
		if ok && (before == "" || strings.HasSuffix(before, ".")) {
			return i, before, true
		}
	}
	return 0, "", false
}

// Fields returns the fields that the records seem to have, and which were taken for which parts. It
// takes none if there is no text in usual fields.
func (s *Sightings) Fields() (fields article.Fields, taken string) {
	anywhere := func(string) bool { return true }
	var found [parts]string
	var before string
	if found[content], before = s.best(content, anywhere); found[content] != "" {
		// In another object it is the title of something else, such as the page with the comments.
		found[title], _ = s.best(title, func(b string) bool { return b == before })
	} else if found[title], before = s.best(title, anywhere); found[title] == "" {
		return s.fields, ""
	}
	for _, part := range []int{id, sourceField, publishedAt} {
		if s.counts[sighting{part, *field(&s.fields, part)}] > 0 {
			continue // the records have it in the configured field
		}
		found[part], _ = s.best(part, func(b string) bool { return b == before })
		if found[part] == "" {
			found[part], _ = s.best(part, func(b string) bool { return b == "" })
		}
	}
	fields = s.fields
	var all []string
	keys := [parts]string{
		id: "id", title: "title", content: "content", sourceField: "source", publishedAt: "published_at",
	}
	for part, path := range found {
		if path != "" {
			*field(&fields, part) = path
			all = append(all, fmt.Sprintf("%s: %q", keys[part], path))
		}
	}
	return fields, strings.Join(all, ", ")
}

// best returns a path and the part of it before the name, which must be allowed. It is the path of
// the most usual name. Paths that fewer than half as many records have as another one do not count.
func (s *Sightings) best(part int, allowed func(before string) bool) (path, before string) {
	type candidate struct {
		path, before string
		rank, count  int
	}
	var all []candidate
	most := 0
	for seen, count := range s.counts {
		rank, before, ok := match(fold(seen.path), s.names[part])
		if seen.part == part && ok && allowed(before) {
			all = append(all, candidate{seen.path, before, rank, count})
			most = max(most, count)
		}
	}
	all = slices.DeleteFunc(all, func(c candidate) bool { return 2*c.count < most })
	if len(all) == 0 {
		return "", ""
	}
	first := slices.MinFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank),
			cmp.Compare(strings.Count(a.path, "."), strings.Count(b.path, ".")),
			cmp.Compare(a.path, b.path))
	})
	return first.path, first.before
}
