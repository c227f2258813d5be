;; Returns a valid string that is longer than the copy limit of a host call.
(memory $memory 160)
(func $execute (param i32 i32 i32 i32) (result i32)
  (memory.fill (i32.const 65536) (i32.const 120) (i32.const 9437184))
  (call $answer (i32.const 0) (i32.const 65536) (i32.const 9437184)))
