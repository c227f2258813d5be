;; Returns four hundred million parts.
(func $execute (param i32 i32 i32 i32) (result i32)
  (call $answer (i32.const 2) (i32.const 2048) (i32.const 400000000)))
