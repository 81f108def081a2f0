package topics

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/testutil/kafkatest"
	"github.com/clusterd/clusterd/internal/testutil/texts"
)

func at(topic string, offset int64) article.Address {
	return article.Address{Topic: topic, Offset: offset}
}

func TestArticlesAreReadAgain(t *testing.T) {
	cluster := kafkatest.Start(t, 1, kfake.SeedTopics(1, "articles"))
	client := kafkatest.Connect(t, kafka.Options{Brokers: cluster.ListenAddrs()})
	writer, err := kgo.NewClient(kgo.SeedBrokers(client.Brokers...))
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	for _, value := range []string{
		"gone", string(texts.ArticleJSON("a", "港口", "大桥今天通车")), "no article",
		string(texts.ArticleJSON("b", "", strings.Repeat("x", 2000))),
	} {
		record := &kgo.Record{Topic: "articles", Value: []byte(value)}
		if err := writer.ProduceSync(t.Context(), record).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := kadm.NewClient(writer).DeleteRecords(t.Context(), kadm.Offsets{
		"articles": {0: {Topic: "articles", At: 1}},
	}); err != nil {
		t.Fatal(err)
	}
	decoder, err := article.NewDecoder(article.JSON,
		article.Fields{ID: "id", Title: "title", Content: "content"}, 1000, "auto")
	if err != nil {
		t.Fatal(err)
	}
	r := &Reader{
		Client: client, Log: slog.New(slog.DiscardHandler), Topic: "articles", Decoder: decoder,
		MaxBytes: 1000,
	}
	got, err := r.Articles(t.Context(), []article.Address{
		at("articles", 1), at("articles", 0), at("articles", 2), at("articles", 3), at("others", 1),
		at("articles", 1),
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		content string
		gone    Gone
		reason  string
	}{
		{"大桥今天通车", "", ""},
		{"", ByRetention, "so long"},
		{"", Unreadable, "bad_json"},
		{"", Unreadable, "too_large"},
		{"", Unreadable, "topic others"},
		{"大桥今天通车", "", ""},
	} {
		if g := got[i]; g.Article.Content != want.content || g.Gone != want.gone ||
			!strings.Contains(g.Reason, want.reason) || (g.Reason == "") != (want.gone == "") {
			t.Errorf("%d: %+v, want %+v", i, g, want)
		}
	}
	if _, err := r.Articles(t.Context(), make([]article.Address, MaxTexts+1)); err == nil {
		t.Error("too many are taken")
	}
}
