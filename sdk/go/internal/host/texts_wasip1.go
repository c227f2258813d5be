package host

import (
	"math"
	"unsafe"
)

// A textBlock holds the texts of a list for the host. It is outside of Go's heap and stacks, because a list of texts
// has their addresses as numbers, which the runtime neither follows nor adjusts.
type textBlock struct {
	block, size, used uint32
}

// newTextBlock returns a block for texts of a size in bytes.
func newTextBlock(size int) *textBlock {
	switch {
	case size == 0:
		return &textBlock{}
	case size > math.MaxInt32:
		// A list may have the same large text many times.
		panic("portcullis: more than the memory can hold")
	default:
		return &textBlock{block: allocate(uint32(size)), size: uint32(size)}
	}
}

// place copies a text into the block.
func (t *textBlock) place(text string) Place {
	if text == "" {
		return Place{}
	}
	place := Place{t.block + t.used, uint32(len(text))}
	copy(unsafe.Slice((*byte)(at(place.address)), len(text)), text)
	t.used += place.count
	return place
}

func (t *textBlock) release() { release(t.block, t.size) }
