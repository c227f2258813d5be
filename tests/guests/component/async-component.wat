;; An asynchronous function of WASI 0.3: not enabled.
(core module $async-component (func (export "f") (result i32) (i32.const 0)) (func (export "cb") (param i32 i32 i32) (result i32) (i32.const 0)))
(core instance $async-instance (instantiate $async-component))
(func $async-function async
  (canon lift (core func $async-instance "f") async (callback (func $async-instance "cb"))))
