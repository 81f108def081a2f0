package kafka_test

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/clusterd/clusterd/internal/testutil/kafkatest"
)

// A topic that is deleted and created again has another id, where the brokers give topics some.
func TestTopicIDs(t *testing.T) {
	for name, tt := range map[string]struct {
		brokers  *kversion.Versions
		ids, use bool
	}{
		"2.7": {kversion.V2_7_0(), false, false},
		"2.8": {kversion.V2_8_0(), true, false},
		"3.9": {kversion.V3_9_0(), true, true},
	} {
		t.Run(name, func(t *testing.T) {
			_, c := startBroker(t, kfake.SeedTopics(1, "articles", "labels"),
				kfake.MaxVersions(tt.brokers))
			client := kafkatest.Connect(t, c)
			ids := func() map[string]string {
				t.Helper()
				ids, err := client.TopicIDs(t.Context(), "articles", "labels", "nothing")
				if err != nil || len(ids) != 2 {
					t.Fatalf("TopicIDs = %v, %v; want those of two topics", ids, err)
				}
				return ids
			}
			before := ids()
			if got := before["articles"] != ""; got != tt.ids || client.FetchesByID() != tt.use {
				t.Errorf("there are ids: %v, and fetches by them: %v", got, client.FetchesByID())
			}
			k, err := kgo.NewClient(kgo.SeedBrokers(c.Brokers...))
			if err != nil {
				t.Fatal(err)
			}
			defer k.Close()
			admin := kadm.NewClient(k)
			if _, err := admin.DeleteTopics(t.Context(), "articles"); err != nil {
				t.Fatal(err)
			}
			if _, err := admin.CreateTopics(t.Context(), 1, 1, nil, "articles"); err != nil {
				t.Fatal(err)
			}
			after := ids()
			if changed := after["articles"] != before["articles"]; changed != tt.ids ||
				after["labels"] != before["labels"] {
				t.Errorf("ids %v after %v, when articles was created again", after, before)
			}
		})
	}
}
