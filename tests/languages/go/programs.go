package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"portcullis.dev/portcullis"
)

const (
	// How much is kept of each stream.
	keptBytes = 100_000
	// How much of what was written before is searched too.
	tailBytes = 100
)

// The tools that run programs.
func programs() []*portcullis.Tool {
	rights := portcullis.Requires(portcullis.Read, portcullis.Write, portcullis.Execute)
	return []*portcullis.Tool{
		portcullis.NewTool("run", "Runs a program to its end, and answers with what it wrote.", run, rights),
		portcullis.NewTool("stream", "Passes on what a program writes, and ends the program once it has written a text.", stream, rights),
		portcullis.NewTool("converse", "Writes lines to a program, and reads its answer to each.", converse, rights),
	}
}

type runArguments struct {
	Key       string   `json:"key" description:"The key of the program."`
	Arguments []string `json:"arguments" description:"Its arguments."`
	Input     string   `json:"input,omitempty" description:"What it reads from stdin."`
	Directory string   `json:"directory,omitempty" description:"The directory to start in."`
	Merge     bool     `json:"merge" default:"false" description:"Whether stderr goes to the stream of stdout."`

	NeedsHost  string `json:"needs_host,omitempty" description:"A host and a port that the program lacks."`
	NeedsRead  string `json:"needs_read,omitempty" description:"A directory of the machine that the program has to read."`
	NeedsWrite string `json:"needs_write,omitempty" description:"A directory of the machine that the program has to write."`
}

func (a *runArguments) needs() portcullis.Missing {
	switch {
	case a.NeedsHost != "":
		return portcullis.Destination(a.NeedsHost)
	case a.NeedsRead != "":
		return portcullis.ReadableDirectory(a.NeedsRead)
	case a.NeedsWrite != "":
		return portcullis.WritableDirectory(a.NeedsWrite)
	default:
		return nil
	}
}

type ran struct {
	Exit   string `json:"exit"`
	Stdout string `json:"stdout"`
	Stderr string `json:"stderr"`
	Cut    bool   `json:"cut"`
}

func run(ctx *portcullis.Context, arguments runArguments) (ran, error) {
	program, err := ctx.Program(arguments.Key)
	if err != nil {
		return ran{}, err
	}
	defer program.Close()
	output, err := program.Output(ctx, portcullis.Launch{
		Arguments:   arguments.Arguments,
		Environment: map[string]string{"CALLER": "conformance"},
		Directory:   arguments.Directory,
		Stdin:       strings.NewReader(arguments.Input),
		Merge:       arguments.Merge,
		Needs:       arguments.needs(),
	}, keptBytes)
	if err != nil {
		return ran{}, err
	}
	text := func(bytes []byte) string { return strings.ToValidUTF8(string(bytes), "\uFFFD") }
	return ran{fmt.Sprint(output.Report.Exit), text(output.Stdout), text(output.Stderr), output.IsCut}, nil
}

type streamArguments struct {
	Key       string   `json:"key" description:"The key of the program."`
	Arguments []string `json:"arguments" description:"Its arguments."`
	Input     string   `json:"input,omitempty" description:"What it reads from stdin."`
	Until     string   `json:"until,omitempty" description:"The text that ends the program."`
}

func stream(ctx *portcullis.Context, arguments streamArguments) (string, error) {
	program, err := ctx.Program(arguments.Key)
	if err != nil {
		return "", err
	}
	answer, err := ctx.Writer()
	if err != nil {
		return "", err
	}
	running, err := program.Start(ctx, portcullis.Launch{
		Arguments: arguments.Arguments, Stdin: strings.NewReader(arguments.Input), Merge: true,
	})
	if err != nil {
		return "", err
	}
	defer running.Close()
	var tail []byte
	for chunk, err := range running.Chunks() {
		if err != nil {
			return "", err
		}
		if _, err := answer.Write(chunk.Bytes); err != nil {
			return "", err
		}
		tail = append(tail[max(0, len(tail)-tailBytes):], chunk.Bytes...)
		if arguments.Until != "" && bytes.Contains(tail, []byte(arguments.Until)) {
			running.Kill()
		}
	}
	report, err := running.Wait()
	return fmt.Sprintf("[%v]", report.Exit), err
}

type converseArguments struct {
	Key       string   `json:"key" description:"The key of the program."`
	Arguments []string `json:"arguments" description:"Its arguments."`
	Lines     []string `json:"lines" description:"What to write."`
}

type conversation struct {
	Replies []string `json:"replies"`
	Rest    string   `json:"rest"`
	Exit    string   `json:"exit"`
}

func converse(ctx *portcullis.Context, arguments converseArguments) (conversation, error) {
	program, err := ctx.Program(arguments.Key)
	if err != nil {
		return conversation{}, err
	}
	running, err := program.Start(ctx, portcullis.Launch{Arguments: arguments.Arguments, Merge: true})
	if err != nil {
		return conversation{}, err
	}
	defer running.Close()
	stdin, answers := running.Stdin(), bufio.NewReader(running.Stdout())
	replies := []string{}
	for _, line := range arguments.Lines {
		if _, err := fmt.Fprintln(stdin, line); err != nil {
			return conversation{}, err
		}
		reply, err := answers.ReadString('\n')
		if err != nil {
			return conversation{}, err
		}
		replies = append(replies, reply)
	}
	ending := stdin.Close()
	rest, reading := io.ReadAll(answers)
	report, waiting := running.Wait()
	return conversation{replies, string(rest), fmt.Sprint(report.Exit)}, errors.Join(ending, reading, waiting)
}
