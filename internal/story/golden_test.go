package story

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/clusterd/clusterd/internal/testutil/golden"
	"github.com/clusterd/clusterd/internal/text"
)

// What the rule makes of a small stream, in two languages, is the same on every machine.
func TestGolden(t *testing.T) {
	tokenizer, err := text.New(text.Options{})
	if err != nil {
		t.Fatal(err)
	}
	counter := tokenizer.NewCounter()
	space := New(Defaults())
	var words Words
	var got bytes.Buffer
	for i, a := range [][2]string{
		{
			"River Alder floods Morley",
			"Water stood in the old mill of Morley on Monday after the Alder broke its banks.",
		},
		{
			"青溪县发生山体滑坡",
			"青溪县石桥镇昨夜发生山体滑坡，三十户村民连夜转移，没有人员伤亡。",
		},
		{
			"Harwick council elects Jane Roe",
			"Jane Roe won the vote for mayor of Harwick by eleven ballots, counted twice.",
		},
		{
			"Morley mill under water",
			"Boats carried people from the mill as the Alder flooded Morley, the fire brigade said.",
		},
		{
			"石桥镇滑坡现场：村民已安全转移",
			"山体滑坡发生后，青溪县消防队赶到石桥镇，村民住进学校，道路正在抢修。",
		},
		{
			"Recount in Harwick upheld",
			"A judge upheld the recount that made Jane Roe mayor of Harwick by eleven ballots.",
		},
		{
			"南屏大桥通车",
			"南屏大桥今天上午通车，两岸居民过江只需五分钟。",
		},
		{
			"Alder falls, Morley cleans up",
			"In Morley the flooded mill reopens on Friday, and the Alder is back in its banks.",
		},
		{"", ""},
	} {
		words.Reset()
		counter.Words(a[0], "", func(w text.Token) { words.Title(w.Word) })
		counter.Words("", a[1], func(w text.Token) { words.Content(w.Word) })
		d := space.Assign(Article{
			Address: fmt.Sprint("articles/0/", i), Seq: uint64(i), EventTime: int64(i),
			Words: words.Vector(), Han: words.Han(),
		})
		fmt.Fprintf(&got, "%d %s %v %d %s %q\n", i, d.Story, d.Joined, d.Similarity, d.Merged, a[0])
	}
	for _, s := range sorted(space) {
		fmt.Fprintf(&got, "%s: %d clusters, %x\n", s.Address, s.Clusters, s.Vector)
	}
	golden.Check(t, "testdata/stories.golden", got.Bytes())
}
