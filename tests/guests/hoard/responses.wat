;; Makes responses.
(import "wasi:http/types@0.2.12" "[constructor]fields" (func $fields (result i32)))
(import "wasi:http/types@0.2.12" "[constructor]outgoing-response" (func $response (param i32) (result i32)))
(memory $memory 130)
(func $execute (param i32 i32 i32 i32) (result i32)
  (memory.fill (i32.const 65536) (i32.const 97) (i32.const 7340032))
  (loop $more
    (drop (call $response (call $fields)))
    (br $more))
  unreachable)
