// complete.go tells a shell what may come next on the command line of clusterd. The commands
// go in, with the placeholders of their flags and arguments; they come out with functions that
// propose the words of which there is a list: methods, keys and their values, formats, endings of
// files.

package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/files/document"
	"github.com/clusterd/clusterd/internal/method"
)

// Complete completes the command and all below it. What a command completes by itself stays.
func Complete(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		Complete(sub)
	}
	if cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = arguments(cmd)
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if _, has := cmd.GetFlagCompletionFunc(f.Name); !has {
			if values := values(cmd, f); values != nil {
				_ = cmd.RegisterFlagCompletionFunc(f.Name, values) // it fails without the flag alone
			}
		}
	})
}

// arguments returns what proposes arguments: files where the command takes some, else nothing.
func arguments(cmd *cobra.Command) cobra.CompletionFunc {
	lines := []string{"jsonl", "json", "csv", "tsv", "gz", "zst", "bz2"} // also what is packed
	switch name := cmd.Name(); {
	case name == "lint":
		return filesOf("yaml", "yml")
	case name == "import":
		return filesOf(lines...)
	case name == "compare", strings.Contains(cmd.Use, "FILE"):
		endings := append(lines, "txt")
		for _, ending := range document.Extensions() {
			endings = append(endings, strings.TrimPrefix(ending, "."))
		}
		return filesOf(endings...)
	}
	return cobra.NoFileCompletions
}

func filesOf(endings ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(endings, cobra.ShellCompDirectiveFilterFileExt)
}

// values returns what proposes the values of a flag, nil where the shell shall propose files.
func values(cmd *cobra.Command, f *pflag.Flag) cobra.CompletionFunc {
	placeholder, _ := pflag.UnquoteUsage(f)
	switch placeholder {
	case "FILE":
		return nil
	case "DIR":
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	case "KEY=VALUE":
		return func(_ *cobra.Command, _ []string, text string) ([]string, cobra.ShellCompDirective) {
			return assignments("", text)
		}
	case "METHOD[,KEY=VALUE]...":
		return runs
	case "METHODS":
		return methods
	case "METHOD":
		return words(choice("fingerprint.method").Words...)
	case "FORMAT":
		return words(choice("input.format").Words...)
	case "ENCODING":
		return words(choice("input.encoding").Words...)
	case "FORM":
		if cmd.Name() == "compare" {
			return words("text", "json")
		}
		return words("table", "json")
	}
	return cobra.NoFileCompletions
}

func words(all ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(all, cobra.ShellCompDirectiveNoFileComp)
}

func choice(path string) (found config.Choice) {
	for _, c := range config.Choices() {
		if c.Path == path {
			return c
		}
	}
	return config.Choice{}
}

// assignments proposes keys, and behind a key what its value may be. A proposal begins with all
// that stands before it.
func assignments(before, text string) ([]string, cobra.ShellCompDirective) {
	path, value, isKey := strings.Cut(text, "=")
	var all []string
	if !isKey {
		for _, c := range config.Choices() {
			all = append(all, before+c.Path+"=\t"+c.Doc)
		}
		return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	c := choice(path)
	before += path + "="
	if !c.IsList {
		for _, word := range c.Words {
			all = append(all, before+word)
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	}
	// A list is one of YAML. How many items it gets is not known: its end is for the user.
	items := "["
	if last := strings.LastIndexAny(value, "[,"); last >= 0 {
		items = value[:last+1]
	}
	for _, word := range c.Words {
		all = append(all, before+items+word)
	}
	return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// runs proposes a method, and behind it settings.
func runs(_ *cobra.Command, _ []string, text string) ([]string, cobra.ShellCompDirective) {
	if last := strings.LastIndex(text, ","); last >= 0 {
		return assignments(text[:last+1], text[last+1:])
	}
	return method.Names(), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// methods proposes the next of several, each once.
func methods(_ *cobra.Command, _ []string, text string) ([]string, cobra.ShellCompDirective) {
	before := text[:strings.LastIndex(text, ",")+1]
	named := strings.Split(before, ",")
	var all []string
	for _, name := range method.Names() {
		if !slices.Contains(named, name) {
			all = append(all, before+name)
		}
	}
	return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
