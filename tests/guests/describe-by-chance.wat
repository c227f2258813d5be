;; Describes another plugin in each instance: the first letters of its description are random.
(import "wasi:random/random@0.2.12" "get-random-u64" (func $random (result i64)))
(global $chosen (mut i64) (i64.const 0))
(func $describe (result i32)
  (if (i64.eqz (global.get $chosen)) (then
    (global.set $chosen (i64.or (i64.and (call $random) (i64.const 0x0f0f0f0f0f0f0f0f)) (i64.const 0x4040404040404040)))))
  (i64.store align=1 (i32.load offset=16 (global.get $manifest)) (global.get $chosen))
  (global.get $manifest))
