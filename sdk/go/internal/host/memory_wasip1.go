package host

import "unsafe"

// Memory that the host fills in the guest never comes from the Go heap: the adapter of WASI asks for some before the
// runtime is up, and an allocation from the heap may end a garbage collection, which reads the clock. A component may
// call nothing from inside of cabi_realloc. So it comes from the end of the linear memory, in blocks of powers of two.
// None of this file's functions allocates on the heap, so that no collection runs while the host is being called.

const (
	// The smallest block, as an exponent: it holds the link of the free list.
	classMin = 4
	// The exponents that a 32-bit address leaves.
	classes = 32
	// The page of a WebAssembly memory, which sbrk rounds to.
	pageBytes = 1 << 16
)

// The first free block of each class; each holds the address of the next. These are addresses and not pointers, so that
// the compiler adds no write barriers: those are the business of a collection.
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

// at is the place that the host named. A conversion from uintptr would read as a mistake to go vet.
func at(address uint32) unsafe.Pointer {
	return unsafe.Add(nil, address)
}

// takeBytes copies what the host left at an address, and gives the place back.
func takeBytes(address, size uint32) []byte {
	if size == 0 {
		return []byte{}
	}
	bytes := make([]byte, size)
	copy(bytes, unsafe.Slice((*byte)(at(address)), size))
	release(address, size)
	return bytes
}

// An area is where the host writes a result that is larger than a word, at the offsets of the canonical ABI. It
// holds the largest of them, which is an error code of HTTP inside of two results and an option.
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

// An option of a string: its tag, then its place.
func (a *area) optionalString(offset uintptr) *string {
	if a.tag(offset) == 0 {
		return nil
	}
	text := a.string(offset + 4)
	return &text
}

// A Place is a string or a list, as it lies in memory. Pointers of GOARCH=wasm take 8 bytes there, those of the ABI 4.
type Place struct {
	address, count uint32
}

func (p Place) take() string {
	bytes := takeBytes(p.address, p.count)
	return unsafe.String(unsafe.SliceData(bytes), len(bytes))
}

// elements copies a list whose elements are of the ABI's form, and gives its place back.
func elements[T any](result *area, offset uintptr) []T {
	address, count := result.word(offset), result.word(offset+4)
	if count == 0 {
		return nil
	}
	list := make([]T, count)
	copy(list, unsafe.Slice((*T)(at(address)), count))
	var element T
	release(address, count*uint32(unsafe.Sizeof(element)))
	return list
}

// kept holds what an export has returned until the host has read it.
var kept []any

// Keep makes a value stay where it is, and returns the place as exports do.
func Keep[T any](value *T) unsafe.Pointer {
	kept = append(kept, value)
	return unsafe.Pointer(value)
}

// LowerString keeps a string for the host. It is in UTF-8, see Said.
func LowerString(text string) Place {
	return Place{uint32(uintptr(Keep(unsafe.StringData(text)))), uint32(len(text))}
}

// LowerList keeps a list for the host. Its elements are of the ABI's form.
func LowerList[T any](list []T) Place {
	return Place{uint32(uintptr(Keep(unsafe.SliceData(list)))), uint32(len(list))}
}
