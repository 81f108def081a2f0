package article_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/testutil/schematest"
)

const (
	articleRecord = `{"target":"article","cluster_id":"articles/2/7","article_id":"a1",` +
		`"source":"articles/2/9","member_position":41,"fingerprint":"00ff00ff00ff00ff","label":"ham"}`
	contactRecord = `{"target":"contact","contact":"number:+447700900123","label":"spam"}`
)

// A label record names a cluster, an article or a contact.
func TestParseTargets(t *testing.T) {
	of := article.Address{Topic: "articles", Partition: 2, Offset: 7}
	for value, want := range map[string]struct {
		cluster article.Address
		article.Targeted
	}{
		`{"target":"cluster","cluster_id":"articles/2/7","label":"spam"}`: {cluster: of},
		`{"target":"","cluster_id":"articles/2/7","label":"spam","contact":"x","source":"y"}`: {
			cluster: of,
		},
		articleRecord: {of, article.Targeted{
			Target: article.TargetArticle, ArticleID: "a1", MemberPosition: 41,
			Source:      article.Address{Topic: "articles", Partition: 2, Offset: 9},
			Fingerprint: 0x00ff00ff00ff00ff,
		}},
		contactRecord: {Targeted: article.Targeted{
			Target: article.TargetContact, Contact: "number:+447700900123",
		}},
		`{"target":"contact","contact":"name:crypto_anna","space":"shop 1","partition":3,` +
			`"label":"spam","action":"remove"}`: {Targeted: article.Targeted{
			Target: article.TargetContact, Contact: "name:crypto_anna", Space: "shop 1", Partition: 3,
		}},
	} {
		got, rejection := article.ParseLabelRecord([]byte(value), written, labelAddress())
		if rejection != nil || got.Cluster != want.cluster ||
			!reflect.DeepEqual(got.Targeted, want.Targeted) {
			t.Errorf("%s: %+v, %v; want %+v", value, got, rejection, want)
		}
	}
}

// A record that does not say all of its target is a bad label, and the reason says which field.
func TestParseTargetsRejects(t *testing.T) {
	for _, c := range []struct{ record, from, to, reason string }{
		{contactRecord, `"contact",`, `"number",`, "there are cluster, article and contact"},
		{contactRecord, `+447700900123`, ``, "contact: "},
		{contactRecord, `number:`, ``, "contact: "},
		{contactRecord, `+447700900123`, `+44 7700`, "white space"},
		{contactRecord, `+447700900123`, strings.Repeat("7", 97), "at most 96 bytes"},
		{contactRecord, `"label"`, `"partition":-1,"label"`, "partition: -1"},
		{contactRecord, `"label"`, `"partition":2147483648,"label"`, "no JSON object"},
		{contactRecord, `"label"`, `"space":"` + strings.Repeat("s", 257) + `","label"`, "space has 257"},
		{contactRecord, `"label"`, `"action":"resume","label"`, "is for actions add and remove"},
		{contactRecord, `"label":"spam"`, `"action":"split"`, "is for actions add and remove"},
		{contactRecord, `"label":"spam"`, `"by":"alice"`, "label has 0 bytes"},
		{articleRecord, `"cluster_id":"articles/2/7",`, ``, "cluster_id: "},
		{articleRecord, `"article_id":"a1",`, ``, "article_id has 0 bytes"},
		{articleRecord, `"a1"`, `"` + strings.Repeat("a", 1025) + `"`, "article_id has 1025 bytes"},
		{articleRecord, `"source":"articles/2/9",`, ``, "source: "},
		{articleRecord, `articles/2/9`, `articles/2/09`, "source: "},
		{articleRecord, `"member_position":41,`, ``, "member_position: "},
		{articleRecord, `41`, `-1`, "member_position: "},
		{articleRecord, `41`, `9007199254740992`, "member_position: "},
		{articleRecord, `,"fingerprint":"00ff00ff00ff00ff"`, ``, "fingerprint: "},
		{articleRecord, `00ff00ff`, `00ff`, "16 hexadecimal digits"},
	} {
		value := strings.Replace(c.record, c.from, c.to, 1)
		got, rejection := article.ParseLabelRecord([]byte(value), written, labelAddress())
		if value == c.record || rejection == nil || rejection.Class != article.BadLabel ||
			!strings.Contains(rejection.Reason, c.reason) ||
			!reflect.DeepEqual(got, article.LabelRecord{}) {
			t.Errorf("%s: %+v, %v; want %q", value, got, rejection, c.reason)
		}
		if err := schematest.Check("label", []byte(value)); err == nil {
			t.Errorf("%s is as the schema says", value)
		}
	}
	for _, record := range []string{articleRecord, contactRecord} {
		if err := schematest.Check("label", []byte(record)); err != nil {
			t.Errorf("%s: %v", record, err)
		}
	}
}
