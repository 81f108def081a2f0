package sample

import (
	"errors"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
	"golang.org/x/text/width"
)

// Adverts run in campaigns: for an epoch of the feed a few adverts come again
// and again with other names, numbers and pages. What they sell stays, and where
// one is to ask for it, but that is written in ever other ways. Then others follow.
const (
	epoch            = 500 // articles
	runningCampaigns = 4
)

// A campaigns makes the adverts of the running campaigns.
type campaigns struct {
	epoch   int
	running []campaign
}

type campaign struct {
	advert template
	slots  map[string]slot // what is fixed all through the campaign
	first  string          // the ID of its first advert, "" before it
}

// next returns the content of an advert and the ID of its campaign's first, ""
// if it is the first itself.
func (c *campaigns) next(d dice, id string, count int) (content, origin string) {
	if now := 1 + count/epoch; now != c.epoch {
		c.epoch = now
		c.start(d)
	}
	chosen := &c.running[d.n(len(c.running))]
	origin = chosen.first
	if origin == "" {
		chosen.first = id
	}
	w := adverts().Words.draw(d)
	w.slots = chosen.slots
	return chosen.disguise(d, w.text(chosen.advert)), origin
}

// disguise writes the contact of a campaign in one of the ways in which filters
// do not find it.
func (c *campaign) disguise(d dice, text string) string {
	// An advert has one of the two, or none.
	contact := c.slots["contact"].fixed + c.slots["enContact"].fixed
	ways := []string{
		contact, "★" + contact + "★", strings.ToUpper(contact), width.Widen.String(contact),
	}
	if contact == "" {
		return text
	}
	return strings.Replace(text, contact, ways[d.n(len(ways))], 1)
}

// start replaces the running campaigns by others.
func (c *campaigns) start(d dice) {
	c.running = c.running[:0]
	all := adverts().Adverts
	for _, i := range d.order(len(all))[:runningCampaigns] {
		c.running = append(c.running, campaign{advert: all[i], slots: make(map[string]slot)})
	}
}

// An advertisements is the content of adverts.yaml.
type advertisements struct {
	Adverts texts
	Words   words
}

var adverts = sync.OnceValue(func() *advertisements {
	text, err := data.ReadFile("adverts.yaml")
	a := new(advertisements)
	if err == nil {
		err = yaml.UnmarshalWithOptions(text, a, yaml.Strict())
	}
	if err = errors.Join(err, a.Words.check(a.Adverts)); err != nil {
		panic(err) // The file is part of the program, and the tests read it.
	}
	return a
})
