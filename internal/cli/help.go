// help.go fits the help of commands to a terminal. Commands go in; they come out with help
// whose lines are as wide as the terminal, or 80 cells where there is none.

package cli

import (
	"strings"
	"sync"
	"text/template"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// narrow and wide are how many cells a line has at least and at most, if the terminal allows.
const narrow, wide = 80, 100

// functions are those of templates, which all commands share.
var functions = sync.OnceFunc(func() {
	cobra.AddTemplateFuncs(template.FuncMap{
		"flags": func(cmd *cobra.Command, f *pflag.FlagSet) string {
			return f.FlagUsagesWrapped(width(cmd))
		},
		"paragraphs": func(cmd *cobra.Command, text string) string {
			return paragraphs(text, width(cmd))
		},
	})
})

// FitHelp fits the help of a command and of all below it.
func FitHelp(root *cobra.Command) {
	functions()
	root.SetUsageTemplate(strings.NewReplacer(
		".LocalFlags.FlagUsages", "flags . .LocalFlags",
		".InheritedFlags.FlagUsages", "flags . .InheritedFlags",
	).Replace(root.UsageTemplate()))
	root.SetHelpTemplate(strings.Replace(root.HelpTemplate(),
		"{{. | trimTrailingWhitespaces}}", "{{paragraphs $ . | trimTrailingWhitespaces}}", 1))
}

func width(cmd *cobra.Command) int {
	return min(Width(cmd.OutOrStdout(), narrow), wide)
}

// paragraphs breaks each paragraph of a text anew; lines that begin with a space stay as they are.
func paragraphs(text string, width int) string {
	all := strings.Split(text, "\n\n")
	for i, p := range all {
		if !strings.Contains("\n"+p, "\n ") && !strings.Contains(p, "  ") {
			all[i] = strings.Join(Wrap(p, width), "\n")
		}
	}
	return strings.Join(all, "\n\n")
}
