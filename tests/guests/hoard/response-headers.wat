;; Takes the headers of a response again and again.
(import "wasi:http/types@0.2.12" "[constructor]fields" (func $fields (result i32)))
(import "wasi:http/types@0.2.12" "[constructor]outgoing-response" (func $response (param i32) (result i32)))
(import "wasi:http/types@0.2.12" "[method]outgoing-response.headers" (func $response-headers (param i32) (result i32)))
(memory $memory 130)
(func $execute (param i32 i32 i32 i32) (result i32)
  (local $o i32)
  (memory.fill (i32.const 65536) (i32.const 97) (i32.const 7340032))
  (local.set $o (call $response (call $fields)))
  (loop $more
    (drop (call $response-headers (local.get $o)))
    (br $more))
  unreachable)
