package prepare

import (
	"os"
	"unsafe"

	"portcullis.dev/portcullis"
	"portcullis.dev/portcullis/internal/host"
)

func init() { host.ExportsPreparer = true }

// The forms that the canonical ABI gives to a preparation. It takes the space of its larger case, which is `narrowed`.
type (
	narrowedForm struct {
		tool                host.Place
		kind                uint32
		description, schema host.OptionForm
	}
	hiddenForm struct {
		tool   host.Place
		kind   uint32
		reason host.Place
	}
)

// The cases of an availability.
const (
	hidden uint32 = iota
	narrowed
)

// The texts lie where the host put them. They are not copied: an instance is made for one preparation. The pointer of an
// absent text is 0.
//
//go:wasmexport portcullis:tool/preparer@0.2.0#prepare
func exportPrepare(
	session *byte, sessionBytes uint32, principal *byte, principalBytes uint32,
	_ uint32, client *byte, clientBytes uint32, _ uint32, model *byte, modelBytes uint32, automated uint32,
) unsafe.Pointer {
	prepared, err := portcullis.Registered().Prepare(portcullis.Caller{
		Session:   unsafe.String(session, sessionBytes),
		Principal: unsafe.String(principal, principalBytes),
		Client:    unsafe.String(client, clientBytes),
		Model:     unsafe.String(model, modelBytes),
		Automated: automated != 0,
	})
	if err != nil {
		// The contract has no error for it. The host shows the operator what Prepare has logged.
		os.Exit(1)
	}
	forms := make([]narrowedForm, 0, len(prepared))
	for _, preparation := range prepared {
		forms = append(forms, lowered(preparation))
	}
	place := host.LowerList(forms)
	return host.Keep(&place)
}

func lowered(preparation portcullis.Preparation) (form narrowedForm) {
	tool := host.LowerString(host.Said(preparation.Tool))
	switch availability := preparation.Availability.(type) {
	case portcullis.Hidden:
		reason := host.LowerString(host.Said(availability.Reason))
		*(*hiddenForm)(unsafe.Pointer(&form)) = hiddenForm{tool, hidden, reason}
	case portcullis.Narrowed:
		description := host.LowerOption(host.Said(availability.Description))
		form = narrowedForm{tool, narrowed, description, host.LowerOption(host.Said(string(availability.Schema)))}
	}
	return form
}
