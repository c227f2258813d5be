package host

import "unsafe"

// Memory that the host fills in the guest never comes from the Go heap. The WASI adapter requests some before the
// runtime has started. An allocation on the heap may also end a garbage collection, which reads the clock, and a
// component must not call imports from inside cabi_realloc. So the memory comes from the end of the linear memory, in
// blocks of powers of two. No function in this file allocates on the heap, so no collection runs during a host call.

const (
	// The exponent of the smallest block, which must hold the link of the free list.
	classMin = 4
	// The number of exponents in a 32-bit address space.
	classes = 32
	// The page size of a WebAssembly memory. sbrk rounds to it.
	pageBytes = 1 << 16
)

// The first free block of each size class. Each block holds the address of the next. These are addresses, not pointers,
// so that the compiler adds no write barriers, which belong to the garbage collector.
var freeBlocks [classes]uint32

//go:linkname sbrk runtime.sbrk
func sbrk(n uintptr) unsafe.Pointer

//go:wasmexport cabi_realloc
func realloc(old, oldSize, align, size uint32) uint32 {
	if size == 0 {
		return align
	}
	block := allocate(size)
	if oldSize > 0 {
		copy(unsafe.Slice((*byte)(at(block)), size), unsafe.Slice((*byte)(at(old)), oldSize))
		release(old, oldSize)
	}
	return block
}

func class(size uint32) int {
	class := classMin
	for uint64(1)<<class < uint64(size) {
		class++
	}
	return class
}

func allocate(size uint32) uint32 {
	class := class(size)
	if class >= classes {
		panic("portcullis: more than the memory can hold")
	}
	if block := freeBlocks[class]; block != 0 {
		freeBlocks[class] = *(*uint32)(at(block))
		return block
	}
	bytes := uint32(1) << class
	fresh := uint32(uintptr(sbrk(uintptr(max(bytes, pageBytes)))))
	if fresh == 0 {
		panic("portcullis: out of memory")
	}
	for offset := bytes; offset < pageBytes; offset += bytes {
		release(fresh+offset, size)
	}
	return fresh
}

func release(block, size uint32) {
	if size > 0 {
		class := class(size)
		*(*uint32)(at(block)) = freeBlocks[class]
		freeBlocks[class] = block
	}
}

// at returns a pointer to an address from the host. go vet would report a conversion from uintptr as a mistake.
func at(address uint32) unsafe.Pointer {
	return unsafe.Add(nil, address)
}

// takeBytes copies the bytes that the host wrote to an address, and frees the block.
func takeBytes(address, size uint32) []byte {
	if size == 0 {
		return []byte{}
	}
	bytes := make([]byte, size)
	copy(bytes, unsafe.Slice((*byte)(at(address)), size))
	release(address, size)
	return bytes
}

// An area is the memory where the host writes a result that is larger than a word, at the offsets of the canonical ABI.
// It fits the largest result, which is an HTTP error code inside two results and an option.
type area [10]uint64

func (a *area) tag(offset uintptr) uint8 {
	return *(*uint8)(unsafe.Add(unsafe.Pointer(a), offset))
}

func (a *area) word(offset uintptr) uint32 {
	return *(*uint32)(unsafe.Add(unsafe.Pointer(a), offset))
}

func (a *area) long(offset uintptr) uint64 {
	return *(*uint64)(unsafe.Add(unsafe.Pointer(a), offset))
}

func (a *area) bytes(offset uintptr) []byte {
	return takeBytes(a.word(offset), a.word(offset+4))
}

func (a *area) string(offset uintptr) string {
	return Place{a.word(offset), a.word(offset + 4)}.take()
}

// optionalString reads an optional string: its tag, then its address and length.
func (a *area) optionalString(offset uintptr) *string {
	if a.tag(offset) == 0 {
		return nil
	}
	text := a.string(offset + 4)
	return &text
}

func (p Place) take() string {
	bytes := takeBytes(p.address, p.count)
	return unsafe.String(unsafe.SliceData(bytes), len(bytes))
}

// elements copies a list whose elements have the ABI's layout, and frees its memory.
func elements[T any](result *area, offset uintptr) []T {
	return takeElements[T](Place{result.word(offset), result.word(offset + 4)})
}

// takeElements copies the list at a place, and frees its memory.
func takeElements[T any](place Place) []T {
	if place.count == 0 {
		return nil
	}
	list := make([]T, place.count)
	copy(list, unsafe.Slice((*T)(at(place.address)), place.count))
	var element T
	release(place.address, place.count*uint32(unsafe.Sizeof(element)))
	return list
}

// ExportsGenerator: the component exports a generator, because it contains the package generate. ExportsPreparer: it
// exports a preparer, because it contains the package prepare.
var ExportsGenerator, ExportsPreparer bool

// kept holds the return values of an export until the host has read them.
var kept []any

// Keep keeps a value from being collected, and returns its address as the return value of an export.
func Keep[T any](value *T) unsafe.Pointer {
	kept = append(kept, value)
	return unsafe.Pointer(value)
}

// LowerString keeps a string for the host, in UTF-8. See Said.
func LowerString(text string) Place {
	return Place{uint32(uintptr(Keep(unsafe.StringData(text)))), uint32(len(text))}
}

// LowerList keeps a list for the host. Its elements have the ABI's layout.
func LowerList[T any](list []T) Place {
	return Place{uint32(uintptr(Keep(unsafe.SliceData(list)))), uint32(len(list))}
}
