// Command {{name}} is a plugin of Portcullis.
package main

import "portcullis.dev/portcullis"

func init() {
	portcullis.Register(portcullis.Plugin{
		Name:        "{{name}}",
		Version:     "0.1.0",
		Description: "Greets people.",
		Tools: []*portcullis.Tool{
			portcullis.NewTool("greet", "Greets a person by name.", greet, portcullis.ReadOnly, portcullis.Idempotent),
		},
	})
}

// A component has no main program: the host calls the tools.
func main() {}

type greetArguments struct {
	Name string `json:"name" description:"A person's name."`
}

func greet(_ *portcullis.Context, arguments greetArguments) (string, error) {
	return "Hello, " + arguments.Name + "!", nil
}
