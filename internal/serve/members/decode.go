package members

import (
	"math"
	"strconv"
	"unsafe"

	"github.com/tidwall/gjson"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
)

// maxString is how long a string of a result is at most that clusterd wrote: ids are the longest.
const maxString = article.MaxIDBytes

// parse returns the member that a record of the results topic is of. The record is not trusted:
// what clusterd cannot have written is no member. Whether it is valid JSON to its end is not looked
// at: that would take as long as all else.
func (v *View) parse(r *kafka.Record) (m Member, ok bool) {
	if r.Unreadable != nil || r.Cut > 0 || len(r.Value) == 0 {
		return Member{}, false
	}
	// A view, which the strings of the member are not: they are copied when it is encoded.
	value := gjson.Parse(unsafe.String(unsafe.SliceData(r.Value), len(r.Value)))
	if !value.IsObject() {
		return Member{}, false
	}
	size := float64(0)
	value.ForEach(func(key, field gjson.Result) bool {
		switch key.Str {
		case "article_id":
			m.ArticleID = field.Str
		case "cluster_id":
			m.ClusterID = field.Str
		case "status":
			m.Status = article.Status(field.Str)
		case "distance":
			if field.Type == gjson.Number {
				m.Distance = &field.Num
			}
		case "matched":
			m.Matched = article.Match(field.Str)
		case "size":
			size = field.Num
		case "fingerprint":
			var print article.Fingerprint
			if print.UnmarshalText([]byte(field.Str)) == nil {
				m.Fingerprint = &print
			}
		case "labels":
			m.Labels = texts(field)
		case "trial_labels":
			m.TrialLabels = texts(field)
		case "publisher":
			m.Publisher = field.Str
		case "source":
			m.Source = article.Address{
				Topic: field.Get("topic").Str, Partition: int(field.Get("partition").Int()),
				Offset: field.Get("offset").Int(),
			}
			return false // nothing that counts comes after it
		case "pipeline":
			return false // nor after this, which is there where the source is not
		}
		return true
	})
	m.Size, m.Written = int(size), r.Time.UnixMilli()
	m.Result = article.Address{Topic: r.Topic, Partition: r.Partition, Offset: r.Offset}
	return m, m.headers(r.Headers) && v.possible(&m)
}

// possible reports whether a member can be of this view.
func (v *View) possible(m *Member) bool {
	if m.ArticleID == "" || len(m.ArticleID) > maxString ||
		len(m.Publisher) > maxString || !address(m.Source, v.Input) || m.Written < 0 {
		return false
	}
	if m.Status == article.Unclustered {
		return m.ClusterID == "" && m.Size == 0
	}
	founder, err := article.ParseAddress(m.ClusterID)
	if err != nil || !address(founder, v.Input) || founder.String() != m.ClusterID {
		return false
	}
	return m.Size >= 1 && m.Size <= math.MaxInt32 &&
		(m.Status == article.New) == (m.Size == 1) &&
		(m.Status == article.New || m.Status == article.Joined)
}

// address reports whether a record of the topic can have this address.
func address(a article.Address, topic string) bool {
	return a.Topic == topic && a.Partition >= 0 && a.Partition <= math.MaxInt32 && a.Offset >= 0
}

// headers takes from the headers what the value does not say.
func (m *Member) headers(headers []kafka.Header) bool {
	position, eventTime := false, false
	for _, h := range headers {
		var err error
		switch h.Key {
		case article.HeaderSource:
			if m.Source.Topic == "" { // the value does not say it
				m.Source, _ = article.ParseAddress(string(h.Value))
			}
		case article.HeaderPosition:
			m.Position, err = strconv.ParseUint(string(h.Value), 10, 53)
			position = err == nil
		case article.HeaderEventTime:
			m.EventTime, err = strconv.ParseInt(string(h.Value), 10, 53)
			eventTime = err == nil
		}
	}
	if m.Status == article.Unclustered { // earlier versions wrote neither
		return true
	}
	// The founder alone can be the first of its space.
	return position && eventTime && (m.Position > 0 || m.Status == article.New)
}

// texts returns the strings of an array.
func texts(array gjson.Result) (all []string) {
	array.ForEach(func(_, element gjson.Result) bool {
		all = append(all, element.Str)
		return len(all) < math.MaxUint8
	})
	return all
}
