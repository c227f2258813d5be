;; Makes responses with long headers.
(import "wasi:http/types@0.2.12" "[constructor]fields" (func $fields (result i32)))
(import "wasi:http/types@0.2.12" "[method]fields.append" (func $append (param i32 i32 i32 i32 i32 i32)))
(import "wasi:http/types@0.2.12" "[constructor]outgoing-response" (func $response (param i32) (result i32)))
(memory $memory 130)
(func $execute (param i32 i32 i32 i32) (result i32)
  (local $f i32)
  (memory.fill (i32.const 65536) (i32.const 97) (i32.const 7340032))
  (loop $more
    (local.set $f (call $fields))
    (call $append (local.get $f) (i32.const 65536) (i32.const 1) (i32.const 65536) (i32.const 32000) (i32.const 2048))
    (drop (call $response (local.get $f)))
    (br $more))
  unreachable)
