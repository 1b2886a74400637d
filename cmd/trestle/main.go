package main

import (
	"context"
	"os"
)

func main() {
	p := &program{
		in: os.Stdin, out: os.Stdout, errs: os.Stderr,
		lookup: os.LookupEnv, environ: os.Environ(),
	}
	os.Exit(int(p.run(context.Background(), os.Args[1:])))
}
