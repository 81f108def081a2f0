package doctor

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
)

// ahead is how far the newest article may lie in the future of this machine.
const ahead = time.Minute

// checkClock holds this machine's clock against the newest timestamp of the input: brokers do not
// tell the time.
func (e *examination) checkClock(ctx context.Context) {
	if len(e.topics[e.config.Input.Topic].Partitions) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	newest, err := e.admin.ListMaxTimestampOffsets(ctx, e.config.Input.Topic)
	if err != nil || newest.Error() != nil {
		return // brokers before 3.0 do not know
	}
	last := int64(-1)
	newest.Each(func(o kadm.ListedOffset) { last = max(last, o.Timestamp) })
	if last < 0 {
		e.ok("clock", "nothing to compare it with: the input is empty")
		return
	}
	at := time.UnixMilli(last)
	if by := at.Sub(e.now); by > ahead {
		e.warn("clock", "check this machine's clock (timedatectl), then the producers'",
			"the newest article is %s in the future: windows run by the time of articles",
			by.Round(time.Second))
		return
	}
	e.ok("clock", "the newest article is of %s ago", e.now.Sub(at).Round(time.Second))
}
