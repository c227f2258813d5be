;; Opens standard error.
(import "wasi:cli/stderr@0.2.12" "get-stderr" (func $stderr (result i32)))
(memory $memory 130)
(func $execute (param i32 i32 i32 i32) (result i32)
  (memory.fill (i32.const 65536) (i32.const 97) (i32.const 7340032))
  (loop $more
    (drop (call $stderr))
    (br $more))
  unreachable)
