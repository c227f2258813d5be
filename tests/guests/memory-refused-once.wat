;; Asks for more memory than it may have, and continues without.
(func $execute (param i32 i32 i32 i32) (result i32)
  (drop (memory.grow (i32.const 40000)))
  (call $answer (i32.const 0) (local.get 2) (local.get 3)))
