package report

import (
	"bytes"
	"fmt"
	"html"
	"html/template"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A paint is the number of a colour that stands for a variable of the page: so plots are readable
// on a light and on a dark ground. Black is not one, since vgsvg leaves it out.
type paint uint8

const (
	ink paint = iota
	grid
	veil // over what lies within the threshold
	firstSeries
	seriesPaints = 8
	paints       = firstSeries + seriesPaints
)

func (p paint) color() color.Color { return color.RGBA{R: 1, G: 2, B: 3 + uint8(p), A: 255} }

func (p paint) hex() string { return fmt.Sprintf("#0102%02X", 3+uint8(p)) }

func (p paint) variable() string {
	switch p {
	case ink:
		return "var(--ink)"
	case grid:
		return "var(--grid)"
	case veil:
		return "var(--veil)"
	default:
		return fmt.Sprintf("var(--s%d)", p-firstSeries)
	}
}

// A series is told from others by colour, marker and dashes, so that no one of them is needed.
type series int

func (s series) paint() paint { return firstSeries + paint(int(s)%seriesPaints) }

func (s series) line() draw.LineStyle {
	dashes := [][]vg.Length{nil, {6, 3}, {2, 2}, {8, 3, 2, 3}}
	return draw.LineStyle{Color: s.paint().color(), Width: 1.6, Dashes: dashes[int(s)%len(dashes)]}
}

func (s series) glyph(radius vg.Length) draw.GlyphStyle {
	shapes := []draw.GlyphDrawer{
		draw.CircleGlyph{},
		polygon{4, 45},
		polygon{3, 90},
		polygon{4, 0},
		polygon{3, -90},
		polygon{5, 90},
		polygon{6, 0},
	}
	return draw.GlyphStyle{Color: s.paint().color(), Radius: radius, Shape: shapes[int(s)%len(shapes)]}
}

// A polygon is a filled marker with so many corners, the first of them at so many degrees from the
// right.
type polygon struct{ corners, turn int }

// DrawGlyph implements [draw.GlyphDrawer].
func (p polygon) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	const larger = 1.2 // than the circle, which has more area
	corners := make([]vg.Point, p.corners)
	for i := range corners {
		sin, cos := math.Sincos(float64(p.turn)*math.Pi/180 + 2*math.Pi*float64(i)/float64(p.corners))
		corners[i] = at.Add(vg.Point{
			X: larger * style.Radius * vg.Length(cos),
			Y: larger * style.Radius * vg.Length(sin),
		})
	}
	c.FillPolygon(style.Color, corners)
}

// A figure is a plot, and the same in words and figures.
type figure struct {
	Title       string
	Description string
	SVG         template.HTML
	Tables      []table
}

// A chart is a plot in the making. Its legend stands below it.
type chart struct {
	*plot.Plot
	entries int // of the legend
}

// A chart is as wide as the narrowest telephone, 360 pixels, leaves to it, so that it is read there
// at its own size, and larger on all others.
const (
	chartWidth   vg.Length = 320
	chartHeight  vg.Length = 250 // without the legend
	legendHeight vg.Length = 15  // of an entry
)

func text(size vg.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

func newChart(x, y string) *chart {
	c := &chart{Plot: plot.New()}
	c.BackgroundColor = nil
	for _, a := range []*plot.Axis{&c.X, &c.Y} {
		a.Color, a.Label.TextStyle.Color = ink.color(), ink.color()
		a.Tick.Color, a.Tick.Label.Color = ink.color(), ink.color()
		a.Label.TextStyle.Font, a.Tick.Label.Font = text(12), text(11.5)
		a.Width, a.Tick.Width, a.Padding = .75, .75, 4
	}
	c.X.Label.Text, c.Y.Label.Text = x, y
	c.Legend.TextStyle.Font, c.Legend.TextStyle.Color = text(11.5), ink.color()
	c.Legend.Top, c.Legend.Left, c.Legend.ThumbnailWidth, c.Legend.Padding = true, true, 26, 4
	lines := plotter.NewGrid()
	lines.Vertical = draw.LineStyle{Color: grid.color(), Width: .5}
	lines.Horizontal = lines.Vertical
	c.Add(lines)
	return c
}

// line adds a line with a marker at each point, and an entry of the legend.
func (c *chart) line(s series, name string, points plotter.XYs) {
	if len(points) == 0 {
		return
	}
	l := &plotter.Line{XYs: points, LineStyle: s.line()}
	g := &plotter.Scatter{XYs: points, GlyphStyle: s.glyph(2.6)}
	c.Add(l, g)
	c.entry(name, l, g)
}

func (c *chart) entry(name string, thumbs ...plot.Thumbnailer) {
	name = brief(name)
	c.Legend.Add(name, thumbs...)
	c.entries++
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
func shares(a *plot.Axis, smallest float64) {
	from := math.Floor(math.Min(smallest, .9)*10 + 1e-9)
	step := 1.
	if from < 5 {
		step = 2
		from -= math.Mod(from, step)
	}
	ticks(a, max(0, from)/10, 1, step/10)
}

// ticks makes an axis with a tick at each step.
func ticks(a *plot.Axis, low, high, step float64) {
	a.Min, a.Max = low, high
	var all plot.ConstantTicks
	for i := 0.; low+i*step < high+step/1e6; i++ {
		v := low + i*step
		all = append(all, plot.Tick{Value: v, Label: distance(v)})
	}
	a.Tick.Marker = all
}

// threshold draws the ground up to the largest distance that is allowed.
func (c *chart) threshold(threshold float64) {
	top, bottom := c.Y.Max, c.Y.Min
	ground := &plotter.Polygon{
		XYs: []plotter.XYs{{
			{X: c.X.Min, Y: bottom},
			{X: threshold, Y: bottom},
			{X: threshold, Y: top},
			{X: c.X.Min, Y: top},
		}},
		Color: veil.color(),
	}
	c.Add(ground)
	c.entry("within the threshold", ground)
}

func (c *chart) figure(title, description string) (figure, error) {
	svg, err := c.svg(title, description)
	return figure{Title: title, Description: description, SVG: svg}, err
}

// svg draws the chart, to stand in a page that has the colours.
func (c *chart) svg(title, description string) (template.HTML, error) {
	below := vg.Length(c.entries)*legendHeight + 6
	canvas := vgsvg.New(chartWidth, chartHeight+below)
	all := draw.New(canvas)
	legend := c.Legend
	c.Legend = plot.NewLegend()
	c.Draw(draw.Crop(all, 2, -8, below, -6))
	legend.Draw(draw.Crop(all, 2, 0, 0, -chartHeight-4))
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return "", fmt.Errorf("drawing %s: %w", title, err)
	}
	drawn := out.String()
	start := strings.Index(drawn, "<svg")
	end := start + strings.Index(drawn[start:], ">") + 1
	head := fmt.Sprintf("<svg role=\"img\" viewBox=\"0 0 %g %g\" "+
		"xmlns=\"http://www.w3.org/2000/svg\">\n<title>%s</title>\n<desc>%s</desc>\n",
		chartWidth.Points(), (chartHeight + below).Points(),
		html.EscapeString(title), html.EscapeString(description))
	variables := make([]string, 0, 2*int(paints))
	for p := range paints {
		variables = append(variables, p.hex(), p.variable())
	}
	// What a variant or a label is called was escaped by vgsvg.
	return template.HTML(head + strings.NewReplacer(variables...).Replace(drawn[end:])), nil
}
