;; Returns a string of 200 MiB in a memory of 128 KiB.
(func $execute (param i32 i32 i32 i32) (result i32)
  (call $answer (i32.const 0) (i32.const 65536) (i32.const 209715200)))
