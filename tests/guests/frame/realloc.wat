;; Returns the next bytes of the heap, and grows the memory if necessary.
(func $realloc (param $old i32) (param $old-size i32) (param $align i32) (param $size i32) (result i32)
  (local $at i32)
  (local.set $at (i32.and (i32.add (global.get $heap) (i32.const 15)) (i32.const -16)))
  (global.set $heap (i32.add (local.get $at) (local.get $size)))
  (block $fits
    (br_if $fits (i32.le_u (global.get $heap) (i32.mul (memory.size) (i32.const 65536))))
    (br_if $fits (i32.ne (i32.const -1)
      (memory.grow (i32.add (i32.shr_u (local.get $size) (i32.const 16)) (i32.const 1)))))
    unreachable)
  (local.get $at))
