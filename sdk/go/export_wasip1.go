package portcullis

import (
	"encoding/json"
	"unsafe"

	"portcullis.dev/portcullis/internal/host"
)

// The forms that the canonical ABI gives to the records of the contract. Pointers of GOARCH=wasm take 8 bytes in
// memory, those of the ABI 4.
type (
	manifestForm struct {
		name, version, description, tools, dependencies host.Place
	}
	dependencyForm struct {
		key            host.Place
		kind, optional uint8
		reason         host.Place
	}
	// A part takes the space of its largest case, which is a blob.
	partForm struct {
		kind            uint32
		name            host.OptionForm
		mediaType, data host.Place
	}
	textPartForm struct {
		kind uint32
		text host.Place
	}
	successForm struct {
		failed   uint32
		title    host.OptionForm
		kind     uint32
		output   host.Place
		metadata host.OptionForm
	}
	// The case `unavailable` has a number of seconds after its text.
	failureForm struct {
		failed, kind uint32
		text         host.Place
		hasRetry     uint32
		retrySeconds uint32
		// The host reads as much as a success takes.
		_ [4]uint32
	}
)

// The cases of output and of part.
const (
	outputText uint32 = iota
	outputJSON
	outputParts
)

const (
	partText uint32 = iota
	partImage
	partFile
)

// lowerSaid lowers a string that an author wrote, who may have saved it in another encoding.
func lowerSaid(text string) host.Place { return host.LowerString(host.Said(text)) }

//go:wasmexport portcullis:tool/handler@0.2.0#describe
func exportDescribe() unsafe.Pointer {
	plugin := component()
	checkExport("Generator", "generate", plugin.Generator != nil, host.ExportsGenerator)
	checkExport("Preparer", "prepare", plugin.Preparer != nil, host.ExportsPreparer)
	tools := make([]host.DefinitionForm, 0, len(plugin.Tools))
	for _, tool := range plugin.Tools {
		tools = append(tools, lowerDefinition(tool))
	}
	dependencies := make([]dependencyForm, 0, len(plugin.Dependencies))
	for _, dependency := range plugin.Dependencies {
		form := dependencyForm{
			key:    lowerSaid(dependency.Key),
			kind:   uint8(dependency.Kind),
			reason: lowerSaid(dependency.Reason),
		}
		if dependency.Optional {
			form.optional = 1
		}
		dependencies = append(dependencies, form)
	}
	return host.Keep(&manifestForm{
		name:         lowerSaid(plugin.Name),
		version:      lowerSaid(plugin.Version),
		description:  lowerSaid(plugin.Description),
		tools:        host.LowerList(tools),
		dependencies: host.LowerList(dependencies),
	})
}

// checkExport panics unless the component contains the package that exports a field of its plugin.
func checkExport(field, exporter string, isSet, isExported bool) {
	if isSet && !isExported {
		panic("portcullis: the plugin has a " + field + "; import _ \"portcullis.dev/portcullis/" + exporter + "\"")
	}
	if !isSet && isExported {
		panic("portcullis: the plugin imports the package " + exporter + ", and has no " + field)
	}
}

func lowerDefinition(tool *Tool) host.DefinitionForm {
	schema, err := tool.Schema()
	if err != nil {
		panic("portcullis: the arguments of " + tool.Name + ": " + err.Error())
	}
	outputSchema, err := tool.OutputSchema()
	if err != nil {
		panic("portcullis: the output of " + tool.Name + ": " + err.Error())
	}
	form, err := host.LowerDefinition(host.Definition[Permission, Hint]{
		Name: tool.Name, Title: tool.Title, Description: tool.Description,
		Schema: schema, OutputSchema: outputSchema,
		Required: tool.Required, Optional: tool.Optional, Hints: tool.Hints,
	})
	if err != nil {
		panic("portcullis: " + err.Error())
	}
	return form
}

// The name and the arguments lie where the host put them. They are not copied: an instance is made for one call.
//
//go:wasmexport portcullis:tool/handler@0.2.0#execute-raw
func exportExecute(name *byte, nameBytes uint32, arguments *byte, argumentsBytes uint32) unsafe.Pointer {
	tool := unsafe.String(name, nameBytes)
	answer, err := component().execute(newContext(tool), tool, unsafe.Slice(arguments, argumentsBytes))
	if err != nil {
		failure := FailureOf(err)
		form := &failureForm{failed: 1, kind: uint32(failure.Kind)}
		if failure.Kind != KindCancelled {
			form.text = host.LowerString(failure.Text)
		}
		return host.Keep(form)
	}
	form := &successForm{title: host.LowerOption(answer.Title), metadata: host.LowerOption(string(answer.Metadata))}
	switch output := answer.Output.(type) {
	case string:
		form.kind, form.output = outputText, host.LowerString(output)
	case json.RawMessage:
		form.kind, form.output = outputJSON, host.LowerList(output)
	case Parts:
		form.kind, form.output = outputParts, lowerParts(output)
	}
	return host.Keep(form)
}

func lowerParts(parts Parts) host.Place {
	forms := make([]partForm, 0, len(parts))
	for _, part := range parts {
		switch part := part.(type) {
		case Text:
			var form partForm
			*(*textPartForm)(unsafe.Pointer(&form)) = textPartForm{partText, host.LowerString(string(part))}
			forms = append(forms, form)
		case Image:
			forms = append(forms, lowerBlob(partImage, part.Name, part.MediaType, part.Data))
		case File:
			forms = append(forms, lowerBlob(partFile, part.Name, part.MediaType, part.Data))
		}
	}
	return host.LowerList(forms)
}

func lowerBlob(kind uint32, name, mediaType string, data []byte) partForm {
	return partForm{kind, host.LowerOption(name), host.LowerString(mediaType), host.LowerList(data)}
}
