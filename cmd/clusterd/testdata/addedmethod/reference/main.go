// Command reference prints the reference of the configuration.
package main

import (
	"os"

	"github.com/clusterd/clusterd/internal/config"
)

func main() { _, _ = os.Stdout.Write(config.Reference()) }
