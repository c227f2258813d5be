;; Wants a function of an interface that this host serves, which the interface does not have.
(import "wasi:random/insecure@0.2.12" (instance $insecure (export "leak" (func (result u32)))))
