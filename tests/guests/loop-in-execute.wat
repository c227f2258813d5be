;; Never returns from a call.
(func $execute (param i32 i32 i32 i32) (result i32)
  (loop $for-ever (br $for-ever))
  unreachable)
