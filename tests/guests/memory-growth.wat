;; Grows its memory until that fails, and then traps.
(func $execute (param i32 i32 i32 i32) (result i32)
  (loop $more
    (br_if $more (i32.ne (memory.grow (i32.const 16)) (i32.const -1))))
  unreachable)
