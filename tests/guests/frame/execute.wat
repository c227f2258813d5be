;; Returns its arguments as text.
(func $execute (param i32 i32 i32 i32) (result i32)
  (call $answer (i32.const 0) (local.get 2) (local.get 3)))
