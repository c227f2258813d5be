// Command soak is a plugin that calls the host very often while Go collects garbage: what the host writes into the
// guest must never reach the heap, and what the guest passes on must never be collected.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"portcullis.dev/portcullis"
)

func init() {
	portcullis.Register(portcullis.Plugin{
		Name:        "soak",
		Version:     "1.0.0",
		Description: "Calls the host while Go collects garbage.",
		Tools: []*portcullis.Tool{
			portcullis.NewTool("soak", "Uses every kind of call to the host, in turns, from several goroutines.", soak,
				portcullis.Requires(portcullis.Read, portcullis.Write)),
		},
		Dependencies: []portcullis.Dependency{
			{Key: "workspace", Kind: portcullis.KindDirectory, Reason: "Files that are written and read."},
			{Key: "notes", Kind: portcullis.KindStore, Reason: "Values that are kept and read."},
		},
	})
}

// A component has no main program: the host calls the tools.
func main() {}

type arguments struct {
	Workers int `json:"workers" minimum:"1" maximum:"10" description:"How many goroutines."`
	Rounds  int `json:"rounds" minimum:"1" maximum:"5000" description:"How often each calls the host."`
	Bytes   int `json:"bytes" minimum:"1" maximum:"65536" description:"How large the values are."`
}

type soaked struct {
	Collections bool `json:"collections" description:"Whether garbage was collected meanwhile."`
}

// What lives a while, so that collections find something to mark.
const kept = 10

// How many keys each goroutine uses.
const keys = 7

func soak(ctx *portcullis.Context, arguments arguments) (soaked, error) {
	results := make(chan error)
	for worker := range arguments.Workers {
		go func() { results <- work(ctx, worker, arguments) }()
	}
	var failures []error
	for range arguments.Workers {
		failures = append(failures, <-results)
	}
	var statistics runtime.MemStats
	runtime.ReadMemStats(&statistics)
	return soaked{statistics.NumGC > 0}, errors.Join(failures...)
}

func work(ctx *portcullis.Context, worker int, arguments arguments) error {
	store, err := ctx.Store("notes")
	if err != nil {
		return err
	}
	caller := ctx.Call()
	var garbage [][]byte
	for round := range arguments.Rounds {
		value := bytes.Repeat([]byte{byte(round)}, arguments.Bytes)
		if err := keep(store, fmt.Sprintf("%d-%d", worker, round%keys), value); err != nil {
			return err
		}
		if err := write(fmt.Sprintf("/workspace/%d", worker), value); err != nil {
			return err
		}
		ctx.Report(portcullis.Progress{Title: strings.Repeat("t", arguments.Bytes)})
		if again := ctx.Call(); again.ID != caller.ID || again.Session != caller.Session {
			return fmt.Errorf("the caller became %+v", again)
		}
		garbage = append(garbage[max(0, len(garbage)-kept):], make([]byte, arguments.Bytes))
		runtime.Gosched()
	}
	return nil
}

func keep(store *portcullis.Store, key string, value []byte) error {
	if err := store.Set(key, value); err != nil {
		return err
	}
	found, err := store.Get(key)
	if err != nil {
		return err
	}
	if !bytes.Equal(found, value) {
		return errors.New("the store gave another value")
	}
	for key, err := range store.Keys() {
		if err != nil {
			return err
		}
		if strings.Trim(key, "0123456789") != "-" {
			return fmt.Errorf("the key became %q", key)
		}
	}
	return nil
}

func write(path string, value []byte) error {
	if err := os.WriteFile(path, value, 0o666); err != nil {
		return err
	}
	found, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !bytes.Equal(found, value) {
		return errors.New("the file has another content")
	}
	return nil
}
