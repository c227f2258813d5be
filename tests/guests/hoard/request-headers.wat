;; Takes the headers of a request again and again.
(import "wasi:http/types@0.2.12" "[constructor]fields" (func $fields (result i32)))
(import "wasi:http/types@0.2.12" "[constructor]outgoing-request" (func $request (param i32) (result i32)))
(import "wasi:http/types@0.2.12" "[method]outgoing-request.headers" (func $request-headers (param i32) (result i32)))
(memory $memory 130)
(func $execute (param i32 i32 i32 i32) (result i32)
  (local $o i32)
  (memory.fill (i32.const 65536) (i32.const 97) (i32.const 7340032))
  (local.set $o (call $request (call $fields)))
  (loop $more
    (drop (call $request-headers (local.get $o)))
    (br $more))
  unreachable)
