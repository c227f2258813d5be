;; Returns one JSON string of a mebibyte.
(memory $memory 32)
(func $execute (param i32 i32 i32 i32) (result i32)
  (memory.fill (i32.const 65536) (i32.const 120) (i32.const 1048576))
  (i32.store8 (i32.const 65536) (i32.const 34))
  (i32.store8 (i32.const 1114111) (i32.const 34))
  (call $answer (i32.const 1) (i32.const 65536) (i32.const 1048576)))
