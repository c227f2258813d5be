;; Makes requests and sets 7 MiB as the authority of each.
(import "wasi:http/types@0.2.12" "[constructor]fields" (func $fields (result i32)))
(import "wasi:http/types@0.2.12" "[constructor]outgoing-request" (func $request (param i32) (result i32)))
(import "wasi:http/types@0.2.12" "[method]outgoing-request.set-authority" (func $set-authority (param i32 i32 i32 i32) (result i32)))
(memory $memory 130)
(data (i32.const 65535) "/")
(func $execute (param i32 i32 i32 i32) (result i32)
  (memory.fill (i32.const 65536) (i32.const 97) (i32.const 7340032))
  (loop $more
    (drop (call $set-authority (call $request (call $fields)) (i32.const 1) (i32.const 65536) (i32.const 7340032)))
    (br $more))
  unreachable)
