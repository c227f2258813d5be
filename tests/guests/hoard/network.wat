;; Opens the network that refuses everything.
(import "wasi:sockets/instance-network@0.2.12" "instance-network" (func $network (result i32)))
(memory $memory 130)
(func $execute (param i32 i32 i32 i32) (result i32)
  (memory.fill (i32.const 65536) (i32.const 97) (i32.const 7340032))
  (loop $more
    (drop (call $network))
    (br $more))
  unreachable)
