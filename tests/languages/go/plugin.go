// Command conformance is the plugin that is the same in every language.
package main

import (
	"encoding/json"
	"slices"

	"portcullis.dev/portcullis"
	_ "portcullis.dev/portcullis/nethttp"
)

func init() {
	portcullis.Register(portcullis.Plugin{
		Name:        "conformance",
		Version:     "1.0.0",
		Description: "The same tools in every language.",
		Tools:       slices.Concat(values(), endings(), running(), handles(), programs(), toolset()),
		Dependencies: []portcullis.Dependency{
			{Key: "workspace", Kind: portcullis.KindDirectory, Optional: true, Reason: "Files that the tools read and write."},
			{Key: "web", Kind: portcullis.KindHTTP, Optional: true, Reason: "What the tools fetch."},
			{Key: "notes", Kind: portcullis.KindStore, Optional: true, Reason: "What the tools remember."},
			{Key: "sh", Kind: portcullis.KindProcess, Optional: true, Reason: "What the tools run."},
			{Key: "others", Kind: portcullis.KindTools, Optional: true, Reason: "What the tools call."},
		},
	})
}

// A component has no main program: the host calls the tools.
func main() {}

type none struct{}

type text struct {
	Text string `json:"text" description:"The text."`
}

type message struct {
	Message string `json:"message" description:"What the end says."`
}

type value struct {
	Value json.RawMessage `json:"value" description:"Any JSON."`
}
