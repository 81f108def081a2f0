package daemon

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/serve/http"
)

// hangups returns a channel of SIGHUPs, which no longer end the process until stop is called.
func hangups() (told <-chan os.Signal, stop func()) {
	all := make(chan os.Signal, 1)
	signal.Notify(all, syscall.SIGHUP)
	return all, func() { signal.Stop(all) }
}

// reloadOn reads the configuration again whenever it is told to, until ctx ends. It takes over what
// can change meanwhile.
func (o *Options) reloadOn(
	ctx context.Context, told <-chan os.Signal, now config.Config, server *httpapi.Server,
) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-told:
		}
		if !o.reload(&now) {
			continue
		}
		if o.Level != nil {
			o.Level.Set(now.Log.Severity())
		}
		server.SetRate(now.HTTP.Rate)
		if limitMemory(now.Memory, o.Log) == "none" {
			o.Log.Info("memory has no limit")
		}
	}
}

// reload reads the configuration again, and reports whether it has taken something over. A file
// with an error changes nothing.
func (o *Options) reload(now *config.Config) bool {
	if o.Load == nil {
		o.Log.Info("SIGHUP: the configuration is in no file that could be read again")
		return false
	}
	next, err := o.Load()
	if err != nil {
		o.Log.Error("SIGHUP: the configuration cannot be read again, and nothing has changed: mend it, "+
			"and send the signal once more", "error", err)
		return false
	}
	taken, left := now.Update(next)
	if len(left) > 0 {
		o.Log.Warn("SIGHUP: some keys cannot change while clusterd runs: they take effect at the next "+
			"start", "keys", left)
	}
	o.Log.Info("SIGHUP: the configuration was read again", "changed", taken)
	return len(taken) > 0
}
