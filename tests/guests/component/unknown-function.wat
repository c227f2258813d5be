;; Imports an unknown function of an interface that this host provides.
(import "wasi:random/insecure@0.2.12" (instance $insecure (export "leak" (func (result u32)))))
