package api_test

import (
	"encoding/json"
	"testing"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/serve/http/api"
)

// Answers of an earlier version are read as those of this one.
func TestPublishersOfAnEarlierVersion(t *testing.T) {
	many := article.NewPublishers(article.MaxPublishers + 1)
	for text, want := range map[string]article.Publishers{
		`{"publishers":3,"recent":2}`:                         article.NewPublishers(3),
		`{"publishers":64,"recent":2}`:                        article.NewPublishers(64),
		`{"publishers":64,"publishers_more":true,"recent":2}`: many,
		`{"publishers":"64+","recent":2}`:                     many,
	} {
		var signals api.Signals
		if err := json.Unmarshal([]byte(text), &signals); err != nil || signals.Publishers != want ||
			signals.Recent != 2 {
			t.Errorf("signals %s: %+v, %v", text, signals, err)
		}
		var story api.Story
		if err := json.Unmarshal([]byte(text), &story); err != nil || story.Publishers != want ||
			story.Recent != 2 {
			t.Errorf("a story %s: %+v, %v", text, story, err)
		}
	}
}
