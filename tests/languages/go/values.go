package main

import (
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"

	"portcullis.dev/portcullis"
)

// The tools that turn arguments into answers.
func values() []*portcullis.Tool {
	return []*portcullis.Tool{
		portcullis.NewTool("echo", "Answers with the value that it was given.", echo, portcullis.ReadOnly, portcullis.Idempotent),
		portcullis.NewTool("reverse", "Writes the characters of a text in reverse order.", reverse, portcullis.ReadOnly, portcullis.Idempotent),
		portcullis.NewTool("repeat", "Writes a text as often as it is told.", repeat, portcullis.ReadOnly, portcullis.Idempotent),
		portcullis.NewTool("measure", "Counts the bytes and the characters of a text.", measure, portcullis.ReadOnly, portcullis.Idempotent),
		portcullis.NewTool("add", "Adds two whole numbers.", add, portcullis.ReadOnly, portcullis.Idempotent),
		portcullis.NewTool("picture", "Shows a picture of one pixel, and a file.", picture, portcullis.ReadOnly, portcullis.Idempotent),
		portcullis.NewTool("keep", "Keeps a text as a file beside its answer.", keep, portcullis.ReadOnly, portcullis.Idempotent),
		portcullis.NewTool("write-out", "Writes its answer piece by piece while it works.", writeOut, portcullis.ReadOnly, portcullis.Idempotent),
	}
}

func echo(_ *portcullis.Context, arguments value) (any, error) {
	return arguments, nil
}

func reverse(_ *portcullis.Context, arguments text) (portcullis.Success[string], error) {
	characters := []rune(arguments.Text)
	slices.Reverse(characters)
	return portcullis.Success[string]{
		Title:    "Reversed",
		Output:   string(characters),
		Metadata: map[string]int{"characters": len(characters)},
	}, nil
}

type repeatArguments struct {
	Text  string `json:"text" description:"The text."`
	Times int    `json:"times" minimum:"0" maximum:"10000000" description:"How often."`
}

func repeat(_ *portcullis.Context, arguments repeatArguments) (string, error) {
	return strings.Repeat(arguments.Text, arguments.Times), nil
}

type measured struct {
	Bytes      int `json:"bytes"`
	Characters int `json:"characters"`
}

func measure(_ *portcullis.Context, arguments text) (measured, error) {
	return measured{len(arguments.Text), utf8.RuneCountInString(arguments.Text)}, nil
}

type addArguments struct {
	A    int64   `json:"a" description:"The first number."`
	B    int64   `json:"b" description:"The second number."`
	Note *string `json:"note" description:"What the answer repeats."`
	Kind string  `json:"kind" enum:"exact,rounded" default:"exact" description:"How the sum is called."`
}

type sum struct {
	Sum  int64   `json:"sum"`
	Kind string  `json:"kind"`
	Note *string `json:"note,omitempty"`
}

func add(_ *portcullis.Context, arguments addArguments) (sum, error) {
	total := arguments.A + arguments.B
	if (total > arguments.A) != (arguments.B > 0) {
		return sum{}, portcullis.InvalidArguments("the sum is beyond 64 bits: take smaller numbers")
	}
	return sum{total, arguments.Kind, arguments.Note}, nil
}

// One pixel.
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

func picture(*portcullis.Context, none) (portcullis.Success[portcullis.Parts], error) {
	image, err := base64.StdEncoding.DecodeString(png)
	return portcullis.Success[portcullis.Parts]{
		Title: "Picture",
		Output: portcullis.Parts{
			portcullis.Text("a pixel"),
			portcullis.Image{MediaType: "image/png", Data: image},
			portcullis.File{MediaType: "application/octet-stream", Data: []byte{0, 1, 2, 255}},
		},
	}, err
}

type writeOutArguments struct {
	Pieces int `json:"pieces" minimum:"1" maximum:"1000" description:"How many pieces come before the end."`
}

type keepArguments struct {
	Name string `json:"name" description:"The name of the file."`
	Text string `json:"text" description:"Its content."`
}

func keep(ctx *portcullis.Context, arguments keepArguments) (string, error) {
	file := portcullis.File{MediaType: "text/plain", Data: []byte(arguments.Text), Name: arguments.Name}
	return "kept", ctx.Keep(file)
}
