// Package portcullis turns Go programs into Portcullis plugins: tools that a model may call, in a WebAssembly component
// that has only the rights that a policy grants.
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
// The standard library works as usual. Package os finds a granted directory at "/" and its key, and printed text goes
// to the audit log. net/http sends requests if the package nethttp is imported; a [Client] works without it.
package portcullis
