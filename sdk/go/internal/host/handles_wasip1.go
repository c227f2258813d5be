package host

import "unsafe"

//go:wasmimport portcullis:tool/dependencies@0.2.0 open-directory
func openDirectory(key string, result *area)

//go:wasmimport wasi:filesystem/types@0.2.12 [resource-drop]descriptor
func dropDescriptor(descriptor uint32)

//go:wasmimport portcullis:tool/dependencies@0.2.0 open-service
func openService(key string, result *area)

//go:wasmimport portcullis:tool/dependencies@0.2.0 [method]service.call
func serviceCall(service uint32, method, input string, result *area)

//go:wasmimport portcullis:tool/dependencies@0.2.0 [resource-drop]service
func dropService(service uint32)

//go:wasmimport portcullis:tool/dependencies@0.2.0 names-host
func namesHost(key, url string, result *area)

//go:wasmimport wasi:keyvalue/store@0.2.0-draft open
func storeOpen(key string, result *area)

//go:wasmimport wasi:keyvalue/store@0.2.0-draft [method]bucket.get
func bucketGet(bucket uint32, key string, result *area)

//go:wasmimport wasi:keyvalue/store@0.2.0-draft [method]bucket.set
func bucketSet(bucket uint32, key string, value unsafe.Pointer, size uint32, result *area)

//go:wasmimport wasi:keyvalue/store@0.2.0-draft [method]bucket.delete
func bucketDelete(bucket uint32, key string, result *area)

//go:wasmimport wasi:keyvalue/store@0.2.0-draft [method]bucket.exists
func bucketExists(bucket uint32, key string, result *area)

//go:wasmimport wasi:keyvalue/store@0.2.0-draft [method]bucket.list-keys
func bucketListKeys(bucket uint32, hasCursor bool, cursor uint64, result *area)

//go:wasmimport wasi:keyvalue/store@0.2.0-draft [resource-drop]bucket
func dropBucket(bucket uint32)

// handle reads a result: a handle, or the reason why there is none.
func handle(result *area) (uint32, error) {
	if result.tag(0) != 0 {
		return 0, NoHandle(result.tag(4))
	}
	return result.word(4), nil
}

// OpenDirectory returns the path of a granted directory for the standard library.
func OpenDirectory(key string) (path string, err error) {
	result := new(area)
	openDirectory(key, result)
	descriptor, err := handle(result)
	if err != nil {
		return "", err
	}
	dropDescriptor(descriptor)
	return "/" + key, nil
}

// Service is a service of the application that embeds the host.
type Service struct {
	handle uint32
}

// OpenService opens a service by its key.
func OpenService(key string) (*Service, error) {
	result := new(area)
	openService(key, result)
	service, err := handle(result)
	if err != nil {
		return nil, err
	}
	return &Service{service}, nil
}

// Call calls a method with a JSON document. If ok is false, the answer is the error message.
func (s *Service) Call(method, input string) (answer string, ok bool) {
	result := new(area)
	serviceCall(s.handle, method, input, result)
	return result.string(4), result.tag(0) == 0
}

// Close drops the service. It must not be used again.
func (s *Service) Close() { dropService(s.handle) }

// NamesHost reports whether the policy's binding for a key names the host of a URL.
func NamesHost(key, url string) (bool, error) {
	result := new(area)
	namesHost(key, url, result)
	if result.tag(0) != 0 {
		return false, NoHandle(result.tag(1))
	}
	return result.tag(1) != 0, nil
}

// Bucket is a key-value store.
type Bucket struct {
	handle uint32
}

// OpenBucket opens a store by its key.
func OpenBucket(key string) (*Bucket, error) {
	result := new(area)
	storeOpen(key, result)
	if result.tag(0) != 0 {
		return nil, storeError(result, 4)
	}
	return &Bucket{result.word(4)}, nil
}

// Close drops the store. It must not be used again.
func (b *Bucket) Close() { dropBucket(b.handle) }

// Get returns a value, or nil if the key has none.
func (b *Bucket) Get(key string) ([]byte, error) {
	result := new(area)
	bucketGet(b.handle, key, result)
	switch {
	case result.tag(0) != 0:
		return nil, storeError(result, 4)
	case result.tag(4) == 0:
		return nil, nil
	default:
		return result.bytes(8), nil
	}
}

// Set stores a value.
func (b *Bucket) Set(key string, value []byte) error {
	result := new(area)
	bucketSet(b.handle, key, unsafe.Pointer(unsafe.SliceData(value)), uint32(len(value)), result)
	if result.tag(0) != 0 {
		return storeError(result, 4)
	}
	return nil
}

// Delete removes a value.
func (b *Bucket) Delete(key string) error {
	result := new(area)
	bucketDelete(b.handle, key, result)
	if result.tag(0) != 0 {
		return storeError(result, 4)
	}
	return nil
}

// Exists reports whether a key has a value.
func (b *Bucket) Exists(key string) (bool, error) {
	result := new(area)
	bucketExists(b.handle, key, result)
	if result.tag(0) != 0 {
		return false, storeError(result, 4)
	}
	return result.tag(4) != 0, nil
}

// Keys returns a page of the keys, and the cursor of the next page.
func (b *Bucket) Keys(cursor *uint64) (keys []string, next *uint64, err error) {
	result := new(area)
	from, has := value(cursor)
	bucketListKeys(b.handle, has, from, result)
	if result.tag(0) != 0 {
		return nil, nil, storeError(result, 8)
	}
	list := elements[Place](result, 8)
	for _, key := range list {
		keys = append(keys, key.take())
	}
	if result.tag(16) != 0 {
		cursor := result.long(24)
		next = &cursor
	}
	return keys, next, nil
}

func storeError(result *area, offset uintptr) error {
	err := &StoreError{Kind: StoreErrorKind(result.tag(offset))}
	if err.Kind == Other {
		err.Text = result.string(offset + 4)
	}
	return err
}
