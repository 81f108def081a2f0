package config

import (
	"errors"
	"os"
	"reflect"

	"github.com/clusterd/clusterd/internal/config/table"
)

// Edit returns the text of a configuration file in which keys have other values, given as KEY=VALUE
// as [LoadSet] takes them. Comments, variables and names of files stay as they are, so the text is
// for the same folder. It also returns what the text says. An error is [Errors], or says that the
// file must be edited by hand.
func Edit(path string, set []string) ([]byte, Config, error) {
	want, _, err := LoadSet(path, set)
	if err != nil {
		return nil, Config{}, err
	}
	data, err := readBounded(path)
	if err != nil {
		return nil, Config{}, err
	}
	c := Default()
	text, err := table.Edit(c.keys(), data, set)
	if err != nil {
		return nil, Config{}, err
	}
	got, err := Parse(path, text, os.LookupEnv, os.ReadFile)
	if err != nil || !reflect.DeepEqual(got, want) {
		return nil, Config{}, errors.New(
			"the file is written in a way that cannot be edited here: edit a copy of it by hand")
	}
	return text, got, nil
}
