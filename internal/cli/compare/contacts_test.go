package compare

import (
	"reflect"
	"testing"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/message/article"
)

// The contacts of both are found as contacts.join finds them, whether it is on or not.
func TestFindContacts(t *testing.T) {
	text := func(content string) Text { return Text{Article: article.Article{Content: content}} }
	var r Report
	err := r.findContacts(config.Default().MethodSettings(),
		text("Ask for A L E X I S 1 7 at www.winslots.com"),
		text("ＡＬＥＸＩＳ１７, or call 020 5550 1234"))
	want := Report{
		A:      About{Contacts: []string{"name:alexis17", "site:winslots.com"}},
		B:      About{Contacts: []string{"name:alexis17", "number:02055501234"}},
		Shared: []string{"name:alexis17"},
	}
	if err != nil || !reflect.DeepEqual(r, want) {
		t.Errorf("%+v, %v; want %+v", r, err, want)
	}
}
