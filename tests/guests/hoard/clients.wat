;; Opens a client.
(import "portcullis:tool/dependencies@0.1.0" "open-client" (func $open-client (param i32 i32 i32)))
(memory $memory 130)
(data (i32.const 2100) "web")
(func $execute (param i32 i32 i32 i32) (result i32)
  (memory.fill (i32.const 65536) (i32.const 97) (i32.const 7340032))
  (loop $more
    (call $open-client (i32.const 2100) (i32.const 3) (i32.const 2048))
    (br $more))
  unreachable)
