package main

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log"
	random "math/rand/v2"
	"os"
	"strings"
	"time"

	"portcullis.dev/portcullis"
)

// The tools that use the call itself, and what of the world every program sees.
func running() []*portcullis.Tool {
	return []*portcullis.Tool{
		portcullis.NewTool("progress", "Reports as many steps as it is told.", progress, portcullis.ReadOnly, portcullis.Idempotent),
		portcullis.NewTool("wait", "Waits until the call is cancelled.", wait, portcullis.ReadOnly, portcullis.Idempotent),
		portcullis.NewTool("context", "Says who asked for the call.", who, portcullis.ReadOnly, portcullis.Idempotent),
		portcullis.NewTool("ask", "Asks whether something may be done.", ask, portcullis.Requires(portcullis.Write)),
		portcullis.NewTool("setting", "Reads a setting of the policy.", setting, portcullis.ReadOnly, portcullis.Idempotent),
		portcullis.NewTool("print", "Prints a text, and writes it to the log.", print, portcullis.ReadOnly, portcullis.Idempotent),
		portcullis.NewTool("surroundings", "Tells the time, and what is random.", surroundings, portcullis.ReadOnly),
	}
}

func writeOut(ctx *portcullis.Context, arguments writeOutArguments) (string, error) {
	writer, err := ctx.Writer()
	if err != nil {
		return "", err
	}
	defer writer.Close()
	for piece := range arguments.Pieces {
		if _, err := fmt.Fprintf(writer, "piece %d\n", piece+1); err != nil {
			return "", err
		}
	}
	return "end", writer.Flush()
}

type progressArguments struct {
	Steps int `json:"steps" minimum:"1" maximum:"100" description:"How many steps."`
}

func progress(ctx *portcullis.Context, arguments progressArguments) (string, error) {
	for step := 1; step <= arguments.Steps; step++ {
		ctx.Report(portcullis.Progress{
			Title:    fmt.Sprintf("step %d", step),
			Fraction: float32(step) / float32(arguments.Steps),
			Metadata: map[string]int{"step": step},
		})
	}
	return "done", nil
}

const (
	// How often wait looks.
	lookEvery = 10 * time.Millisecond
	// How long it does.
	lookFor = 20 * time.Second
)

func wait(ctx *portcullis.Context, _ none) (string, error) {
	for end := time.Now().Add(lookFor); time.Now().Before(end); time.Sleep(lookEvery) {
		if err := ctx.Err(); err != nil {
			ctx.Log(portcullis.LevelInfo, "the call is cancelled")
			return "", err
		}
	}
	return "not cancelled", nil
}

func who(ctx *portcullis.Context, _ none) (portcullis.Call, error) {
	return ctx.Call(), nil
}

type askArguments struct {
	Permission string `json:"permission" enum:"read,write,execute,network" description:"The kind of right."`
	Resource   string `json:"resource" description:"What it is for."`
	Reason     string `json:"reason" description:"Why."`
}

func ask(ctx *portcullis.Context, arguments askArguments) (string, error) {
	err := ctx.Ask(portcullis.Permission(arguments.Permission), arguments.Resource, arguments.Reason)
	return "yes", err
}

type key struct {
	Key string `json:"key" description:"The key."`
}

type found struct {
	Value any `json:"value"`
}

func setting(ctx *portcullis.Context, arguments key) (found, error) {
	if value, ok := ctx.Setting(arguments.Key); ok {
		return found{value}, nil
	}
	return found{}, nil
}

func print(ctx *portcullis.Context, arguments text) (string, error) {
	fmt.Println(arguments.Text, "on stdout")
	log.New(os.Stderr, "", 0).Println(arguments.Text, "on stderr")
	ctx.Log(portcullis.LevelWarn, arguments.Text)
	return "printed", nil
}

// A sleep that every clock notices.
const nap = 5 * time.Millisecond

type world struct {
	Now         int64    `json:"now"`
	Monotonic   bool     `json:"monotonic"`
	Random      string   `json:"random"`
	Insecure    float64  `json:"insecure"`
	Environment []string `json:"environment"`
	Arguments   int      `json:"arguments"`
}

func surroundings(*portcullis.Context, none) (world, error) {
	begun := time.Now()
	time.Sleep(nap)
	secret := make([]byte, 16)
	if _, err := rand.Read(secret); err != nil {
		return world{}, err
	}
	names := []string{}
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		names = append(names, name)
	}
	return world{
		Now:         time.Now().UnixMilli(),
		Monotonic:   time.Since(begun) >= nap,
		Random:      hex.EncodeToString(secret),
		Insecure:    random.Float64(),
		Environment: names,
		Arguments:   max(len(os.Args)-1, 0),
	}, nil
}
