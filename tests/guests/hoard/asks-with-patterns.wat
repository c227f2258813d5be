;; Asks with a list of 200,000 empty patterns: in the host each takes more than in the guest. Only 0.2 has the function.
(import "portcullis:tool/context@0.1.0" "ask-with-patterns"
  (func $ask (param i32 i32 i32 i32 i32 i32 i32 i32 i32)))
(memory $memory 130)
(func $execute (param i32 i32 i32 i32) (result i32)
  (loop $more
    (call $ask (i32.const 65536) (i32.const 9) (i32.const 65536) (i32.const 9) (i32.const 65536) (i32.const 9)
      (i32.const 65536) (i32.const 200000) (i32.const 2048))
    (br $more))
  unreachable)
