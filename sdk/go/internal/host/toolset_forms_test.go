//go:build !wasip1

package host

import (
	"encoding/binary"
	"reflect"
	"testing"
	"unsafe"
)

// A hostMemory is memory as a host fills it. What the host does not write is 0xEE.
type hostMemory struct {
	t     *testing.T
	bytes []byte
	// The places that nothing has read yet, by their address.
	unread map[uint32]uint32
}

func newHostMemory(t *testing.T) *hostMemory {
	return &hostMemory{t, make([]byte, 8), map[uint32]uint32{}}
}

// block returns a new block of memory, and its place for this number of elements.
func (m *hostMemory) block(size, count int) (block []byte, place Place) {
	start := len(m.bytes)
	for range size {
		m.bytes = append(m.bytes, 0xEE)
	}
	place = Place{uint32(start), uint32(count)}
	if count > 0 {
		m.unread[place.address] = place.count
	}
	return m.bytes[start:], place
}

func (m *hostMemory) text(text string) Place {
	block, place := m.block(len(text), len(text))
	copy(block, text)
	return place
}

// take marks a place as read. Each must be read once, and in full.
func (m *hostMemory) take(place Place) {
	m.t.Helper()
	if count := m.unread[place.address]; count != place.count {
		m.t.Errorf("%d elements of %v are read, want %d", place.count, place, count)
	}
	delete(m.unread, place.address)
}

func (m *hostMemory) lifter() lifter {
	return lifter{
		bytes: func(place Place) []byte {
			m.take(place)
			return append([]byte{}, m.bytes[place.address:place.address+place.count]...)
		},
		parts: func(place Place) []partForm {
			m.take(place)
			parts := make([]partForm, 0, place.count)
			for index := range place.count {
				start := place.address + index*32
				parts = append(parts, formOf[partForm](m.bytes[start:start+32]))
			}
			return parts
		},
	}
}

func (m *hostMemory) checkAllRead() {
	m.t.Helper()
	if len(m.unread) != 0 {
		m.t.Errorf("nothing reads %v", m.unread)
	}
}

// formOf reads a form from bytes with the layout of the ABI.
func formOf[T any](bytes []byte) (form T) {
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&form)), unsafe.Sizeof(form)), bytes)
	return form
}

func putPlace(bytes []byte, place Place) {
	binary.LittleEndian.PutUint32(bytes, place.address)
	binary.LittleEndian.PutUint32(bytes[4:], place.count)
}

// putOption writes an optional text, which is absent if it is empty.
func (m *hostMemory) putOption(bytes []byte, text string) {
	bytes[0] = 0
	if text != "" {
		bytes[0] = 1
		putPlace(bytes[4:], m.text(text))
	}
}

// unwritten returns bytes of a result that the host has not written.
func unwritten(size int) []byte {
	bytes := make([]byte, size)
	for index := range bytes {
		bytes[index] = 0xEE
	}
	return bytes
}

func TestTheFormsHaveTheLayoutOfTheABI(t *testing.T) {
	for name, sizes := range map[string][2]uintptr{
		"option":            {unsafe.Sizeof(optionForm{}), 12},
		"summary":           {unsafe.Sizeof(summaryForm{}), 28},
		"callable":          {unsafe.Sizeof(callableForm{}), 52},
		"optional callable": {unsafe.Sizeof(optionalCallableForm{}), 56},
		"blob":              {unsafe.Sizeof(blobForm{}), 28},
		"part":              {unsafe.Sizeof(partForm{}), 32},
		"success":           {unsafe.Sizeof(successForm{}), 36},
		"failure":           {unsafe.Sizeof(failureForm{}), 20},
		"outlook":           {unsafe.Sizeof(outlookForm{}), 24},
		"result":            {unsafe.Sizeof(resultForm{}), 40},
		"hints":             {unsafe.Offsetof(callableForm{}.hints), 49},
		"retry":             {unsafe.Offsetof(failureForm{}.retrySeconds), 16},
		"payload":           {unsafe.Offsetof(resultForm{}.payload), 4},
	} {
		if sizes[0] != sizes[1] {
			t.Errorf("%s: %d bytes, want %d", name, sizes[0], sizes[1])
		}
	}
}

