;; Traps in `describe`.
(func $describe (result i32) unreachable)
