;; 128-bit arithmetic: not enabled.
(core module $wide-arithmetic
  (func (param i64 i64) (result i64 i64) (i64.mul_wide_u (local.get 0) (local.get 1))))
