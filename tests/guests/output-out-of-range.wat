;; Returns output of kind 10 of three.
(func $execute (param i32 i32 i32 i32) (result i32)
  (call $answer (i32.const 9) (i32.const 2048) (i32.const 0)))
