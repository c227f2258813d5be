// Command edges is a plugin of what Go allows and a host takes otherwise: text that is not UTF-8, types that read and
// write themselves, and handles without end.
package main

import (
	"errors"
	"math/big"
	"strings"

	"portcullis.dev/portcullis"
)

func init() {
	portcullis.Register(portcullis.Plugin{
		Name:        "edges",
		Version:     "1.0.0",
		Description: "What Go allows and a host takes otherwise.",
		Tools: []*portcullis.Tool{
			portcullis.NewTool("latin", "Passes what is not UTF-8, in the place that it is told.", latin,
				portcullis.Requires(portcullis.Read)),
			portcullis.NewTool("types", "Answers with what it is given, in types with methods of their own.", types),
			portcullis.NewTool("defaults", "Answers with what it is given, or with its defaults.", fallBack),
			portcullis.NewTool("handles", "Opens handles, and closes them.", handles, portcullis.Requires(portcullis.Read)),
		},
		Dependencies: []portcullis.Dependency{
			{Key: "notes", Kind: portcullis.KindStore, Optional: true, Reason: "What is opened."},
		},
	})
}

// A component has no main program: the host calls the tools.
func main() {}

// Latin-1, and so not UTF-8.
const coffee = "caf\xe9"

type place struct {
	Place string `json:"place" description:"Where."`
}

func latin(ctx *portcullis.Context, arguments place) (any, error) {
	switch arguments.Place {
	case "text":
		return coffee, nil
	case "part":
		return portcullis.Parts{portcullis.Text(coffee)}, nil
	case "media type":
		return portcullis.Parts{portcullis.File{MediaType: coffee}}, nil
	case "json":
		return map[string]string{"drink": coffee}, nil
	case "error":
		return nil, errors.New(coffee)
	case "panic":
		panic(coffee)
	case "key":
		store, err := ctx.Store("notes")
		if err != nil {
			return nil, err
		}
		return "", store.Set(coffee, nil)
	case "handle":
		_, err := ctx.Store(coffee)
		return nil, err
	default:
		ctx.Log(portcullis.LevelInfo, coffee)
		ctx.Report(portcullis.Progress{Title: coffee, Metadata: map[string]string{"drink": coffee}})
		metadata := map[string]string{"drink": coffee}
		return portcullis.Success[string]{Title: coffee, Metadata: metadata}, ctx.Ask(portcullis.Read, coffee, coffee)
	}
}

// A level is read by a method of its pointer.
type level int

func (l *level) UnmarshalText(text []byte) error {
	*l = level(strings.Count(string(text), "o"))
	return nil
}

type digest []byte

type base struct {
	Name string `json:"name" description:"A name that is hidden."`
}

type typesArguments struct {
	base
	Level  level   `json:"level" enum:"low,good" default:"low" description:"A number that is read from text."`
	Big    big.Int `json:"big" description:"A number of any size."`
	Digest digest  `json:"digest" description:"Bytes."`
	Name   int     `json:"name" description:"A number that is called as a text within."`
}

type typesAnswer struct {
	base
	Level  level    `json:"level"`
	Big    *big.Int `json:"big"`
	Digest digest   `json:"digest"`
	Name   int      `json:"name"`
	Choice *string  `json:"choice" enum:"a,b"`
}

func types(_ *portcullis.Context, arguments typesArguments) (typesAnswer, error) {
	return typesAnswer{
		Level: arguments.Level, Big: &arguments.Big, Digest: arguments.Digest, Name: arguments.Name,
	}, nil
}

type pair struct {
	A int `json:"a,omitempty" description:"One."`
	B int `json:"b,omitempty" description:"Another."`
}

type defaults struct {
	Labels map[string]int `json:"labels" default:"{\"a\":1}" description:"A table."`
	Pairs  []pair         `json:"pairs" default:"[{\"a\":1,\"b\":2}]" description:"A list."`
}

func fallBack(_ *portcullis.Context, arguments defaults) (defaults, error) { return arguments, nil }

type times struct {
	Times int  `json:"times" minimum:"1" maximum:"10000" description:"How many."`
	Close bool `json:"close" description:"Whether each is closed."`
}

func handles(ctx *portcullis.Context, arguments times) (string, error) {
	for range arguments.Times {
		store, err := ctx.Store("notes")
		if err != nil {
			return "", err
		}
		if arguments.Close {
			if err := errors.Join(store.Close(), store.Close()); err != nil {
				return "", err
			}
		}
	}
	writer, err := ctx.Writer()
	if err != nil {
		return "", err
	}
	return "closed", errors.Join(writer.Close(), writer.Close())
}
