package config

import (
	_ "embed"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/clusterd/clusterd/internal/method"
)

// docs has a line "path: description" for each key, taken from the comments of the fields.
// TestDocs writes it.
//
//go:embed docs.txt
var docs string

// A key is a field of Config that is not a section. The comment of the field describes the key, and
// its tag may have these parts:
//
//	key:      the name of the key; by default the name of the field in small letters
//	kind:     the name of a kind and its limits, see [kindOf]; by default any text
//	default:  the value of an empty file, unless it is zero; spaces separate the items of a list
//	least:    "1" if a list must not be empty
//	live:     "true" if a running daemon can change the key
type key struct {
	kind
	path   string // dotted
	field  reflect.Value
	tag    reflect.StructTag
	secret bool // may be file:PATH, and is never shown
	list   bool
}

// keys returns all keys in the order of the reference. Defaults, parsing, checks, suggestions,
// Config.YAML and Reference follow from it.
func (c *Config) keys() []key { return keysOf(reflect.ValueOf(c).Elem(), "") }

func keysOf(section reflect.Value, prefix string) (all []key) {
	for i := range section.NumField() {
		field, value := section.Type().Field(i), section.Field(i)
		name := field.Tag.Get("key")
		if name == "" {
			name = strings.ToLower(field.Name)
		}
		switch {
		case field.Anonymous:
			all = append(all, keysOf(value, prefix)...)
		case value.Kind() == reflect.Struct:
			all = append(all, keysOf(value, prefix+name+".")...)
		default:
			all = append(all, newKey(prefix+name, field, value))
		}
	}
	return all
}

func newKey(path string, field reflect.StructField, value reflect.Value) key {
	k := key{
		path: path, field: value, tag: field.Tag,
		secret: field.Type == reflect.TypeFor[Secret](),
		list:   field.Type.Kind() == reflect.Slice,
	}
	what := field.Tag.Get("kind")
	if what == "" && field.Type.Kind() == reflect.Bool {
		what = "bool"
	}
	k.kind = kindOf(what)
	return k
}

// reset gives the key its default.
func (k key) reset() {
	k.field.SetZero()
	text, given := k.tag.Lookup("default")
	items := []string{text}
	switch {
	case !given:
		return
	case k.list:
		items = strings.Fields(text)
	}
	for _, item := range items {
		if err := k.add(item); err != nil {
			panic("config: default of " + k.path + ": " + err.Error())
		}
	}
}

// add sets a scalar, or appends an item to a list. The error says what is allowed.
func (k key) add(text string) error {
	parsed, err := k.parse(text)
	if err != nil {
		return err
	}
	v := reflect.ValueOf(parsed)
	if k.list {
		k.field.Set(reflect.Append(k.field, v.Convert(k.field.Type().Elem())))
	} else {
		k.field.Set(v.Convert(k.field.Type()))
	}
	return nil
}

// items returns the texts that add takes for the value. A secret is masked.
func (k key) items() (all []string) {
	if !k.list {
		return []string{k.format(k.field.Interface())}
	}
	for i := range k.field.Len() {
		all = append(all, k.format(k.field.Index(i).Interface()))
	}
	return all
}

func (k key) isLive() bool { return k.tag.Get("live") == "true" }

// doc returns the description of the key. If only some methods use the key, their names come first,
// unless the description names them itself.
func (k key) doc() string {
	_, after, _ := strings.Cut("\n"+docs, "\n"+k.path+": ")
	text, _, _ := strings.Cut(after, "\n")
	if names := method.Using(k.path); len(names) > 0 && !strings.HasPrefix(text, names[0]) {
		text = strings.Join(names, ", ") + ": " + text
	}
	return text
}

// A Choice is a key that a command line may give.
type Choice struct {
	Path, Doc string
	Words     []string // that its value, or an item of a list, may be; there may be more
	IsList    bool
}

// Choices returns the keys that a command line may give, in the order of the reference: all that
// hold no secret.
func Choices() (all []Choice) {
	var c Config
	for _, k := range c.keys() {
		if !k.secret {
			all = append(all, Choice{k.path, k.doc(), slices.Clone(k.words), k.list})
		}
	}
	return all
}

// Set gives the key at path, a dotted path such as cluster.distance, the value that text stands
// for, as a command-line flag does. The key must be a scalar. Text is taken as it is: no variable
// and no file is looked up. The error says what is allowed; rules between keys are not checked. A
// secret is [ErrSecret].
func (c *Config) Set(path, text string) error {
	for _, k := range c.keys() {
		switch {
		case k.path != path || k.list:
		case k.secret:
			return fmt.Errorf("%s: %w", path, ErrSecret)
		default:
			return k.add(text)
		}
	}
	return fmt.Errorf("no key %s", path)
}

// Update takes over from next the keys that a running daemon can change. It returns the paths of
// those that it has taken, and of those that differ and have to wait for the next start.
func (c *Config) Update(next Config) (taken, left []string) {
	later := next.keys()
	for i, k := range c.keys() {
		switch changed := later[i].field; {
		case reflect.DeepEqual(k.field.Interface(), changed.Interface()):
		case k.isLive():
			taken = append(taken, k.path)
			k.field.Set(changed)
		default:
			left = append(left, k.path)
		}
	}
	return taken, left
}
