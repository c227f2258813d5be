;; Returns an optional title with an invalid tag.
(func $execute (param i32 i32 i32 i32) (result i32)
  (drop (call $answer (i32.const 0) (i32.const 2048) (i32.const 0)))
  (i32.store8 (i32.const 1028) (i32.const 2))
  (i32.const 1024))
