package report

import (
	"html/template"
	"math"
	"strings"
)

// A series is told from others by colour, marker and dashes, so that no one of them is needed.
type series int

// A point is a place in the units of the axes.
type point struct{ X, Y float64 }

// A figure is a plot, and the same in words and figures.
type figure struct {
	Title       string
	Description string
	SVG         template.HTML
	Tables      []table
}

// A chart is a plot in the making. Its legend stands below it.
type chart struct {
	x, y   axis
	ground float64 // the threshold, up to which the ground is painted; NaN: there is none
	layers []layer
	legend []layer // each with a name
}

// A layer is what is drawn of a series: a line, a marker at each point, or both.
type layer struct {
	series series
	name   string
	points []point
	line   bool
	radius float64 // of the markers, in pixels; 0: there are none
}

// An axis goes from min to max, evenly or by the logarithm.
type axis struct {
	label       string
	min, max    float64
	ticks       []tick
	logarithmic bool
}

type tick struct {
	at    float64
	label string // may be empty
}

// Radii of markers, in pixels.
const (
	small = 2.6
	large = 6
)

func newChart(x, y string) *chart {
	return &chart{x: axis{label: x}, y: axis{label: y}, ground: math.NaN()}
}

// line adds a line with a marker at each point, and an entry of the legend.
func (c *chart) line(s series, name string, points []point) {
	c.add(layer{series: s, name: name, points: points, line: true, radius: small})
}

// steps adds a line without markers, and an entry of the legend.
func (c *chart) steps(s series, name string, points []point) {
	c.add(layer{series: s, name: name, points: points, line: true})
}

// mark adds a large marker, and an entry of the legend if it has a name.
func (c *chart) mark(s series, name string, at point) {
	c.add(layer{series: s, name: name, points: []point{at}, radius: large})
}

func (c *chart) add(l layer) {
	if len(l.points) == 0 {
		return
	}
	c.layers = append(c.layers, l)
	if l.name != "" {
		l.name = brief(l.name)
		c.legend = append(c.legend, l)
	}
}

// points returns those of n numbers that have one.
func points(n int, at func(i int) (p point, ok bool)) (all []point) {
	for i := range n {
		if p, ok := at(i); ok {
			all = append(all, p)
		}
	}
	return all
}

// lowest returns the lowest place of all points, at most 1.
func (c *chart) lowest() float64 {
	lowest := 1.
	for _, l := range c.layers {
		for _, p := range l.points {
			lowest = min(lowest, p.Y)
		}
	}
	return lowest
}

// brief returns the name of a variant without the sections of its keys, and no longer than leaves
// room for the plot.
func brief(name string) string {
	const longest = 40
	settings := strings.Split(name, ",")
	for i, s := range settings {
		key, value, ok := strings.Cut(s, "=")
		if ok {
			settings[i] = key[strings.LastIndex(key, ".")+1:] + "=" + value
		}
	}
	short := []rune(strings.Join(settings, ","))
	if len(short) > longest {
		short = append(short[:longest-1], '…')
	}
	return string(short)
}

// shares makes an axis of shares, from a round one below the smallest to 1.
func (a *axis) shares(smallest float64) {
	from := math.Floor(math.Min(smallest, .9)*10 + 1e-9)
	step := 1.
	if from < 5 {
		step = 2
		from -= math.Mod(from, step)
	}
	a.even(max(0, from)/10, 1, step/10)
}

// even makes an axis with a tick at each step.
func (a *axis) even(low, high, step float64) {
	a.min, a.max, a.ticks = low, high, nil
	for i := 0.; low+i*step < high+step/1e6; i++ {
		v := low + i*step
		a.ticks = append(a.ticks, tick{v, distance(v)})
	}
}

// round makes an axis from 0 to high with three to six ticks, each step 1, 2 or 5 times a power of
// ten.
func (a *axis) round(high float64) {
	power := math.Pow(10, math.Floor(math.Log10(high))-1)
	step := power
	for _, times := range []float64{1, 2, 5, 10, 20, 50} {
		step = times * power
		if high/step < 6 {
			break
		}
	}
	a.even(0, high, step)
}

// place returns where v stands on the axis: 0 is its beginning, 1 its end.
func (a *axis) place(v float64) float64 {
	if a.logarithmic {
		return math.Log(v/a.min) / math.Log(a.max/a.min)
	}
	return (v - a.min) / (a.max - a.min)
}

func (c *chart) figure(title, description string) figure {
	return figure{Title: title, Description: description, SVG: c.svg(title, description)}
}
