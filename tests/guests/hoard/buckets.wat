;; Opens a store.
(import "wasi:keyvalue/store@0.2.0-draft" "open" (func $bucket-open (param i32 i32 i32)))
(memory $memory 130)
(data (i32.const 2100) "notes")
(func $execute (param i32 i32 i32 i32) (result i32)
  (memory.fill (i32.const 65536) (i32.const 97) (i32.const 7340032))
  (loop $more
    (call $bucket-open (i32.const 2100) (i32.const 5) (i32.const 2048))
    (br $more))
  unreachable)
