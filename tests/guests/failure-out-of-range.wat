;; Fails with kind 200 of five.
(func $execute (param i32 i32 i32 i32) (result i32)
  (call $fail (i32.const 200) (i32.const 2048) (i32.const 0)))
