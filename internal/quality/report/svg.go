package report

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"slices"
	"strings"
)

// A chart is as wide as the narrowest telephone, 360 pixels, leaves to it, so that it is read there
// at its own size, and larger on all others.
const (
	chartWidth   = 320.
	chartHeight  = 250. // without the legend
	legendHeight = 15.  // of an entry
	thumbWidth   = 26.  // of a line in the legend
	fontSize     = 11.5
	digitWidth   = 6.4 // of that size
)

// A canvas is a chart as SVG, whose colours are variables of the page: so plots are readable on a
// light and on a dark ground.
type canvas struct {
	strings.Builder
	left, right, top, bottom float64 // the frame of the plot, in pixels
}

// svg draws the chart, to stand in a page that has the colours.
func (c *chart) svg(title, description string) template.HTML {
	longest := slices.MaxFunc(c.y.ticks, func(a, b tick) int { return len(a.label) - len(b.label) })
	s := &canvas{
		left: 30 + digitWidth*float64(len(longest.label)), right: chartWidth - 14,
		top: 8, bottom: chartHeight - 42,
	}
	entries := len(c.legend)
	if !math.IsNaN(c.ground) {
		entries++
	}
	s.print("<svg role=\"img\" viewBox=\"0 0 %g %g\" xmlns=\"http://www.w3.org/2000/svg\">\n",
		chartWidth, chartHeight+float64(entries)*legendHeight)
	s.print("<title>%s</title>\n<desc>%s</desc>\n",
		html.EscapeString(title), html.EscapeString(description))
	if !math.IsNaN(c.ground) {
		s.print("<path style=\"fill:var(--veil)\" d=\"M%.4g,%.4gH%.4gV%.4gH%.4gZ\"/>\n",
			s.left, s.top, s.x(c.x.place(c.ground)), s.bottom, s.left)
	}
	s.axes(c)
	for _, l := range c.layers {
		places := make([]point, len(l.points))
		for i, p := range l.points {
			places[i] = point{s.x(c.x.place(p.X)), s.y(c.y.place(p.Y))}
		}
		s.layer(l, places)
	}
	s.key(c)
	s.print("</svg>")
	return template.HTML(s.String()) // all that is not ours was escaped
}

func (s *canvas) print(format string, values ...any) { fmt.Fprintf(s, format, values...) }

func (s *canvas) x(place float64) float64 { return s.left + place*(s.right-s.left) }

func (s *canvas) y(place float64) float64 { return s.bottom - place*(s.bottom-s.top) }

// text writes words at a place; anchor is start, middle or end.
func (s *canvas) text(x, y float64, anchor, words string) {
	s.print("<text x=\"%.4g\" y=\"%.4g\" style=\"font-size:%gpx;fill:var(--ink);"+
		"text-anchor:%s\">%s</text>\n", x, y, fontSize, anchor, html.EscapeString(words))
}

// axes draws the grid, the ticks and the labels.
func (s *canvas) axes(c *chart) {
	var grid, ink strings.Builder
	for _, t := range c.x.ticks {
		x := s.x(c.x.place(t.at))
		fmt.Fprintf(&grid, "M%.4g,%.4gV%.4g", x, s.top, s.bottom)
		fmt.Fprintf(&ink, "M%.4g,%.4gv4", x, s.bottom)
		s.text(x, s.bottom+16, "middle", t.label)
	}
	for _, t := range c.y.ticks {
		y := s.y(c.y.place(t.at))
		fmt.Fprintf(&grid, "M%.4g,%.4gH%.4g", s.left, y, s.right)
		fmt.Fprintf(&ink, "M%.4g,%.4gh-4", s.left, y)
		s.text(s.left-7, y+4, "end", t.label)
	}
	fmt.Fprintf(&ink, "M%.4g,%.4gV%.4gH%.4g", s.left, s.top, s.bottom, s.right)
	s.print("<path style=\"stroke:var(--grid);stroke-width:.5\" d=\"%s\"/>\n", &grid)
	s.print("<path style=\"fill:none;stroke:var(--ink);stroke-width:.75\" d=\"%s\"/>\n", &ink)
	s.text((s.left+s.right)/2, s.bottom+34, "middle", c.x.label)
	s.print("<g transform=\"rotate(-90 12 %[1]g)\">\n", (s.top+s.bottom)/2)
	s.text(12, (s.top+s.bottom)/2, "middle", c.y.label)
	s.print("</g>\n")
}

// layer draws a line and markers through places in pixels.
func (s *canvas) layer(l layer, places []point) {
	dashes := []string{"none", "6 3", "2 2", "8 3 2 3"}
	const colours = 8
	colour := int(l.series) % colours
	if l.line {
		s.print("<path style=\"fill:none;stroke:var(--s%d);stroke-width:1.6;stroke-dasharray:%s\" d=\"",
			colour, dashes[int(l.series)%len(dashes)])
		command := 'M'
		for _, p := range places {
			s.print("%c%.4g,%.4g", command, p.X, p.Y)
			command = 'L'
		}
		s.print("\"/>\n")
	}
	if l.radius > 0 {
		s.print("<path style=\"fill:var(--s%d)\" d=\"", colour)
		for _, p := range places {
			s.marker(l.series, p, l.radius)
		}
		s.print("\"/>\n")
	}
}

// marker adds a marker to a path: a circle, or a polygon of its own.
func (s *canvas) marker(n series, at point, radius float64) {
	shapes := []struct{ corners, turn float64 }{
		{}, {4, 45}, {3, 90}, {4, 0}, {3, -90}, {5, 90}, {6, 0}, // degrees of the first corner
	}
	shape := shapes[int(n)%len(shapes)]
	if shape.corners == 0 {
		s.print("M%.4g,%.4ga%[3]g,%[3]g 0 1 0 %[4]g,0a%[3]g,%[3]g 0 1 0 -%[4]g,0Z",
			at.X-radius, at.Y, radius, 2*radius)
		return
	}
	radius *= 1.2 // the circle has more area
	command := 'M'
	for i := range int(shape.corners) {
		sin, cos := math.Sincos(shape.turn*math.Pi/180 + 2*math.Pi*float64(i)/shape.corners)
		s.print("%c%.4g,%.4g", command, at.X+radius*cos, at.Y-radius*sin)
		command = 'L'
	}
	s.print("Z")
}

// key draws the legend.
func (s *canvas) key(c *chart) {
	const left, gap = 8., 8.
	y := chartHeight + legendHeight/2
	for _, l := range c.legend {
		ends := []point{{left, y}, {left + thumbWidth, y}}
		if l.radius > 0 {
			line := l
			line.radius = 0
			s.layer(line, ends)
			l.line, ends = false, []point{{left + thumbWidth/2, y}}
		}
		s.layer(l, ends)
		s.text(left+thumbWidth+gap, y+4, "start", l.name)
		y += legendHeight
	}
	if !math.IsNaN(c.ground) {
		s.print("<path style=\"fill:var(--veil);stroke:var(--grid)\" d=\"M%g,%gh%gv10h-%[3]gZ\"/>\n",
			left, y-5, thumbWidth)
		s.text(left+thumbWidth+gap, y+4, "start", "within the threshold")
	}
}
