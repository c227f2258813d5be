;; Sets one long value in each of many headers.
(import "wasi:http/types@0.2.12" "[constructor]fields" (func $fields (result i32)))
(import "wasi:http/types@0.2.12" "[method]fields.set" (func $set (param i32 i32 i32 i32 i32 i32)))
(memory $memory 130)
(data (i32.const 2100) "\00\00\01\00\00\7d\00\00")
(func $execute (param i32 i32 i32 i32) (result i32)
  (memory.fill (i32.const 65536) (i32.const 97) (i32.const 7340032))
  (loop $more
    (call $set (call $fields) (i32.const 65536) (i32.const 1) (i32.const 2100) (i32.const 1) (i32.const 2048))
    (br $more))
  unreachable)
