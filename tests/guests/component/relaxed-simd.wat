;; Instructions whose result depends on the processor: not enabled.
(core module $relaxed-simd
  (func (param v128 v128 v128) (result v128)
    (f32x4.relaxed_madd (local.get 0) (local.get 1) (local.get 2))))
