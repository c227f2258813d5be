;; Returns its arguments as JSON, whatever its output schema promises.
(func $execute (param i32 i32 i32 i32) (result i32)
  (call $answer (i32.const 1) (local.get 2) (local.get 3)))
