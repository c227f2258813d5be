// Package portcullis makes Go programs plugins of Portcullis: tools that a model may call, in a WebAssembly component
// without any right that a policy does not grant.
//
//	type greetArguments struct {
//		Name string `json:"name" description:"A person's name."`
//	}
//
//	func greet(_ *portcullis.Context, arguments greetArguments) (string, error) {
//		return "Hello, " + arguments.Name + "!", nil
//	}
//
//	func init() {
//		portcullis.Register(portcullis.Plugin{
//			Name:        "hello",
//			Version:     "0.1.0",
//			Description: "Greets people.",
//			Tools: []*portcullis.Tool{
//				portcullis.NewTool("greet", "Greets a person by name.", greet, portcullis.ReadOnly),
//			},
//		})
//	}
//
//	func main() {}
//
// The standard library works as it does elsewhere: package os finds a granted directory below "/" and its key, what is
// printed goes into the record of the call, and net/http sends requests once the package nethttp is imported; a
// [Client] sends them without it.
package portcullis
