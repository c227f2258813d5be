package main

import (
	"errors"
	"time"

	"portcullis.dev/portcullis"
)

// The tools that end in some other way than with an answer.
func endings() []*portcullis.Tool {
	return []*portcullis.Tool{
		portcullis.NewTool("fail", "Ends with the failure that it is told.", fail, portcullis.ReadOnly, portcullis.Idempotent),
		portcullis.NewTool("throw", "Panics with a message.", throw, portcullis.ReadOnly, portcullis.Idempotent),
		portcullis.NewTool("trap", "Ends the instance at once.", trap, portcullis.ReadOnly, portcullis.Idempotent),
		portcullis.NewTool("late", "Panics in a goroutine that it does not await.", late, portcullis.ReadOnly, portcullis.Idempotent),
		portcullis.NewTool("spin", "Computes without an end.", spin, portcullis.ReadOnly, portcullis.Idempotent),
		portcullis.NewTool("hog", "Takes memory without end.", hog, portcullis.ReadOnly, portcullis.Idempotent),
		portcullis.NewTool("recurse", "Calls itself without end.", recurse, portcullis.ReadOnly, portcullis.Idempotent),
	}
}

type failArguments struct {
	Kind    string `json:"kind" enum:"invalid-arguments,denied,unavailable,cancelled,failed" description:"The kind of failure."`
	Message string `json:"message" description:"What the failure says."`
}

func fail(_ *portcullis.Context, arguments failArguments) (string, error) {
	switch arguments.Kind {
	case "invalid-arguments":
		return "", portcullis.InvalidArguments(arguments.Message)
	case "denied":
		return "", portcullis.Denied(arguments.Message)
	case "unavailable":
		return "", portcullis.Unavailable(arguments.Message)
	case "cancelled":
		return "", portcullis.Cancelled()
	default:
		return "", errors.New(arguments.Message)
	}
}

func throw(_ *portcullis.Context, arguments message) (string, error) {
	panic(arguments.Message)
}

// A panic in a goroutine cannot be recovered by anybody else: it ends the instance.
func trap(*portcullis.Context, none) (string, error) {
	go panic("trap")
	select {}
}

func late(*portcullis.Context, none) (string, error) {
	go panic("late")
	// The goroutine runs while this one sleeps.
	time.Sleep(lookEvery)
	return "not reached", nil
}

func spin(*portcullis.Context, none) (string, error) {
	for count := 0; ; count++ {
	}
}

// What is taken, so that no collection gives it back.
var taken [][]byte

func hog(*portcullis.Context, none) (string, error) {
	for {
		block := make([]byte, 1<<20)
		for index := 0; index < len(block); index += 4096 {
			block[index] = 1
		}
		taken = append(taken, block)
	}
}

func recurse(*portcullis.Context, none) (string, error) {
	return "", errors.New(string(rune(deeper(0))))
}

func deeper(depth int) int {
	return deeper(depth+1) + 1
}
