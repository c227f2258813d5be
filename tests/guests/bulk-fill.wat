;; Fills 62 MiB with one instruction, repeatedly. The host cannot interrupt the instruction.
(memory $memory 992)
(func $execute (param i32 i32 i32 i32) (result i32)
  (loop $for-ever
    (memory.fill (i32.const 65536) (i32.const 7) (i32.const 64946176))
    (br $for-ever))
  unreachable)
