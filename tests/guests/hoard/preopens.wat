;; Takes its directories.
(import "wasi:filesystem/preopens@0.2.12" "get-directories" (func $preopens (param i32)))
(memory $memory 130)
(func $execute (param i32 i32 i32 i32) (result i32)
  (memory.fill (i32.const 65536) (i32.const 97) (i32.const 7340032))
  (loop $more
    (call $preopens (i32.const 2048))
    (br $more))
  unreachable)
