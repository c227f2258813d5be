;; Never returns from `describe`.
(func $describe (result i32)
  (loop $for-ever (br $for-ever))
  unreachable)
