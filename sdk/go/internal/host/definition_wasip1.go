package host

import "fmt"

// The forms that the canonical ABI gives to a definition and to an optional string. Pointers of GOARCH=wasm take 8
// bytes in memory, those of the ABI 4.
type (
	// OptionForm is an optional string.
	OptionForm struct {
		some  uint32
		value Place
	}
	// DefinitionForm is the definition of a tool.
	DefinitionForm struct {
		name                      Place
		title                     OptionForm
		description, schema       Place
		outputSchema              OptionForm
		required, optional, hints uint8
	}
)

// A Definition is the definition of a tool. Its schemas are JSON.
type Definition[P ~string, H ~uint8] struct {
	Name, Title, Description string
	Schema, OutputSchema     []byte
	Required, Optional       []P
	Hints                    []H
}

// LowerDefinition keeps a definition for the host. The texts of an author may have another encoding than UTF-8.
func LowerDefinition[P ~string, H ~uint8](tool Definition[P, H]) (form DefinitionForm, err error) {
	form = DefinitionForm{
		name:         LowerString(Said(tool.Name)),
		title:        LowerOption(Said(tool.Title)),
		description:  LowerString(Said(tool.Description)),
		schema:       LowerString(Said(string(tool.Schema))),
		outputSchema: LowerOption(Said(string(tool.OutputSchema))),
	}
	if form.required, err = flags(tool.Required); err != nil {
		return form, err
	}
	if form.optional, err = flags(tool.Optional); err != nil {
		return form, err
	}
	for _, hint := range tool.Hints {
		form.hints |= 1 << hint
	}
	return form, nil
}

// LowerOption keeps a string that is absent when it is empty.
func LowerOption(text string) OptionForm {
	if text == "" {
		return OptionForm{}
	}
	return OptionForm{1, LowerString(text)}
}

func flags[P ~string](permissions []P) (bits uint8, err error) {
	for _, permission := range permissions {
		switch permission {
		case "read":
			bits |= 1 << 0
		case "write":
			bits |= 1 << 1
		case "execute":
			bits |= 1 << 2
		case "network":
			bits |= 1 << 3
		default:
			return 0, fmt.Errorf("there is no permission %s", permission)
		}
	}
	return bits, nil
}
