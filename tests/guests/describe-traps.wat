;; Breaks while it is asked what it is.
(func $describe (result i32) unreachable)
