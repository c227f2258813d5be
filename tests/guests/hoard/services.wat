;; Opens a service.
(import "portcullis:tool/dependencies@0.1.0" "open-service" (func $open-service (param i32 i32 i32)))
(memory $memory 130)
(data (i32.const 2100) "search")
(func $execute (param i32 i32 i32 i32) (result i32)
  (memory.fill (i32.const 65536) (i32.const 97) (i32.const 7340032))
  (loop $more
    (call $open-service (i32.const 2100) (i32.const 6) (i32.const 2048))
    (br $more))
  unreachable)