func TestASuccessIsLifted(t *testing.T) {
	text := func(text string) *string { return &text }
	parts := []ToolPart{
		{Kind: PartText, Text: "a pixel"},
		{Kind: PartImage, MediaType: "image/png", Data: []byte{1, 2}},
		{Kind: PartFile, Name: text("a.csv"), MediaType: "text/csv", Data: []byte{}},
		{Kind: PartText},
	}
	for _, want := range []*ToolSuccess{
		{Kind: OutputText, Text: "grüße"},
		{Kind: OutputText},
		{Title: text("A title"), Kind: OutputJSON, Text: `{"a":1}`, Metadata: text(`{"b":2}`)},
		{Title: text("Parts"), Kind: OutputParts, Parts: parts},
		{Kind: OutputParts},
	} {
		memory := newHostMemory(t)
		result := unwritten(40)
		result[0] = 0
		memory.putOption(result[4:], optional(want.Title))
		result[16] = uint8(want.Kind)
		if want.Kind == OutputParts {
			putPlace(result[20:], memory.parts(want.Parts))
		} else {
			putPlace(result[20:], memory.text(want.Text))
		}
		memory.putOption(result[28:], optional(want.Metadata))
		got := memory.lifter().result(formOf[resultForm](result))
		if got.Failure != nil || !reflect.DeepEqual(got.Success, want) {
			t.Errorf("got %+v, want %+v", got.Success, want)
		}
		memory.checkAllRead()
	}
}

func optional(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// parts writes a list of parts.
func (m *hostMemory) parts(parts []ToolPart) Place {
	bytes := unwritten(32 * len(parts))
	for index, part := range parts {
		form := bytes[32*index:]
		form[0] = uint8(part.Kind)
		if part.Kind == PartText {
			putPlace(form[4:], m.text(part.Text))
			continue
		}
		m.putOption(form[4:], optional(part.Name))
		putPlace(form[16:], m.text(part.MediaType))
		putPlace(form[24:], m.text(string(part.Data)))
	}
	block, place := m.block(len(bytes), len(parts))
	copy(block, bytes)
	return place
}

func TestAFailureIsLifted(t *testing.T) {
	seconds := uint32(30)
	for _, want := range []*ToolFailure{
		{Kind: FailureInvalidArguments, Text: "a path is missing"},
		{Kind: FailureDenied, Text: "no"},
		{Kind: FailureUnavailable, Text: "Later."},
		{Kind: FailureUnavailable, Text: "Later.", RetryAfterSeconds: &seconds},
		{Kind: FailureCancelled},
		{Kind: FailureFailed, Text: ""},
	} {
		memory := newHostMemory(t)
		result := unwritten(40)
		result[0], result[4] = 1, uint8(want.Kind)
		if want.Kind != FailureCancelled {
			putPlace(result[8:], memory.text(want.Text))
		}
		if want.Kind == FailureUnavailable {
			result[16] = 0
		}
		if want.RetryAfterSeconds != nil {
			result[16] = 1
			binary.LittleEndian.PutUint32(result[20:], *want.RetryAfterSeconds)
		}
		got := memory.lifter().result(formOf[resultForm](result))
		if got.Success != nil || !reflect.DeepEqual(got.Failure, want) {
			t.Errorf("got %+v, want %+v", got.Failure, want)
		}
		memory.checkAllRead()
	}
}

func TestAnOutlookIsLifted(t *testing.T) {
	memory := newHostMemory(t)
	for kind, want := range map[uint8]Outlook{
		0: {Kind: OutlookRuns},
		1: {Kind: OutlookNeedsApproval},
		2: {Kind: OutlookFails, Failure: &ToolFailure{Kind: FailureDenied, Text: "no"}},
	} {
		outlook := unwritten(24)
		outlook[0] = kind
		if kind == 2 {
			outlook[4] = uint8(FailureDenied)
			putPlace(outlook[8:], memory.text("no"))
		}
		if got := memory.lifter().outlook(formOf[outlookForm](outlook)); !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	memory.checkAllRead()
}

func TestADefinitionIsLifted(t *testing.T) {
	memory := newHostMemory(t)
	definition := unwritten(56)
	definition[0] = 1
	putPlace(definition[4:], memory.text("files.read"))
	memory.putOption(definition[12:], "Read")
	putPlace(definition[24:], memory.text("Reads a file."))
	putPlace(definition[32:], memory.text(`{"type":"object"}`))
	memory.putOption(definition[40:], "")
	definition[52], definition[53] = 0b1001, 0b11001
	title := "Read"
	want := &Callable{
		ToolSummary: ToolSummary{Name: "files.read", Title: &title, Description: "Reads a file."},
		Schema:      `{"type":"object"}`,
		Permissions: []string{"read", "network"},
		Hints:       []uint8{0, 3, 4},
	}
	got := memory.lifter().callable(formOf[optionalCallableForm](definition))
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	memory.checkAllRead()
	none := unwritten(56)
	none[0] = 0
	if got := memory.lifter().callable(formOf[optionalCallableForm](none)); got != nil {
		t.Errorf("got %+v, want no definition", got)
	}
}
