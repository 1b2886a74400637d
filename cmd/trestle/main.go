package main

import (
	"context"
	"os"

	"github.com/trestle-bridge/trestle/internal/demo"
)

func main() {
	p := &CLI{
		in: os.Stdin, out: os.Stdout, errs: os.Stderr,
		lookup: os.LookupEnv, environ: os.Environ(), endpoints: demo.Local(),
	}
	os.Exit(int(p.run(context.Background(), os.Args[1:])))
}
