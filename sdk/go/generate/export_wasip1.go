package generate

import (
	"encoding/json"
	"fmt"
	"unsafe"

	"portcullis.dev/portcullis"
	"portcullis.dev/portcullis/internal/host"
)

func init() { host.ExportsGenerator = true }

// The forms that the canonical ABI gives to the result.
type (
	optionForm struct {
		some  uint32
		value host.Place
	}
	definitionForm struct {
		name                      host.Place
		title                     optionForm
		description, schema       host.Place
		outputSchema              optionForm
		required, optional, hints uint8
	}
	// The definitions, or the text of the error.
	resultForm struct {
		failed uint32
		place  host.Place
	}
)

//go:wasmexport portcullis:tool/generator@0.2.0#generate
func exportGenerate() unsafe.Pointer {
	tools, err := portcullis.Registered().Generate()
	if err != nil {
		return failed(err)
	}
	definitions := make([]definitionForm, 0, len(tools))
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

func lowered(tool portcullis.GeneratedTool) (form definitionForm, err error) {
	form = definitionForm{
		name:         host.LowerString(host.Said(tool.Name)),
		title:        option(tool.Title),
		description:  host.LowerString(host.Said(tool.Description)),
		schema:       host.LowerString(host.Said(string(tool.Schema))),
		outputSchema: option(string(tool.OutputSchema)),
	}
	if form.required, err = flags(tool.Required); err != nil {
		return form, err
	}
	if form.optional, err = flags(tool.Optional); err != nil {
		return form, err
	}
	if !json.Valid(tool.Schema) {
		return form, fmt.Errorf("its schema is not JSON")
	}
	for _, hint := range tool.Hints {
		form.hints |= 1 << hint
	}
	return form, nil
}

// option lowers a string that is absent when it is empty.
func option(text string) optionForm {
	if text == "" {
		return optionForm{}
	}
	return optionForm{1, host.LowerString(host.Said(text))}
}

func flags(permissions []portcullis.Permission) (bits uint8, err error) {
	for _, permission := range permissions {
		switch permission {
		case portcullis.Read:
			bits |= 1 << 0
		case portcullis.Write:
			bits |= 1 << 1
		case portcullis.Execute:
			bits |= 1 << 2
		case portcullis.Network:
			bits |= 1 << 3
		default:
			return 0, fmt.Errorf("there is no permission %q", permission)
		}
	}
	return bits, nil
}
