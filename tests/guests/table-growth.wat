;; Grows its table until that fails.
(table $table 1 funcref)
(func $execute (param i32 i32 i32 i32) (result i32)
  (loop $more
    (br_if $more (i32.ne (table.grow $table (ref.null func) (i32.const 1000)) (i32.const -1))))
  unreachable)
