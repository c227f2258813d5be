package generate

import (
	"encoding/json"
	"errors"
	"fmt"
	"unsafe"

	"portcullis.dev/portcullis"
	"portcullis.dev/portcullis/internal/host"
)

func init() { host.ExportsGenerator = true }

// The form that the canonical ABI gives to the result: the definitions, or the text of the error.
type resultForm struct {
	failed uint32
	place  host.Place
}

//go:wasmexport portcullis:tool/generator@0.2.0#generate
func exportGenerate() unsafe.Pointer {
	tools, err := portcullis.Registered().Generate()
	if err != nil {
		return failed(err)
	}
	definitions := make([]host.DefinitionForm, 0, len(tools))
	for _, tool := range tools {
		definition, err := lowered(tool)
		if err != nil {
			return failed(fmt.Errorf("the tool %q: %w", tool.Name, err))
		}
		definitions = append(definitions, definition)
	}
	return host.Keep(&resultForm{place: host.LowerList(definitions)})
}

func failed(err error) unsafe.Pointer {
	return host.Keep(&resultForm{failed: 1, place: host.LowerString(host.Said(err.Error()))})
}

func lowered(tool portcullis.GeneratedTool) (host.DefinitionForm, error) {
	if !json.Valid(tool.Schema) {
		return host.DefinitionForm{}, errors.New("its schema is not JSON")
	}
	return host.LowerDefinition(host.Definition[portcullis.Permission, portcullis.Hint]{
		Name: tool.Name, Title: tool.Title, Description: tool.Description,
		Schema: tool.Schema, OutputSchema: tool.OutputSchema,
		Required: tool.Required, Optional: tool.Optional, Hints: tool.Hints,
	})
}
